#include "scheduler/calibrate/program/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/base/text/clean_text.hpp"

namespace replay::calibrate {
namespace {

using std::chrono_literals::operator""ms;

// Upper bound on the age of the last statistics when the job ends: its end is not announced.
constexpr auto kSampleEvery = 100ms;

double seconds_of(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

PhaseKind kind_of(const std::vector<CoreId>& core_of_rank) {
  std::map<CoreId, int> ranks_on;
  for (const CoreId core : core_of_rank) ++ranks_on[core];
  PhaseKind kind;
  kind.ranks = static_cast<int>(core_of_rank.size());
  kind.cores = static_cast<int>(ranks_on.size());
  for (const auto& [core, ranks] : ranks_on) kind.ranks_per_core = std::max(kind.ranks_per_core, ranks);
  return kind;
}

/// The kernel drops a process's CPU time when it exits, so a decrease means that a rank has exited.
bool has_lost_a_rank(const protocol::JobStatistics& before, const protocol::JobStatistics& now) {
  for (std::size_t rank = 0; rank < std::min(before.ranks.size(), now.ranks.size()); ++rank)
    if (now.ranks[rank].cpu_ns < before.ranks[rank].cpu_ns) return true;
  return false;
}

}  // namespace

ProgramRun::ProgramRun(event_base* loop, launcher::MeasuredExecutor& executor, ProgramOrder order, ChangePlan plan,
                       OnStart on_start, OnChange on_change)
    : loop_(loop),
      executor_(executor),
      order_(std::move(order)),
      plan_(plan),
      plan_if_malleable_(std::move(plan)),
      on_start_(std::move(on_start)),
      on_change_(std::move(on_change)),
      change_event_(loop, -1, 0,
                    [this] {
                      if (state_ != State::kMeasuring) return change_event_.arm_after(1ms);
                      state_ = State::kClosing;
                      ask();
                    }),
      sample_event_(loop, -1, EV_PERSIST, [this] {
        if (state_ == State::kMeasuring) ask();
      }) {
  executor_.tell_statistics_to([this](const protocol::JobStatistics& now) { on_statistics(now); });
  executor_.attach(loop_, this);
}

ProgramRun::~ProgramRun() { executor_.detach(); }

void ProgramRun::launch() {
  launched_ = Clock::now();
  executor_.launch(order_.launch);
}

void ProgramRun::end() {
  if (state_ == State::kOver) return;
  if (state_ == State::kMeasuring) ask();  // sample now, so that the last phase ends here
  change_event_.disarm();
  executor_.end(order_.launch.job, Outcome::kKilled);
}

void ProgramRun::on_site_noted(const std::string& text) {
  constexpr std::size_t kLongest = 300;
  history_.notes.push_back(clean_line(text, kLongest));
}

void ProgramRun::on_node(const NodeChange& change, const std::string& host) {
  on_site_noted(fmt::format("{} is {}: {}", host, to_text(change.state), change.reason));
}

void ProgramRun::on_started(JobId /*job*/, bool malleable, const std::string& reason) {
  const bool is_first = !history_.started.has_value();
  history_.started = {malleable, reason};
  on_start_(*history_.started);
  if (!is_first) return on_late_ranks();
  plan_from_ = started_ = Clock::now();
  state_ = State::kOpening;
  ask();
  sample_event_.arm_after(kSampleEvery);
  if (!malleable) {
    history_.has_skipped = plan_.has_resizes();
    plan_.drop_resizes();
  }
  arm_next_change();
}

/// Nothing is known of the ranks before, so the first phase begins now. The plan begins anew, with the resizes that
/// were dropped while the job was rigid, if nothing of it has been done.
void ProgramRun::on_late_ranks() {
  if (state_ != State::kMeasuring && state_ != State::kOpening) return;
  state_ = State::kOpening;
  ask();
  if (!history_.started->malleable || !history_.has_skipped || !history_.changes.empty()) return;
  history_.has_skipped = false;
  plan_ = plan_if_malleable_;
  plan_from_ = Clock::now();
  arm_next_change();
}

void ProgramRun::arm_next_change() {
  change_ = plan_.next();
  if (!change_) return;
  const auto wait = plan_from_ + change_->at - Clock::now();
  change_event_.arm_after(std::max(std::chrono::ceil<std::chrono::milliseconds>(wait), 0ms));
}

experiment::MachineTime ProgramRun::machine_time() const {
  if (!order_.measures_load) return {};
  return experiment::machine_time().value_or(experiment::MachineTime{});
}

void ProgramRun::on_statistics(const protocol::JobStatistics& now) {
  if (state_ == State::kOpening) {
    phase_from_ = since_start();
    phase_begin_ = now;
    phase_end_ = now;
    machine_begin_ = machine_time();
    state_ = State::kMeasuring;
    history_.mode = now.mode;
    history_.back_end = now.back_end;
  }
  if ((state_ == State::kMeasuring || state_ == State::kClosing) && !has_lost_a_rank(phase_end_, now)) {
    phase_end_ = now;
    machine_end_ = machine_time();
  }
  if (state_ == State::kClosing) order_change();
}

void ProgramRun::order_change() {
  close_phase();
  state_ = State::kChanging;
  const JobId job = order_.launch.job;
  const double at = since_start();
  history_.changes.push_back({*change_, at, 0, ""});
  ordered_ = Clock::now();
  switch (change_->kind) {
    case ChangeKind::kShrink: return executor_.resize(job, order_.shrunk_to);
    case ChangeKind::kExpand: return executor_.resize(job, order_.launch.core_of_rank);
    case ChangeKind::kSuspend: return executor_.suspend(job);
    case ChangeKind::kResume: return executor_.resume(job);
  }
}

void ProgramRun::on_changed(const std::string& refused) {
  if (state_ != State::kChanging) return;
  ChangeRecord& record = history_.changes.back();
  record.took = seconds_of(Clock::now() - ordered_);
  record.refused = refused;
  if (refused.empty()) {
    const ChangeKind kind = record.planned.kind;
    if (kind == ChangeKind::kShrink || kind == ChangeKind::kExpand)
      is_shrunk_ = kind == ChangeKind::kShrink;
    else
      is_suspended_ = kind == ChangeKind::kSuspend;
  }
  state_ = State::kOpening;
  ask();
  on_change_(record, kind());
  arm_next_change();
}

void ProgramRun::on_action_failed(JobId /*job*/, const std::string& action, const std::string& reason) {
  if (action != "statistics" && action != "end") on_changed(reason);
}

void ProgramRun::on_ended(JobId /*job*/, const JobEnd& end) {
  history_.end = end;
  stop();
}

void ProgramRun::on_not_started(JobId job, const std::string& reason) {
  JobEnd end;
  end.outcome = Outcome::kFailed;
  end.exit_code = kCannotStart;
  end.reason = reason;
  on_ended(job, end);
}

void ProgramRun::on_lost(const std::string& reason) {
  history_.lost = reason;
  stop();
}

void ProgramRun::close_phase() {
  PhaseTotals totals = totals_of(kind(), phase_from_, phase_begin_, phase_end_);
  totals.machine_busy = machine_end_.busy - machine_begin_.busy;
  totals.machine_all = machine_end_.all - machine_begin_.all;
  history_.phases.push_back(totals);
}

void ProgramRun::stop() {
  if (state_ == State::kMeasuring || state_ == State::kClosing) close_phase();
  state_ = State::kOver;
  history_.ran = seconds_of(Clock::now() - launched_);
  change_event_.disarm();
  sample_event_.disarm();
  event_base_loopbreak(loop_);
}

PhaseKind ProgramRun::kind() const {
  PhaseKind kind = kind_of(is_shrunk_ ? order_.shrunk_to : order_.launch.core_of_rank);
  kind.is_base = !is_shrunk_;
  kind.is_suspended = is_suspended_;
  return kind;
}

double ProgramRun::since_start() const { return seconds_of(Clock::now() - started_); }

}  // namespace replay::calibrate
