// Which cores a job holds, and how its processes lie on them. On a pool that is two numbers; where cores have names,
// each held core is listed with its processes, and rank r of the job lies on the core whose turn it is when the list is
// read in order: the first core has ranks 0 .. processes-1, and so on (block order).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

struct CoreLoad {
  CoreId core;
  ProcessCount processes;  ///< of this job on this core; >= 1
  bool operator==(const CoreLoad&) const = default;
};

struct Allocation {
  CoreCount cores = 0;
  int mpl = 1;                  ///< multiprogramming level: most processes of the job on one core; 1 is expanded
  std::vector<CoreLoad> named;  ///< in rank order; empty on a pool

  bool operator==(const Allocation&) const = default;
  [[nodiscard]] bool is_expanded() const { return mpl == 1; }
};

/// `processes` at multiprogramming level `mpl`: ceil(processes / mpl) cores.
[[nodiscard]] constexpr CoreCount cores_at(ProcessCount processes, int mpl) { return (processes + mpl - 1) / mpl; }

/// The core of each rank, in rank order. REQUIRES: named cores.
[[nodiscard]] std::vector<CoreId> core_of_ranks(const Allocation& allocation);

/// "0-3,7": core numbers in ascending order, ranges joined by commas (or by blanks, as Batsim writes them). Empty on a pool.
[[nodiscard]] std::string cores_text(const Allocation& allocation, char separator = ',');

}  // namespace replay
