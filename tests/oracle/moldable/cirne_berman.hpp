// The oracle of cirne-berman: each job chooses its size at its submission, by trying the schedule of now with each of its
// sizes, and keeps it.
#pragma once

#include "tests/oracle/moldable/sizes.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class Over : std::uint8_t { kEasy, kConservative };
enum class Most : std::uint8_t {
  kFull,    ///< every size
  kOptimum  ///< those up to N_opt; the least one if all are above it
};

struct CirneBerman {
  Over over = Over::kEasy;
  Most most = Most::kFull;
  Aging aging = Aging::kTop;  ///< over EASY
};
[[nodiscard]] Schedule cirne_berman(const Workload& workload, const CirneBerman& rules);

}  // namespace replay::oracle
