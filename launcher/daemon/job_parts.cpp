#include "launcher/daemon/job_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay::launcher {
namespace {

bool is_any(const std::vector<bool>& parts) { return std::ranges::find(parts, true) != parts.end(); }

}  // namespace

JobParts::JobParts(JobId job, std::vector<Part> parts, Send send, live::ExecutorListener& listener)
    : job_(job), parts_(std::move(parts)), states_(parts_.size()), send_(std::move(send)), listener_(listener) {
  INVARIANT(!parts_.empty(), "a job without ranks");
}

// ---- orders ---------------------------------------------------------------------------------------------------------

void JobParts::resize(const std::vector<std::vector<std::int32_t>>& cores_of_parts) {
  INVARIANT(cores_of_parts.size() == parts_.size(), "{} parts for a job of {}", cores_of_parts.size(), parts_.size());
  add({Action::kMove, cores_of_parts});
}
void JobParts::suspend() { add({Action::kSuspend, {}}); }
void JobParts::resume() { add({Action::kResume, {}}); }

void JobParts::add(Current order) {
  if (is_ending()) return;  // its end answers it
  waiting_.push_back(std::move(order));
  begin_next();
}

void JobParts::begin_next() {
  if (current_ || waiting_.empty()) return;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  current_->is_done.assign(parts_.size(), false);
  current_->is_open.assign(parts_.size(), true);
  if (current_->action == Action::kMove) {
    for (std::size_t part = 0; part < parts_.size(); ++part)
      current_->is_open[part] = current_->cores[part] != parts_[part].cores;
    if (!is_any(current_->is_open)) current_->is_open.front() = true;  // one has to answer
  }
  for (std::size_t part = 0; part < parts_.size(); ++part)
    if (current_->is_open[part]) send_(parts_[part].node, order_for(*current_, part));
}

protocol::AgentOrder JobParts::order_for(const Current& order, std::size_t part) const {
  switch (order.action) {
    case Action::kMove: return protocol::MoveRanks{job_, order.goes_back ? parts_[part].cores : order.cores[part]};
    case Action::kSuspend:
      return order.goes_back ? protocol::AgentOrder{protocol::ResumeJob{job_}} : protocol::SuspendJob{job_};
    case Action::kResume: break;
  }
  return order.goes_back ? protocol::AgentOrder{protocol::SuspendJob{job_}} : protocol::ResumeJob{job_};
}

void JobParts::end(Outcome outcome) {
  asked_ = asked_.value_or(outcome);
  drop_orders();
  send_to_all(protocol::EndJob{job_, outcome});
}

void JobParts::drop_orders() {
  waiting_.clear();
  current_.reset();
}

void JobParts::slow_down(double slowdown) { send_to_all(protocol::SlowDown{job_, slowdown}); }

void JobParts::ask_statistics() { send_to_all(protocol::AskStatistics{job_}); }

/// All that have not ended: on a node that has come back nothing is known of the job.
void JobParts::send_to_all(const protocol::AgentOrder& order) {
  for (std::size_t part = 0; part < parts_.size(); ++part)
    if (!states_[part].ended) send_(parts_[part].node, order);
}

// ---- answers --------------------------------------------------------------------------------------------------------

void JobParts::on(std::size_t node, const protocol::JobBegun& /*report*/) {
  states_[part_of(node)].has_begun = true;
  if (std::ranges::all_of(states_, &State::has_begun)) listener_.on_begun(job_);
}

void JobParts::on(std::size_t node, const protocol::JobStarted& report) {
  states_[part_of(node)].started = report;
  bool is_malleable = true;
  std::string reason;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto& started = states_[part].started;
    if (!started) return;
    is_malleable &= started->malleable;
    if (reason.empty() && !started->reason.empty()) reason = named(part, started->reason);
  }
  listener_.on_started(job_, is_malleable, reason);
}

void JobParts::on_answer(std::size_t node, Action action, const std::optional<std::string>& failure) {
  const std::size_t part = part_of(node);
  if (!current_ || !current_->is_open[part]) return;  // of an order that the job's end has answered
  const bool is_reversed = current_->goes_back && current_->action != Action::kMove;
  const Action expected = !is_reversed                           ? current_->action
                          : current_->action == Action::kSuspend ? Action::kResume
                                                                 : Action::kSuspend;
  if (action != expected) return;
  current_->is_open[part] = false;
  current_->is_done[part] = !failure;
  if (failure && (current_->failure.empty() || current_->goes_back)) {
    const std::string reason = named(part, *failure);
    if (current_->goes_back) return break_off(fmt::format("{}, and then {}", current_->failure, reason));
    current_->failure = reason;
  }
  if (!is_any(current_->is_open)) finish();
}

/// All parts have answered.
void JobParts::finish() {
  if (current_->failure.empty()) {
    for (std::size_t part = 0; part < current_->cores.size(); ++part) parts_[part].cores = current_->cores[part];
    const Action action = current_->action;
    current_.reset();
    tell_done(action);
    return begin_next();
  }
  if (!current_->goes_back && is_any(current_->is_done)) {
    current_->goes_back = true;
    current_->is_open = std::exchange(current_->is_done, std::vector<bool>(parts_.size(), false));
    for (std::size_t part = 0; part < parts_.size(); ++part)
      if (current_->is_open[part]) send_(parts_[part].node, order_for(*current_, part));
    return;
  }
  constexpr const char* kNames[] = {"resize", "suspend", "resume"};
  const Current failed = *std::exchange(current_, std::nullopt);
  listener_.on_action_failed(job_, kNames[static_cast<std::size_t>(failed.action)], failed.failure);
  begin_next();
}

void JobParts::tell_done(Action action) {
  switch (action) {
    case Action::kMove: return listener_.on_resized(job_);
    case Action::kSuspend: return listener_.on_suspended(job_);
    case Action::kResume: return listener_.on_resumed(job_);
  }
}

void JobParts::on(std::size_t node, const protocol::OrderFailed& report) {
  if (report.action == "resize") return on_answer(node, Action::kMove, report.reason);
  if (report.action == "suspend") return on_answer(node, Action::kSuspend, report.reason);
  if (report.action == "resume") return on_answer(node, Action::kResume, report.reason);
  const std::size_t part = part_of(node);
  if (states_[part].ended) return;  // the order to end has crossed the end
  listener_.on_action_failed(job_, report.action, named(part, report.reason));
}

void JobParts::on(std::size_t node, const protocol::JobMeasured& report) {
  const std::size_t part = part_of(node);
  states_[part].cpu_use = report.cpu_use;
  if (part != 0) return;
  if (const auto mean = mean_cpu_use()) listener_.on_measured(job_, *mean);
}

void JobParts::on(std::size_t node, const protocol::JobNoted& report) {
  listener_.on_noted(job_, named(part_of(node), report.text));
}

std::optional<protocol::JobStatistics> JobParts::join(std::size_t node, const protocol::JobStatistics& report) {
  states_[part_of(node)].statistics.push_back(report);
  if (std::ranges::any_of(states_, [](const State& state) { return state.statistics.empty(); })) return std::nullopt;
  protocol::JobStatistics joined = std::move(states_.front().statistics.front());
  for (State& state : states_) {
    if (&state != &states_.front()) std::ranges::copy(state.statistics.front().ranks, std::back_inserter(joined.ranks));
    state.statistics.pop_front();
  }
  return joined;
}

// ---- the end --------------------------------------------------------------------------------------------------------

void JobParts::on(std::size_t node, const protocol::JobEnded& report) {
  const std::size_t part = part_of(node);
  if (states_[part].ended) return;
  states_[part].ended = report;
  states_[part].cpu_use = report.end.cpu_use >= 0 ? std::optional{report.end.cpu_use} : std::nullopt;
  const bool is_good = report.end.outcome == Outcome::kCompleted && !report.is_site_fault;
  if (!is_good && !is_ending()) {
    first_failed_ = part;
    end_others();
  }
  report_end_of_last();
}

void JobParts::lose(std::size_t node, const std::string& reason) {
  const std::size_t part = part_of(node);
  if (states_[part].ended) return;
  states_[part].ended = {job_, {Outcome::kLost, 0, Verification::kNone, -1, named(part, reason)}};
  if (!is_ending()) end_others();
  lost_ = lost_.value_or(part);
  report_end_of_last();
}

void JobParts::report_end_of_last() {
  if (!std::ranges::all_of(states_, [](const State& state) { return state.ended.has_value(); })) return;
  is_over_ = true;
  drop_orders();
  if (std::ranges::any_of(states_, &State::has_begun)) listener_.on_begun(job_);  // perhaps once more
  const protocol::JobEnded joined = joined_end();
  joined.is_site_fault ? listener_.on_not_started(job_, joined.end.reason) : listener_.on_ended(job_, joined.end);
}

/// A part cannot be put back as it was: the job has cores that the daemon does not know.
void JobParts::break_off(const std::string& reason) {
  broken_ = reason;
  end_others();
}

void JobParts::end_others() {
  drop_orders();
  send_to_all(protocol::EndJob{job_, Outcome::kFailed});
}

/// mpiexec's exit code and output are the first part's. So is the reason, if it has one: the first failure of any part is
/// known there before its consequences, while the ends come here in any order. The failure that has come first stands behind.
protocol::JobEnded JobParts::joined_end() const {
  protocol::JobEnded joined = *states_.front().ended;
  if (lost_ && joined.end.outcome != Outcome::kCompleted) {
    joined.end.outcome = asked_.value_or(Outcome::kLost);
    joined.end.cpu_use = -1;  // of the other parts alone
    joined.end.reason = states_[*lost_].ended->end.reason;
    joined.is_site_fault = false;
    return joined;
  }
  if (parts_.size() == 1 || lost_) return joined;
  joined.end.cpu_use = mean_cpu_use().value_or(-1);
  if (!broken_.empty()) {
    joined.end.outcome = Outcome::kFailed;
    joined.end.reason = broken_;
    joined.is_site_fault = false;
  } else if (first_failed_) {
    const protocol::JobEnded& failed = *states_[*first_failed_].ended;
    joined.end.outcome = failed.end.outcome;
    joined.is_site_fault = failed.is_site_fault &&
                           std::ranges::none_of(states_, [](const State& state) { return state.started.has_value(); });
    const std::string& said = states_.front().ended->end.reason;
    joined.end.reason = named(0, said);
    if (said.empty())
      joined.end.reason = named(*first_failed_, failed.end.reason);
    else if (*first_failed_ != 0 && !said.starts_with(parts_[*first_failed_].host + ": "))
      joined.end.reason += fmt::format("; {}", named(*first_failed_, failed.end.reason));
  }
  return joined;
}

std::optional<double> JobParts::mean_cpu_use() const {
  double sum = 0;
  std::size_t ranks = 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    if (!states_[part].cpu_use) return std::nullopt;
    sum += *states_[part].cpu_use * static_cast<double>(parts_[part].cores.size());
    ranks += parts_[part].cores.size();
  }
  return sum / static_cast<double>(ranks);
}

bool JobParts::is_on(std::size_t node) const { return std::ranges::find(parts_, node, &Part::node) != parts_.end(); }

std::size_t JobParts::part_of(std::size_t node) const {
  const auto part = std::ranges::find(parts_, node, &Part::node);
  INVARIANT(part != parts_.end(), "job {} has no part on node {}", static_cast<std::int64_t>(job_), node);
  return static_cast<std::size_t>(part - parts_.begin());
}

std::string JobParts::named(std::size_t part, const std::string& reason) const {
  const std::string& host = parts_[part].host;
  const bool names_one = std::ranges::any_of(
      parts_, [&reason](const Part& one) { return !one.host.empty() && reason.starts_with(one.host + ": "); });
  return host.empty() || names_one ? reason : fmt::format("{}: {}", host, reason);
}

}  // namespace replay::launcher
