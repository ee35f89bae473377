#include "scheduler/compare/run_state.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::compare {

struct RunState::OnRecord {
  RunState& state;
  Instant at;

  void operator()(const log::Submitted& what) const {
    LiveJob& job = state.live_[what.job.id];
    job.key = {what.job.submitted, what.job.id};
    job.declared = what.job;
    job.processes = what.job.processes;
    job.estimate = what.job.estimate;
    state.waiting_.insert(job.key);
  }
  void operator()(const log::StartDecided& what) const {
    LiveJob& job = state.job(what.job);
    if (!job.waits())
      throw log::BadRecord(fmt::format("job {} is started twice, again at {} s", number(what.job), to_text(at)));
    state.waiting_.erase(job.key);
    job.decided = at;
    job.start_order = state.starts_++;
    job.allocation = what.allocation;
    job.processes = processes_on(what.allocation, job.declared.processes);
    job.estimate = estimate_at(job.declared, job.processes);
    job.budget = Progress{job.estimate, at, state.rate(job, what.allocation, alone_on(*state.machine_))};
    state.hold(job);
  }
  void operator()(const log::Launched& what) const {
    LiveJob& job = state.job(what.job);
    job.launched = at;
    if (job.waits()) return;                       // the log has no decisions
    const bool is_adopted = what.since != kNever;  // its estimate counts from then
    if (is_adopted || job.decided != at)
      job.budget = Progress{job.estimate, is_adopted ? what.since : at,
                            state.rate(job, what.allocation, alone_on(*state.machine_))};
    job.held = what.allocation;
    state.come_to_cores(job, at);
  }
  void operator()(const log::ResizeDecided& what) const {
    LiveJob& job = started(what.job, "resized");
    state.let_go(job);
    job.allocation = what.allocation;
    state.hold(job);
  }
  void operator()(const log::ResizeDone& what) const {
    LiveJob* const job = on_its_way(what.job);
    if (job == nullptr) return;
    state.leave_cores(*job, at);
    job->held = what.allocation;
    state.come_to_cores(*job, at);
  }
  void operator()(const log::SuspendDecided& what) const {
    LiveJob& job = started(what.job, "suspended");
    if (job.suspended) return;
    state.let_go(job);
    job.suspended = true;
  }
  void operator()(const log::SuspendDone& what) const {
    LiveJob* const job = on_its_way(what.job);
    if (job == nullptr) return;
    state.leave_cores(*job, at);
    job->budget.change_rate(at, 0);
  }
  void operator()(const log::ResumeDecided& what) const {
    LiveJob& job = started(what.job, "resumed");
    if (!job.suspended) return;
    job.suspended = false;
    state.hold(job);
  }
  void operator()(const log::ResumeDone& what) const {
    if (LiveJob* const job = on_its_way(what.job)) state.come_to_cores(*job, at);
  }
  void operator()(const log::KillDecided& what) const {
    LiveJob& job = started(what.job, "killed");
    state.let_go(job);
    job.leaving = true;
  }
  void operator()(const log::Extended& what) const {
    LiveJob& job = state.job(what.job);
    job.budget.add(what.estimate - job.estimate);
    job.estimate = what.estimate;
  }
  void operator()(const log::Requeued& what) const {
    if (LiveJob* const job = on_its_way(what.job)) state.put_back(*job, at);
  }
  void operator()(const NodeChange& what) const { state.change(what, at); }
  void operator()(const log::Finished& what) const {
    LiveJob& job = state.job(what.job);
    if (job.waits())
      state.waiting_.erase(job.key);
    else
      state.let_go(job);
    state.leave_cores(job, at);
    state.live_.erase(what.job);
  }

 private:
  // Null if the log does not have the decision to start the job: then its effects are ignored.
  LiveJob* on_its_way(JobId id) const {
    LiveJob& job = state.job(id);
    return job.waits() ? nullptr : &job;
  }
  LiveJob& started(JobId id, std::string_view event) const {
    LiveJob& job = state.job(id);
    if (job.waits()) throw log::BadRecord(fmt::format("job {} is {}, but it was never started", number(id), event));
    return job;
  }
};

void RunState::on_begin(const log::Header& header, const Machine& machine) {
  machine_ = machine;
  names_ = {header, machine};
  shared_.emplace(*machine_, static_cast<bool>(rate_));
  cores_ = machine.size();
  stated_cores_ = history::stated_cores(header, machine);
  chooses_sizes_ = !header.value("chooses-sizes").empty();
}

// As Controller::needed().
CoreCount RunState::needed(const Job& job) const {
  const CoreCount least = chooses_sizes_ ? cores_needed(job, size_near(job, 0, most_size(job))) : cores_needed(job);
  return least > cores_ ? cores_needed(job) : least;
}

void RunState::on_record(const log::Record& record, const history::JobState* /*job*/) {
  log::visit(OnRecord{*this, record.at}, record.what);
}

log::Kinds RunState::records() const { return log::kinds_of<OnRecord>(); }

const LiveJob* RunState::find(JobId job) const {
  const auto found = live_.find(job);
  return found == live_.end() ? nullptr : &found->second;
}

Instant RunState::earliest_start(CoreCount cores, Instant now) const {
  CoreCount free = free_cores();
  if (free >= cores) return now;
  std::vector<std::pair<Instant, CoreCount>> ends;
  ends.reserve(running_.size());
  const auto until = [this](CoreId core) {
    return is_closed(core) ? closed_.at(machine_->node_of(core)).until : Instant{};
  };
  for (const auto& [order, job] : running_) {
    const Instant end = std::max(now, job->estimated_end());
    if (closed_.empty() || job->allocation.named.empty())
      ends.emplace_back(end, job->allocation.cores);
    else
      for (const CoreLoad& load : job->allocation.named) ends.emplace_back(std::max(end, until(load.core)), 1);
  }
  for (const auto& [node, change] : closed_)
    for (const CoreId core : machine_->cores_of(node))
      if (!sharers_.contains(core)) ends.emplace_back(std::max(now, change.until), 1);
  std::ranges::sort(ends);
  for (const auto& [end, given_back] : ends) {
    free += given_back;
    if (free >= cores) return end;
  }
  return kNever;
}

void StateBefore::on_record(const log::Record& record, const history::JobState* job) {
  is_over_ = is_over_ || seen_++ == stop_ || record.at > last_;
  if (!is_over_) state_.on_record(record, job);
}

void RunState::hold(LiveJob& job) {
  if (!job.holds_cores()) return;
  if (is_taken(job.allocation)) end_jobs_over_their_estimates(job);
  busy_ += job.allocation.named.empty() ? job.allocation.cores : newly_busy(job.allocation);
  running_[job.start_order] = &job;
}

void RunState::let_go(LiveJob& job) {
  if (!job.holds_cores()) return;
  busy_ -= job.allocation.named.empty() ? job.allocation.cores : newly_free(job.allocation);
  running_.erase(job.start_order);
}

// It waits again.
void RunState::put_back(LiveJob& job, Instant now) {
  let_go(job);
  leave_cores(job, now);
  LiveJob waiting;
  waiting.key = job.key;
  waiting.declared = job.declared;
  waiting.processes = job.declared.processes;
  waiting.estimate = job.declared.estimate;
  job = std::move(waiting);
  waiting_.insert(job.key);
}

// A job that was not launched yet waits again if its cores are of the node.
void RunState::change(const NodeChange& change, Instant now) {
  const CoreRange cores = machine_->cores_of(change.node);
  int idle = 0;
  for (const CoreId core : cores) idle += sharers_.contains(core) ? 0 : 1;
  if (closed_.erase(change.node) > 0) absent_ -= idle;
  if (change.state == NodeState::kUp) return;
  closed_[change.node] = change;
  absent_ += idle;
  const auto is_there = [&](const CoreLoad& load) { return cores.contains(load.core); };
  for (auto next = running_.begin(); next != running_.end();) {
    const LiveJob& job = *(next++)->second;
    if (job.launched == kNever && std::ranges::any_of(job.allocation.named, is_there))
      put_back(this->job(job.key.job), now);
  }
}

CoreCount RunState::cores_there() const {
  CoreCount there = cores_;
  for (const auto& [node, change] : closed_)
    if (change.until == kNever) there -= machine_->cores_of(node).size();
  return there;
}

// Whether others have cores of it. Shareable jobs share theirs.
bool RunState::is_taken(const Allocation& allocation) const {
  if (allocation.named.empty()) return busy_ + allocation.cores > cores_;
  return !allocation.shareable &&
         std::ranges::any_of(allocation.named, [this](const CoreLoad& load) { return sharers_.contains(load.core); });
}

// The log does not say when a policy takes a job for gone that is over its estimate, only when it gives its cores away:
// the jobs in the way are gone then, the longest over its estimate first.
void RunState::end_jobs_over_their_estimates(const LiveJob& taker) {
  std::vector<std::pair<Instant, std::uint64_t>> by_end;
  by_end.reserve(running_.size());
  for (const auto& [order, job] : running_) by_end.emplace_back(job->estimated_end(), order);
  std::ranges::sort(by_end);
  const auto is_in_the_way = [&taker](const LiveJob& job) {
    const CoreLoads &wanted = taker.allocation.named, &had = job.allocation.named;
    return wanted.empty() ||
           std::ranges::find_first_of(wanted, had, {}, &CoreLoad::core, &CoreLoad::core) != wanted.end();
  };
  for (const auto& [end, order] : by_end) {
    if (!is_taken(taker.allocation)) return;
    LiveJob& job = this->job(running_.at(order)->key.job);
    if (!is_in_the_way(job)) continue;
    let_go(job);
    job.leaving = true;
  }
}

double RunState::rate(const LiveJob& job, const Allocation& on, const Surroundings& around) const {
  return rate_ ? rate_(job.declared, on, around) : 1;
}

void RunState::come_to_cores(LiveJob& job, Instant now) {
  if (std::exchange(job.on_cores, true)) return;
  shared_->come(
      as_declared(job.declared, job.held), job.held,
      [this, now](JobId id, const Allocation& on, const Surroundings& around) { ask_rate_again(id, on, around, now); });
}

void RunState::leave_cores(LiveJob& job, Instant now) {
  if (!std::exchange(job.on_cores, false)) return;
  shared_->leave(job.key.job, [this, now](JobId id, const Allocation& on, const Surroundings& around) {
    ask_rate_again(id, on, around, now);
  });
}

void RunState::ask_rate_again(JobId id, const Allocation& on, const Surroundings& around, Instant now) {
  LiveJob& job = this->job(id);
  if (const double is = rate(job, on, around); is != job.budget.rate()) job.budget.change_rate(now, is);
}

// A core is busy from the first job on it to the last.
CoreCount RunState::newly_busy(const Allocation& allocation) {
  CoreCount busy = 0;
  for (const CoreLoad& load : allocation.named) {
    if (sharers_[load.core]++ > 0) continue;
    ++busy;
    if (is_closed(load.core)) --absent_;
  }
  return busy;
}

CoreCount RunState::newly_free(const Allocation& allocation) {
  CoreCount free = 0;
  for (const CoreLoad& load : allocation.named) {
    const auto found = sharers_.find(load.core);
    if (--found->second > 0) continue;
    sharers_.erase(found);
    ++free;
    if (is_closed(load.core)) ++absent_;
  }
  return free;
}

}  // namespace replay::compare
