// Which groups can be formed around a primary: steps 1 to 5 of section 4.5 of the paper, readings 6, 9.8 to 9.10.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tests/oracle/sharing/groups.hpp"
#include "tests/oracle/sharing/jobs.hpp"

namespace replay::oracle::sharing {

struct Proposal {
  Group group;
  double gain = 0;
};

struct Search {
  const Workload& workload;
  const Rules& rules;
  Left left;
  Unit primary;
  std::optional<Unit> forced;  ///< in case 3: is in every set
  std::vector<Unit> pool;      ///< waiting in the order of arrival, or running in the order of their delays
  std::function<bool(const Group&)> can_start;  ///< now, on nodes that are free
};

/// Groups with enough gain in the order in which fairness is to be asked about them.
[[nodiscard]] std::vector<Proposal> proposals(const Search& search);

inline constexpr double kGainTolerance = 1e-9;

/// The longest of the jobs of a unit.
[[nodiscard]] long double longest_left(const Unit& unit, const Left& left);

}  // namespace replay::oracle::sharing
