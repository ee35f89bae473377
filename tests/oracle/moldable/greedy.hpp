// The oracle of greedy-moldable: each waiting job in turn starts at the fastest of its sizes that are free, without any
// reservation.
#pragma once

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class GreedyOrder : std::uint8_t {
  kArrival,
  kClass  ///< short, medium, long, as priority-easy has them after aging
};

[[nodiscard]] Schedule greedy_moldable(const Workload& workload, GreedyOrder order);

}  // namespace replay::oracle
