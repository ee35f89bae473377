// The oracle of slack, slack-based priority backfilling: a planned start and a slack for each waiting job, prices of
// schedules. From Talby and Feitelson (IPPS 1999), section 4, and docs/policies/slack.md.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class Heuristic : std::uint8_t {
  kScheduledTime,  ///< ast
  kArrival,        ///< aat
  kUtilisation,    ///< du
  kCost,           ///< dc
  kPriority,       ///< dp
  kAll             ///< every order of up to 6 jobs
};

struct Slack {
  Heuristic heuristic = Heuristic::kScheduledTime;
  double slack_factor = 3;
  /// In seconds, for jobs with 1, 2, up to 4, ... processors; the last one is for all larger jobs.
  std::vector<double> average_wait = {2401};
  double alpha_u = 1, alpha_t = 1, alpha_p = 1, alpha_f = 1;
};

/// `promises`, if not null, gets for each job its first planned start plus its first slack; kNever if unbounded.
[[nodiscard]] Schedule slack(const Workload& workload, const Slack& rules, std::vector<Time>* promises = nullptr);

}  // namespace replay::oracle
