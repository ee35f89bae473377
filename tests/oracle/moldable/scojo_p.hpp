// The oracle of scojo-p: a job's size is chosen when it starts, so that the load while it runs comes near an ideal.
#pragma once

#include "tests/oracle/moldable/sizes.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class Predict : std::uint8_t { kOff, kPast };

struct ScojoP {
  Predict predict = Predict::kPast;
  Aging aging = Aging::kTop;
  long double ideal = 0.9L;
  long double delta = 0.01L;
  int max_bad = 2;
  /// Loads and sizes that differ by less count as equal: 0.9 is not a number of floating point.
  long double tolerance = 1e-9L;
};
[[nodiscard]] Schedule scojo_p(const Workload& workload, const ScojoP& rules);

}  // namespace replay::oracle
