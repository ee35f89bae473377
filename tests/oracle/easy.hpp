// The oracles of EASY, which delays none of the first waiting jobs, and of priority-easy, the same over a queue of
// three classes.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "tests/oracle/moldable/sizes.hpp"
#include "tests/oracle/rigid_run.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class BackfillOrder : std::uint8_t { kArrival, kShortest, kNarrowest };

struct Easy {
  int reservations = 1;  ///< kAll: one for every job
  BackfillOrder order = BackfillOrder::kArrival;
  PassRule pass = PassRule::kEvent;
  static constexpr int kAll = std::numeric_limits<int>::max();
};
[[nodiscard]] Schedule easy(const Workload& workload, const Easy& rules);

/// EASY's pass over a queue: jobs are started from its head, and behind the first that does not fit.
void easy_pass(RigidRun& run, std::vector<std::size_t> queue);

/// The same over the waiting jobs by class after aging; the next promotion of one of them.
Time priority_pass(RigidRun& run, Aging aging);
[[nodiscard]] Schedule priority_easy(const Workload& workload, Aging aging);

}  // namespace replay::oracle
