// The oracle of conservative backfilling: each job gets its earliest hole at submission and keeps that guarantee.
#pragma once

#include <cstddef>
#include <functional>

#include "tests/oracle/rigid_run.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class Compress : std::uint8_t { kArrival, kStartOrder };
enum class CompressAt : std::uint8_t { kEarlyEnds, kAllEnds };

struct Conservative {
  Compress compress = Compress::kArrival;
  CompressAt at = CompressAt::kEarlyEnds;
  PassRule pass = PassRule::kEvent;
};
[[nodiscard]] Schedule conservative(const Workload& workload, const Conservative& rules);

/// The same; each job is changed by `choose` before it gets its hole, which `hole` tells for the job as it is then.
using BeforeItsHole = std::function<void(std::size_t job, const std::function<Time()>& hole)>;
[[nodiscard]] Schedule conservative(RigidRun& run, const Conservative& rules, const BeforeItsHole& choose);

}  // namespace replay::oracle
