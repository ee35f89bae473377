#include "scheduler/compare/waiting_reasons.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <variant>

#include "scheduler/model/job_sizes.hpp"

namespace replay::compare {

Duration WaitReport::total(WaitCause cause) const {
  Duration sum{};
  for (const WaitSegment& segment : segments)
    if (segment.cause == cause) sum += segment.to - segment.from;
  return sum;
}

void WaitingReasons::header(const log::Header& header) {
  header_ = header;
  state_.header(header);
}

void WaitingReasons::record(const log::Record& record) {
  if (record.at > now_) {
    close_span(record.at);
    now_ = record.at;
  }
  count_those_ahead(record);
  state_.record(record);
  turns_.record(record);
  note(record);
}

WaitReport WaitingReasons::finish() {
  if (report_.jobs_in_log > 0) report_.log_end = now_;
  if (!overtakers_.empty() && !report_.segments.empty())  // at the instant of its own start
    std::ranges::move(overtakers_, std::back_inserter(report_.segments.back().overtakers));
  overtakers_.clear();
  report_.turns = turns_.turns();
  return std::move(report_);
}

bool WaitingReasons::waits_for_launch() const {
  return report_.found && report_.launched == kNever && report_.finished == kNever;
}

// Updates the number of earlier jobs in the queue. Call it before the record is applied.
void WaitingReasons::count_those_ahead(const log::Record& record) {
  if (!waits_for_launch() || report_.decided != kNever) return;
  if (const auto* submitted = std::get_if<log::Submitted>(&record.what)) {
    if (QueueKey{submitted->job.submitted, submitted->job.id} < key_) ++ahead_;
    return;
  }
  JobId gone{};
  if (const auto* start = std::get_if<log::StartDecided>(&record.what))
    gone = start->job;
  else if (const auto* finish = std::get_if<log::Finished>(&record.what))
    gone = finish->job;
  else
    return;
  const LiveJob* job = state_.find(gone);
  if (job == nullptr || !job->waits() || gone == report_.job) return;
  if (job->key < key_)
    --ahead_;
  else if (std::holds_alternative<log::StartDecided>(record.what))
    note_overtaker(gone);
}

void WaitingReasons::note_overtaker(JobId job) {
  const LiveJob& other = *state_.find(job);
  overtakers_.push_back({job, now_, other.processes, other.estimate});
}

// Call it after the record was applied.
void WaitingReasons::note(const log::Record& record) {
  if (const auto* submitted = std::get_if<log::Submitted>(&record.what)) {
    const JobId job = submitted->job.id;
    report_.lowest = report_.jobs_in_log == 0 ? job : std::min(report_.lowest, job);
    report_.highest = report_.jobs_in_log == 0 ? job : std::max(report_.highest, job);
    ++report_.jobs_in_log;
    if (job != report_.job) return;
    report_.found = true;
    report_.processes = submitted->job.processes;
    report_.least = std::min(least_size(submitted->job), report_.processes);
    if (has_choice_of_size(submitted->job)) report_.offers = sizes_text(submitted->job);
    report_.estimate = submitted->job.estimate;
    report_.flexibility = submitted->job.flexibility;
    report_.submitted = now_;
    report_.free_at_submission = state_.free_cores();
    key_ = state_.find(job)->key;
    ahead_ = static_cast<std::size_t>(std::distance(state_.waiting().begin(), state_.waiting().find(key_)));
  } else if (const auto* start = std::get_if<log::StartDecided>(&record.what); start && start->job == report_.job) {
    report_.decided = now_;
    report_.choice = start->choice;
    report_.given = start->allocation.processes == 0 ? report_.processes : start->allocation.processes;
  } else if (const auto* launch = std::get_if<log::Launched>(&record.what); launch && launch->job == report_.job) {
    report_.launched = now_;
    report_.cores_at_launch = launch->allocation.cores;
    report_.mpl_at_launch = launch->allocation.mpl;
  } else if (const auto* finish = std::get_if<log::Finished>(&record.what); finish && finish->job == report_.job) {
    report_.finished = now_;
    report_.end = finish->end;
  }
}

// Adds the span from the last instant with a record to `to`, in which nothing has changed.
void WaitingReasons::close_span(Instant to) {
  if (!waits_for_launch()) return;
  WaitSegment span = present_span(to);
  if (span.is_head && span.cause != WaitCause::kLaunch && report_.head_since == kNever) report_.head_since = now_;
  span.overtakers = std::move(overtakers_);
  overtakers_.clear();
  const bool goes_on = options_.merge && !report_.segments.empty() && report_.segments.back().cause == span.cause &&
                       report_.segments.back().is_head == span.is_head;
  if (!goes_on) {
    describe_holders(span);
    report_.segments.push_back(std::move(span));
    return;
  }
  WaitSegment& last = report_.segments.back();
  last.to = to;
  last.instants += 1;
  last.ahead_last = span.ahead_last;
  last.free_least = std::min(last.free_least, span.free_least);
  last.free_most = std::max(last.free_most, span.free_most);
  last.shadow_last = span.shadow_last;
  std::ranges::move(span.overtakers, std::back_inserter(last.overtakers));
}

WaitSegment WaitingReasons::present_span(Instant to) const {
  const CoreCount free = state_.free_cores();
  WaitSegment span;
  span.from = now_;
  span.to = to;
  span.instants = 1;
  span.is_head = ahead_ == 0;
  span.ahead_first = span.ahead_last = ahead_;
  span.free_least = span.free_most = free;
  span.cause = report_.decided != kNever  ? WaitCause::kLaunch
               : turns_.is_off_turn(now_) ? WaitCause::kOffTurn
               : free >= report_.least    ? WaitCause::kHeldBack
               : span.is_head             ? WaitCause::kCores
                                          : WaitCause::kEarlierJobs;
  if (span.is_head && (span.cause == WaitCause::kCores || span.cause == WaitCause::kHeldBack))
    span.shadow_first = span.shadow_last = state_.earliest_start(report_.least, now_);
  return span;
}

void WaitingReasons::describe_holders(WaitSegment& segment) const {
  std::vector<Holder> all;
  for (const auto& [order, job] : state_.running())
    if (job->key.job != report_.job) all.push_back({job->key.job, job->allocation.cores, job->estimated_end()});
  segment.holders = all.size();
  std::ranges::stable_sort(all, std::greater{}, &Holder::cores);
  all.resize(std::min(all.size(), options_.most_holders));
  segment.largest_holders = std::move(all);
}

}  // namespace replay::compare
