// The oracle of fcfs: first come, first served, without overtaking.
#pragma once

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

[[nodiscard]] Schedule fcfs(const Workload& workload);

}  // namespace replay::oracle
