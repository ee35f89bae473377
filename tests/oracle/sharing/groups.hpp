// Jobs that share nodes, and how they go on together: simulated forward by the slowdowns that plans assume.
// Readings 6 (gain), 9.13 and 9.14, formulas (5) and (6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "tests/oracle/work.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle::sharing {

/// One job, or a bundle: serial jobs on one node that act as one job. Jobs are positions in the workload.
struct Unit {
  std::vector<std::size_t> jobs;
  int ppn = 1;
  int size = 1;            ///< nodes that it needs or has
  std::vector<int> nodes;  ///< in the order in which it took them; empty while it waits
};

/// For ties: submission and number of its first job.
[[nodiscard]] std::pair<Time, std::int64_t> first_of(const Workload& workload, const Unit& unit);

/// A group: the primary first, then the matched in their order. A single unit is one that runs alone.
using Group = std::vector<Unit>;

/// What a job has left of its budget, in microseconds at one process per node; it stands.
using Left = std::function<Work(std::size_t job)>;

/// The end of each job if nothing else happens, through the disbanding of the group: the slowdown is the self slowdown
/// times the greatest one by a living bundle mate or a living job of the other side on one of its nodes.
[[nodiscard]] std::map<std::size_t, Time> planned_ends(const Workload& workload, const Group& group, const Left& left,
                                                       Time now);

/// Formula (6): until the primary or all matched have ended. REQUIRES: two units or more.
[[nodiscard]] double gain(const Workload& workload, const Group& group, const Left& left);

/// The nodes that a group takes: as many as its primary or as all matched have, whichever is more.
[[nodiscard]] int nodes_of_group(const Group& group);
/// All matched together.
[[nodiscard]] int matched_nodes(const Group& group);

}  // namespace replay::oracle::sharing
