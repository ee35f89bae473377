// The oracle of greedy-moldable: each waiting job in turn starts at the fastest of its sizes that are free, without any
// reservation.
#pragma once

#include <vector>

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

/// The sizes that a job can be started with on a machine of `cores`, ascending; may be empty. Rigid jobs and jobs without
/// a curve have only the submitted one.
[[nodiscard]] std::vector<int> offered_sizes(const Job& job, int cores);

[[nodiscard]] Schedule greedy_moldable(const Workload& workload);

}  // namespace replay::oracle
