#include "scheduler/compare/waiting_reasons.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <variant>

#include "scheduler/model/job_sizes.hpp"

namespace replay::compare {

Duration WaitReport::total(WaitCause cause) const {
  Duration sum = left_out_time[static_cast<std::size_t>(cause)];
  for (const WaitSegment& segment : segments)
    if (segment.cause == cause) sum += segment.to - segment.from;
  return sum;
}

std::optional<QueueChange> queue_change(const log::Record& record, const RunState& state) {
  if (const auto* submitted = std::get_if<log::Submitted>(&record.what)) {
    const Job& job = submitted->job;
    if (state.holds_back(job)) return std::nullopt;
    return QueueChange{.key = {job.submitted, job.id}, .came = true};
  }
  const auto* const start = std::get_if<log::StartDecided>(&record.what);
  const auto* const finish = std::get_if<log::Finished>(&record.what);
  if (start == nullptr && finish == nullptr) return std::nullopt;
  const LiveJob* const job = state.find(start != nullptr ? start->job : finish->job);
  if (job == nullptr || !job->waits() || state.holds_back(job->declared)) return std::nullopt;
  return QueueChange{
      .key = job->key, .started = start != nullptr, .processes = job->processes, .estimate = job->estimate};
}

// ---- one job ----

void JobWait::note(const QueueChange& change, Instant now) {
  if (!waits() || report_.decided != kNever || change.key.job == report_.job) return;
  if (change.came)
    ahead_ += change.key < key_ ? 1u : 0u;
  else if (change.key < key_)
    --ahead_;
  else if (change.started)
    overtakers_.push_back({change.key.job, now, change.processes, change.estimate});
}

void JobWait::note(const log::Record& record, const RunState& state) {
  turns_.note(record);
  note_own(record, state);
  note_nodes(record, state);
}

// Jobs, this one perhaps too, wait again.
void JobWait::note_nodes(const log::Record& record, const RunState& state) {
  const auto* const requeued = std::get_if<log::Requeued>(&record.what);
  if (requeued == nullptr && !std::holds_alternative<NodeChange>(record.what)) return;
  if (!report_.found || report_.finished != kNever) return;
  if (requeued != nullptr && requeued->job == report_.job && report_.launched != kNever) {
    if (report_.launched < record.at) {
      ahead_ = 0;
      begin_segment(state, report_.launched, WaitCause::kLost, false);
      report_.segments.back().to = record.at;
      report_.segments.back().lost_because = requeued->reason;
    }
    report_.launched = kNever;
  }
  if (report_.launched != kNever || !state.find(report_.job)->waits()) return;
  report_.decided = kNever;
  ahead_ = place_in(state);
}

std::size_t JobWait::place_in(const RunState& state) const {
  const auto begin = state.waiting().begin(), end = state.waiting().find(key_);
  if (state.closed().empty()) return static_cast<std::size_t>(std::distance(begin, end));
  return static_cast<std::size_t>(
      std::count_if(begin, end, [&](const QueueKey& key) { return !state.holds_back(state.find(key.job)->declared); }));
}

void JobWait::note_own(const log::Record& record, const RunState& state) {
  if (const auto* submitted = std::get_if<log::Submitted>(&record.what)) {
    const Job& job = submitted->job;
    if (job.id != report_.job) return;
    report_.found = true;
    report_.processes = job.processes;
    report_.least = cores_needed(job, std::min(least_size(job), report_.processes));
    if (has_choice_of_size(job)) report_.offers = sizes_text(job);
    report_.estimate = job.estimate;
    report_.flexibility = job.flexibility;
    report_.submitted = record.at;
    report_.free_at_submission = state.free_cores();
    key_ = state.find(job.id)->key;
    ahead_ = place_in(state);
  } else if (const auto* start = std::get_if<log::StartDecided>(&record.what); start && start->job == report_.job) {
    report_.decided = record.at;
    report_.choice = start->choice;
    report_.given = start->allocation.processes == 0 ? report_.processes : start->allocation.processes;
  } else if (const auto* launch = std::get_if<log::Launched>(&record.what); launch && launch->job == report_.job) {
    report_.launched = record.at;
    report_.cores_at_launch = launch->allocation.cores;
    report_.mpl_at_launch = launch->allocation.mpl;
  } else if (const auto* finish = std::get_if<log::Finished>(&record.what); finish && finish->job == report_.job) {
    report_.finished = record.at;
    report_.end = finish->end;
  }
}

void JobWait::pass(const RunState& state, Instant from, Instant to) {
  if (!waits()) return;
  const CoreCount free = state.free_cores();
  const bool is_head = ahead_ == 0;
  const LiveJob& job = *state.find(report_.job);
  const WaitCause cause = report_.decided != kNever        ? WaitCause::kLaunch
                          : state.holds_back(job.declared) ? WaitCause::kClosedNodes
                          : turns_.is_off_turn(from)       ? WaitCause::kOffTurn
                          : free >= report_.least          ? WaitCause::kHeldBack
                          : is_head                        ? WaitCause::kCores
                                                           : WaitCause::kEarlierJobs;
  if (is_head && cause != WaitCause::kLaunch && report_.head_since == kNever) report_.head_since = from;
  const bool goes_on = options_->merge && !report_.segments.empty() && report_.segments.back().cause == cause &&
                       (report_.segments.back().is_head == is_head || cause == WaitCause::kClosedNodes);
  if (!goes_on) begin_segment(state, from, cause, is_head);
  WaitSegment& last = report_.segments.back();
  last.to = to;
  last.instants += 1;
  last.ahead_last = ahead_;
  last.free_least = std::min(last.free_least, free);
  last.free_most = std::max(last.free_most, free);
  name_closed(last, state);
  if (is_head && (cause == WaitCause::kCores || cause == WaitCause::kHeldBack)) {
    last.shadow_last = state.earliest_start(report_.least, from);
    if (!last.shadow_first) last.shadow_first = last.shadow_last;
  }
  hand_over_overtakers(last);
}

void JobWait::begin_segment(const RunState& state, Instant from, WaitCause cause, bool is_head) {
  std::vector<WaitSegment>& segments = report_.segments;
  if (segments.size() >= options_->most_segments && !segments.empty()) {
    const auto dropped = segments.begin() + static_cast<std::ptrdiff_t>(segments.size() - segments.size() / 2);
    const auto middle = dropped == segments.end() ? dropped - 1 : dropped;
    ++report_.left_out;
    report_.left_out_time[static_cast<std::size_t>(middle->cause)] += middle->to - middle->from;
    segments.erase(middle);
  }
  WaitSegment& segment = segments.emplace_back();
  segment.from = from;
  segment.cause = cause;
  segment.is_head = is_head;
  segment.ahead_first = ahead_;
  segment.free_least = segment.free_most = state.free_cores();
  segment.there = state.cores_there();
  if (cause == WaitCause::kClosedNodes) segment.needed = state.needed(state.find(report_.job)->declared);
  if (cause != WaitCause::kClosedNodes && cause != WaitCause::kLost) describe_holders(segment, state);
}

// The launch of a job and the turn of its class are no matter of closed nodes.
void JobWait::name_closed(WaitSegment& segment, const RunState& state) const {
  if (segment.cause == WaitCause::kLaunch || segment.cause == WaitCause::kOffTurn) return;
  std::size_t more = 0;
  for (const auto& [node, change] : state.closed()) {
    const auto place =
        std::ranges::lower_bound(segment.closed, node, {}, [](const ClosedNodeInWait& one) { return one.change.node; });
    if (place != segment.closed.end() && place->change.node == node)
      place->change = change;
    else if (segment.closed.size() < options_->most_holders)
      segment.closed.insert(place, {state.name_of(node), change});
    else
      ++more;
  }
  segment.more_closed = std::max(segment.more_closed, more);
}

void JobWait::hand_over_overtakers(WaitSegment& segment) {
  for (const Overtaker& other : overtakers_) {
    if (segment.overtakers.size() < options_->most_overtakers)
      segment.overtakers.push_back(other);
    else
      ++segment.more_overtakers;
  }
  overtakers_.clear();
}

void JobWait::describe_holders(WaitSegment& segment, const RunState& state) const {
  std::vector<Holder> all;
  for (const auto& [order, job] : state.running())
    if (job->key.job != report_.job) all.push_back({job->key.job, job->allocation.cores, job->estimated_end()});
  segment.holders = all.size();
  std::ranges::stable_sort(all, std::greater{}, &Holder::cores);
  all.resize(std::min(all.size(), options_->most_holders));
  segment.largest_holders = std::move(all);
}

WaitReport JobWait::finish() {
  if (!report_.segments.empty()) hand_over_overtakers(report_.segments.back());  // at the instant of its own start
  report_.turns = turns_.turns();
  return std::move(report_);
}

// ---- the log of a run ----

void WaitingReasons::on_begin(const log::Header& header, const Machine& machine) {
  header_ = header;
  state_.on_begin(header, machine);
}

void WaitingReasons::on_record(const log::Record& record, const history::JobState* job) {
  if (record.at > now_) {
    wait_.pass(state_, now_, record.at);
    now_ = record.at;
  }
  if (const auto change = queue_change(record, state_)) wait_.note(*change, now_);
  state_.on_record(record, job);
  wait_.note(record, state_);
  if (const auto* submitted = std::get_if<log::Submitted>(&record.what)) {
    const JobId id = submitted->job.id;
    lowest_ = jobs_in_log_ == 0 ? id : std::min(lowest_, id);
    highest_ = jobs_in_log_ == 0 ? id : std::max(highest_, id);
    ++jobs_in_log_;
  }
}

WaitReport WaitingReasons::finish() {
  WaitReport report = wait_.finish();
  report.jobs_in_log = jobs_in_log_;
  report.lowest = lowest_;
  report.highest = highest_;
  if (jobs_in_log_ > 0) report.log_end = now_;
  return report;
}

}  // namespace replay::compare
