// The oracle of self-tuning dynP: at every step the plans of three policies are measured, and a decider picks one.
#pragma once

#include "tests/oracle/fresh_plan.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class Decider : std::uint8_t { kSimple, kAdvanced, kPreferred };
enum class Metric : std::uint8_t { kSldwa, kResponse, kSlowdown, kBsld60, kUtilisation };
enum class Step : std::uint8_t { kAll, kSubmit };

struct Dynp {
  Decider decider = Decider::kAdvanced;
  QueueOrder preferred = QueueOrder::kSjf;
  int threshold_percent = 0;
  Metric metric = Metric::kSldwa;
  Step step = Step::kAll;
};
[[nodiscard]] Schedule dynp(const Workload& workload, const Dynp& rules);

}  // namespace replay::oracle
