// The oracle of conservative backfilling: each job gets its earliest hole at submission and keeps that guarantee.
#pragma once

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

}  // namespace replay::oracle
