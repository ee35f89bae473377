// What a sweep will take, from the cells that are done, or else from a few that are tried.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "scheduler/sweep/plan.hpp"

namespace replay::sweep {

struct Estimate {
  std::size_t cells = 0, done = 0, missing = 0;
  double seconds = 0;      ///< of one core, for those that are missing
  double bytes = 0;        ///< of the lines of all cells
  std::size_t tried = 0;   ///< cells that were computed for this, without a trace; 0: cells were done
  std::size_t failed = 0;  ///< of these
  std::string failure{};   ///< why the first one of them has failed
};

/// Writes nothing into `folder`, which need not be there. Tries three cells of each policy for at most twenty seconds. Where
/// stops_asked() > 0 then, the estimate is void. Throws InputError.
[[nodiscard]] Estimate estimate(const Plan& plan, const std::filesystem::path& folder);

}  // namespace replay::sweep
