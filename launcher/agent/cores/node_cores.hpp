// The cores of this node and the ranks on them. It keeps the table of places and writes the orders that follow from it
// for the ranks of all jobs: their place, whether they share their core, and with which back end they give it away.
// Ranks on a core are told that it is shared before another rank arrives, and that it is not after the last other one
// has left. A job's ranks move by a RankMove (rank_move.hpp).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/agent/cores/core_segment.hpp"
#include "launcher/agent/cores/core_table.hpp"
#include "launcher/agent/cores/job_segment.hpp"

namespace replay::launcher {

/// How ranks give their core away: on a core with ranks of one job alone, and on a core with ranks of several jobs or
/// with processes of others.
struct BackEnds {
  replay_vm_back_end within_a_job = REPLAY_VM_YIELD;
  replay_vm_back_end beside_others = REPLAY_VM_TOKEN;
};

class NodeCores {
 public:
  /// A job on this node. What it points to stays until leave().
  struct Tenant {
    JobSegment* segment = nullptr;        ///< null: no vmlib, so no seats and no orders
    std::function<void()> before_change;  ///< called before the ranks on its cores change
  };

  /// Creates the core segment. Throws std::system_error.
  NodeCores(std::uint32_t cores, BackEnds back_ends) : table_(cores), segment_(cores), back_ends_(back_ends) {}

  /// Why a job (one that is here, or a new one) cannot have these cores: no such core, or `needs_seats` and no seat.
  [[nodiscard]] std::optional<std::string> why_not(JobId job, const std::vector<std::int32_t>& core_of_rank,
                                                   bool needs_seats) const;

  // The following REQUIRE that the cores exist (why_not). All but enter() do nothing for a job or a rank that is not
  // here.

  void enter(JobId job, Tenant tenant, const std::vector<std::int32_t>& core_of_rank);
  /// The rank's process, once it is known: tokens are held in its name.
  void know_process(JobId job, std::uint32_t rank, pid_t pid);

  /// Its processes have stopped: they hold no tokens and do not count as sharing a core until go_on().
  void stop(JobId job);
  /// As stop(), for jobs that take turns: takes the tokens of the cores that its ranks are on, not of all cores.
  void pause(JobId job);
  void go_on(JobId job);
  /// A process has ended, for any reason: its tokens go to the ranks that wait for them.
  void lose_rank(JobId job, std::uint32_t rank);
  void leave(JobId job);

  /// On these cores processes of others compute.
  void set_busy(const std::set<std::uint32_t>& cores);
  [[nodiscard]] replay_vm_back_end within_a_job() const { return back_ends_.within_a_job; }
  /// REQUIRES: no job is here.
  void set_within_a_job(replay_vm_back_end back_end) { back_ends_.within_a_job = back_end; }
  /// The processes that are known of the ranks on each core.
  [[nodiscard]] std::map<std::uint32_t, std::vector<pid_t>> processes_by_core() const;

  /// Whether every rank of the job that is still here has its core to itself.
  [[nodiscard]] bool is_alone(JobId job) const;
  /// With a rank of this job. A rank that moves is on both cores.
  [[nodiscard]] std::set<std::uint32_t> cores_of(JobId job) const;
  /// What its ranks are told to use; the token if any of them is.
  [[nodiscard]] replay_vm_back_end back_end(JobId job) const;

  [[nodiscard]] const CoreTable& table() const { return table_; }
  [[nodiscard]] const CoreSegment& segment() const { return segment_; }

 private:
  friend class RankMove;

  // The steps of a move, in the order in which RankMove takes them.
  void begin_move(JobId job, const std::vector<std::int32_t>& core_of_rank);
  void cancel_move(JobId job);
  void change_places(JobId job);
  [[nodiscard]] bool has_let_go(JobId job) const;
  void finish_move(JobId job);

  struct Resident {
    Tenant tenant;
    std::vector<pid_t> pid_of_rank;  // 0: not known
  };
  using Cores = std::set<std::uint32_t>;

  [[nodiscard]] std::vector<RankName> ranks_of(JobId job) const;
  [[nodiscard]] pid_t pid_of(const RankName& name) const;
  /// The cores of `name` but the one it came to last.
  [[nodiscard]] std::vector<CoreTable::Place> old_places(const RankName& name) const;
  [[nodiscard]] replay_vm_back_end back_end_of(const RankName& name) const;
  /// Calls change(name) for each rank of the job; the jobs on `cores` hear of it before and after.
  template <class Change>
  void change_ranks(JobId job, const Cores& cores, Change change);
  void announce(const Cores& cores) const;
  void tell(const Cores& cores);
  void tell_mpl(JobId job);
  void take_tokens(const RankName& name);

  CoreTable table_;
  CoreSegment segment_;
  BackEnds back_ends_;
  std::set<std::uint32_t> busy_;
  std::map<JobId, Resident> residents_;
};

}  // namespace replay::launcher
