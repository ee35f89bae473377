// The oracle of fcfs-malleable and easy-malleable: jobs keep their processes and change their cores while they run.
// From FCFS-malleable (Euro-Par 2012), sections 3.1 and 4, and docs/policies/fcfs-malleable.md.
#pragma once

#include <cstdint>

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

/// How fast a job runs with fewer cores than processes.
enum class TimeModel : std::uint8_t { kUtrera, kUtreraAdditive, kIsolated };

enum class Criterion : std::uint8_t { kOldest, kLeastCpuUse, kLongest, kShortest };

/// Whether the head may start on cores of a running job, and before or after shrinking is tried.
enum class Beside : std::uint8_t { kNever, kFirst, kLast };

struct Malleable {
  int max_mpl = 2;
  Criterion criterion = Criterion::kOldest;
  bool eager = false;     ///< expand=eager
  bool backfill = false;  ///< easy-malleable
  bool cautious = false;  ///< estimate=conservative: a job at level m is taken to make 1/m of its progress
  TimeModel model = TimeModel::kUtrera;
  Beside share = Beside::kNever;
  double max_slowdown = 1.5;  ///< of either of two jobs on the same cores
};

[[nodiscard]] Schedule malleable(const Workload& workload, const Malleable& rules);

}  // namespace replay::oracle
