// A move of a job's ranks to other cores. The ranks on all these cores are told that they share before the first rank
// arrives, and that they do not after the last one has left; in between a moving rank counts on its old core and on its
// new one. The steps follow from the object's life, so they cannot be taken in another order or forgotten.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "launcher/agent/cores/node_cores.hpp"

namespace replay::launcher {

class RankMove {
 public:
  /// Moves threads, where ranks are bound to their cores; may throw.
  using Bind = std::function<void()>;

  /// Tells the ranks on the old and the new cores, calls `bind`, and changes the ranks' places. Throws what `bind`
  /// throws; then no rank's place has changed and the neighbours are told so. Does nothing for a job that is not here.
  /// REQUIRES: the cores exist and have room (NodeCores::why_not), one per rank; no other move of this job.
  RankMove(NodeCores& cores, JobId job, const std::vector<std::int32_t>& core_of_rank, const Bind& bind);
  RankMove(RankMove&&) = delete;
  /// The old cores are left; their tokens are taken from the ranks that still hold them.
  ~RankMove();

  /// Whether no rank of the job holds the token of a core that it moves away from.
  [[nodiscard]] bool has_let_go() const { return cores_.has_let_go(job_); }

 private:
  NodeCores& cores_;
  JobId job_;
};

}  // namespace replay::launcher
