// The ranks of one job on this node: the process of each, its core, and what it has used. A rank is registered once its
// process is known, and gone when its pidfd says so. The job's segment holds what the ranks report about themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/cores/job_segment.hpp"
#include "launcher/agent/job/agent_site.hpp"
#include "launcher/agent/job/cpu_use_meter.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

class JobRanks {
 public:
  struct Rank {
    std::optional<Process> process;  ///< none: has not registered
    UniqueFd stream;
    std::unique_ptr<LoopEvent> exit_event;
    CpuUseMeter meter;
    bool is_gone = false;
    bool is_finalized = false;  ///< reached MPI_Finalize before it went
    [[nodiscard]] bool is_running() const { return process.has_value() && !is_gone; }
  };
  /// Called by the loop when a rank's process has exited; the callee calls lose().
  using OnExit = std::function<void(std::size_t rank)>;

  /// `first_rank`: the world's rank that is the first here. Everywhere else in this class a rank is counted from it.
  JobRanks(const AgentSite& site, JobId job, std::vector<std::int32_t> core_of_rank, std::size_t first_rank,
           OnExit on_exit);

  /// Takes the node's cores, which exist and have room. Without a segment the ranks cannot register.
  void enter(std::unique_ptr<JobSegment> segment);
  /// Leaves the cores and drops the segment. Nothing happens for a job that has not entered.
  void leave();

  /// The rank that has registered as `hello` says. False: it has exited since. REQUIRES: a segment, a rank of this job.
  bool add(const replay_vm_hello& hello, UniqueFd stream);
  /// The rank's process has exited. May be said again.
  void lose(std::size_t rank);
  /// The cores that the ranks have moved to; does not move them.
  void set_cores(std::vector<std::int32_t> core_of_rank) { core_of_rank_ = std::move(core_of_rank); }
  /// Emulated cores: how many times as long the job's work takes from now on.
  void set_slowdown(double slowdown);
  /// A suspended job's time does not count as used.
  void set_suspended(bool is_suspended);

  [[nodiscard]] std::size_t size() const { return ranks_.size(); }
  /// How a rank is called in messages: its number in the world.
  [[nodiscard]] std::size_t world_rank(std::size_t rank) const { return first_rank_ + rank; }
  /// "rank 1", "ranks 0-2,5". `some` ascends and is not empty.
  [[nodiscard]] std::string names(const std::vector<std::size_t>& some) const;
  [[nodiscard]] const std::vector<Rank>& all() const { return ranks_; }
  [[nodiscard]] const std::vector<std::int32_t>& core_of_rank() const { return core_of_rank_; }
  [[nodiscard]] std::size_t registered() const;
  [[nodiscard]] bool have_all_registered() const { return registered() == ranks_.size(); }
  [[nodiscard]] bool is_any_running() const;
  /// Those that exit or have exited without MPI_Finalize. Hydra kills the others as soon as the first one's exit begins, so
  /// that it may be seen behind theirs; it is always among these.
  [[nodiscard]] std::vector<std::size_t> dying() const;
  [[nodiscard]] bool is_suspended() const { return is_suspended_; }
  /// Null: vmlib is not preloaded, or the job has left.
  [[nodiscard]] const JobSegment* segment() const { return segment_.get(); }

  /// To the ranks that are running.
  void signal(int number) const;

  /// Reports the CPU utilisation so far, if it can be measured now: the job is expanded and not suspended.
  void measure();
  /// Mean over the ranks, 0..1. Negative: not measured.
  [[nodiscard]] double cpu_use() const;
  [[nodiscard]] protocol::JobStatistics statistics() const;

 private:
  /// Whether each rank has its core to itself, among the ranks of all jobs.
  [[nodiscard]] bool is_expanded() const { return site_.cores->is_alone(job_); }
  [[nodiscard]] bool counts_as_used() const { return is_expanded() && !is_suspended_; }
  void advance_meters();

  const AgentSite& site_;
  JobId job_;
  std::vector<std::int32_t> core_of_rank_;
  std::size_t first_rank_;
  OnExit on_exit_;
  std::unique_ptr<JobSegment> segment_;
  std::vector<Rank> ranks_;
  bool is_suspended_ = false;
  double slowdown_ = 1;
};

}  // namespace replay::launcher
