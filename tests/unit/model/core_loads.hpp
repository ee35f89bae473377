// Core numbers as tests write them: core_loads({{0, 2}, {1, 1}}) is two processes on core 0 and one on core 1.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "scheduler/model/allocation.hpp"

namespace replay::test {

/// Processes of one job on the core of that number.
struct OnCore {
  std::int32_t core;
  ProcessCount processes;
};

[[nodiscard]] inline std::vector<CoreLoad> core_loads(const std::vector<OnCore>& numbered) {
  std::vector<CoreLoad> loads;
  for (const OnCore& on : numbered) loads.push_back({CoreId{on.core}, on.processes});
  return loads;
}

[[nodiscard]] inline std::vector<CoreId> core_ids(std::initializer_list<std::int32_t> numbers) {
  std::vector<CoreId> ids;
  for (const std::int32_t number : numbers) ids.push_back(CoreId{number});
  return ids;
}

}  // namespace replay::test
