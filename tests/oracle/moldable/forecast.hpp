// What SCOJO-P expects to be submitted while a job runs: `predict=past`, from the jobs submitted before now. Each class has
// an expected number of arrivals per half-hour slot of the day, and one job that stands for all. Source: readings 3
// (future) and 8 (SCOJO-P); SCOJO-P 4.3.
#pragma once

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

/// The work, in core microseconds, of the jobs that are expected in [now, now + length) and sized by `modifier`.
[[nodiscard]] long double expected_work(const Workload& workload, Time now, long double modifier, Time length);

}  // namespace replay::oracle
