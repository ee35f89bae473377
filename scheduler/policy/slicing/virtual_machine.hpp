// A virtual machine of Scojo-PECT: the machine as the jobs of one class see it. Its clock stands while other classes have
// the machine, and while jobs are exchanged. Its jobs keep their cores for life, on them or suspended: in its own time all
// of them run, so that an inner policy that shares space needs to know nothing of slices. In the class's own slice the
// free cores here are the free ones in truth: guests of other classes hold theirs here, too, until the end of the slice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/view/hosting.hpp"

namespace replay {

/// A job, as a member of its class.
struct ClassJob {
  Job job;              ///< as the inner policy sees it: submitted in the clock of its virtual machine
  Instant submitted{};  ///< in the clock of the machine
  JobClass job_class{};
  RunningJob* running = nullptr;     ///< in its virtual machine; null: it waits
  const RunningJob* real = nullptr;  ///< in the view of the machine; null until the pass after its start
  double rate = 1;                   ///< of its progress when it was last on its cores
  JobId group{};                     ///< the primary of the group that it is in, while `is_grouped`
  bool is_grouped = false;
  bool is_on = false;   ///< it is to be on its cores
  bool was_on = false;  ///< it is on them by the decisions given so far

  /// First come, first served over all classes.
  [[nodiscard]] bool is_before(const ClassJob& other) const {
    return submitted != other.submitted ? submitted < other.submitted : job.id < other.job.id;
  }
};

class VirtualMachine {
 public:
  /// The clock of `machine` is at `now`, and its own begins there.
  VirtualMachine(Policy& inner, const Machine& machine, Instant now);

  [[nodiscard]] Instant now() const { return now_; }
  void run_clock(Duration by) { now_ += by; }

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const WaitingQueue& waiting() const { return waiting_; }
  /// Jobs of the class that have started, and guests.
  [[nodiscard]] const RunningSet& running() const { return running_; }
  [[nodiscard]] const FreeCores& free() const { return free_; }
  /// No job of the class waits, runs or is suspended.
  [[nodiscard]] bool has_no_jobs() const { return waiting_.empty() && started_ == 0; }

  // What happens to jobs of the class.
  void submit(ClassJob& job);
  /// `allocation` is that of a Start: it is completed. Throws PolicyError if there is no room.
  void start(ClassJob& job, Allocation& allocation, const ClusterView& real);
  void resize(ClassJob& job, Allocation& allocation);
  /// Its cores count as free from now on, although it has not ended.
  void leave_plan(ClassJob& job);
  void end(ClassJob& job);
  /// Brings budget and estimated end up to date with the machine's, where it is `now`. REQUIRES: job.real.
  void follow(ClassJob& job, Instant now);

  /// A guest has `cores` from now on, until `ends` in this clock. `job` is one of those that are the guest.
  RunningJob& admit(const Job& job, const Allocation& cores, Instant ends);
  void dismiss(RunningJob& guest);

  /// Closes and opens the nodes that are closed and open in the view.
  void follow_nodes(const ClusterView& real);

  // Passes.
  void note(TriggerKind kind, const ClassJob* job = nullptr);
  [[nodiscard]] bool has_news() const { return !triggers_.empty(); }
  /// When the inner policy wants its next pass, in this clock; kNever if it does not.
  [[nodiscard]] Instant next_wake() const { return wakes_.empty() ? kNever : *wakes_.begin(); }
  void wake_at(Instant at);
  /// In the slice of the class.
  void decide(const ClusterView& real, Decisions& out) { pass(real, free_, out); }
  /// Outside it: the inner policy takes in what has happened, and no core is free.
  void plan(const ClusterView& real, Decisions& out) { pass(real, nothing_, out); }

  // Questions to the inner policy.
  [[nodiscard]] CoreCount free_until(const ClusterView& real, Instant until) const {
    return hosting_.free_until(view(real, free_), until);
  }
  /// The allocation with which the job, which waits, could start now on cores of `free` without a delay of others.
  [[nodiscard]] std::optional<Allocation> alone(const ClusterView& real, const ClassJob& job,
                                                const FreeCores& free) const {
    return hosting_.alone(view(real, free), job.job);
  }
  [[nodiscard]] bool may_start_now(const ClusterView& real, const ClassJob& job, const FreeCores& free) const {
    return hosting_.may_start_now(view(real, free), job.job);
  }
  [[nodiscard]] Duration more_time(const ClusterView& real, const ClassJob& job) {
    return inner_.more_time(view(real, free_), *job.running);
  }

 private:
  [[nodiscard]] ClusterView view(const ClusterView& real, const FreeCores& free) const {
    return {now_,
            machine_,
            free,
            waiting_,
            running_,
            triggers_,
            real.rate,
            real.resizes_to_any_size,
            real.zero_time_of_day,
            real.machine_until};
  }
  void pass(const ClusterView& real, const FreeCores& free, Decisions& out);

  Policy& inner_;
  const Hosting& hosting_;  // of inner_
  const Machine& machine_;
  Instant now_;
  WaitingQueue waiting_;
  RunningSet running_;
  FreeCores free_;
  FreeCores nothing_;        // no core
  std::size_t started_ = 0;  // jobs of the class that are neither waiting nor gone in plan
  std::uint64_t starts_ = 0;
  std::vector<Trigger> triggers_;
  std::set<Instant> wakes_;
};

}  // namespace replay
