// The cores of this node and everybody on them. It keeps the table of who is where, and tells the ranks of all jobs what
// follows from it: their place, whether they share their core, with which back end they give it away. Neighbours are told
// too: before anybody arrives that the core is shared, and after the last one has left that it is not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/agent/core_segment.hpp"
#include "launcher/agent/core_table.hpp"
#include "launcher/agent/job_segment.hpp"

namespace replay::launcher {

/// How ranks give their core away: among themselves, and on a core with ranks of several jobs.
struct BackEnds {
  replay_vm_back_end within_a_job = REPLAY_VM_YIELD;
  replay_vm_back_end between_jobs = REPLAY_VM_TOKEN;
};

class NodeCores {
 public:
  /// A job on this node. What it points to stays until leave().
  struct Tenant {
    JobSegment* segment = nullptr;        ///< null: no vmlib, so no seats and no orders
    std::function<void()> before_change;  ///< called when it is about to have other neighbours than before
  };

  /// Creates the core segment. Throws std::system_error.
  NodeCores(std::uint32_t cores, BackEnds back_ends) : table_(cores), segment_(cores), back_ends_(back_ends) {}

  /// Why a job (one that is here, or a new one) cannot have these cores: no such core, or `needs_seats` and no seat.
  [[nodiscard]] std::optional<std::string> why_not(JobId job, const std::vector<std::int32_t>& core_of_rank,
                                                   bool needs_seats) const;

  // The following REQUIRE that the cores exist (why_not). All but enter() do nothing for a job or a rank that is not here.

  void enter(JobId job, Tenant tenant, const std::vector<std::int32_t>& core_of_rank);
  /// The rank's process, once it is known: tokens are held in its name.
  void know_process(JobId job, std::uint32_t rank, pid_t pid);

  /// A move has three steps: everybody on the new cores is told; the ranks' places change; the old cores are left.
  void begin_move(JobId job, const std::vector<std::int32_t>& core_of_rank);
  void change_places(JobId job);
  /// Whether no rank of the job holds the token of a core that it moves away from.
  [[nodiscard]] bool has_let_go(JobId job) const;
  /// Tokens that are still held are taken away.
  void finish_move(JobId job);
  /// Back to where it was before begin_move(). REQUIRES: no change_places() since.
  void cancel_move(JobId job);

  /// Its processes have stopped: they hold no tokens and are nobody's neighbours until they go on.
  void stop(JobId job);
  void go_on(JobId job);
  /// A process has ended, however: its tokens go to who waits for them.
  void lose_rank(JobId job, std::uint32_t rank);
  void leave(JobId job);

  /// Whether every rank of the job that is still here has its core to itself.
  [[nodiscard]] bool is_alone(JobId job) const;
  /// What its ranks are told to use; the token if any of them is.
  [[nodiscard]] replay_vm_back_end back_end(JobId job) const;

  [[nodiscard]] const CoreTable& table() const { return table_; }
  [[nodiscard]] const CoreSegment& segment() const { return segment_; }

 private:
  struct Resident {
    Tenant tenant;
    std::vector<pid_t> pid_of_rank;  // 0: not known
  };
  using Cores = std::set<std::uint32_t>;

  [[nodiscard]] std::vector<RankName> ranks_of(JobId job) const;
  [[nodiscard]] Cores cores_of(JobId job) const;
  [[nodiscard]] pid_t pid_of(const RankName& who) const;
  /// The cores of `who` but the one it came to last.
  [[nodiscard]] std::vector<CoreTable::Place> old_places(const RankName& who) const;
  [[nodiscard]] replay_vm_back_end back_end_of(const RankName& who) const;
  void announce(const Cores& cores) const;
  void tell(const Cores& cores);
  void tell_mpl(JobId job);
  void take_tokens(const RankName& who);

  CoreTable table_;
  CoreSegment segment_;
  BackEnds back_ends_;
  std::map<JobId, Resident> residents_;
};

}  // namespace replay::launcher
