// The oracles of EASY, which delays none of the first waiting jobs, and of priority-easy, the same over a queue of
// three classes.
#pragma once

#include <limits>

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

enum class Aging : std::uint8_t { kTop, kOne, kOff };
/// The class of a job by its estimate and, after a wait of five estimates, by aging: 0 is short, 1 medium, 2 long.
[[nodiscard]] int class_at(const Job& job, Time now, Aging aging);
[[nodiscard]] Schedule priority_easy(const Workload& workload, Aging aging);

}  // namespace replay::oracle
