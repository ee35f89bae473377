#include "scheduler/model/allocation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace replay {

std::vector<CoreId> core_of_ranks(const Allocation& allocation) {
  std::vector<CoreId> cores;
  for (const CoreLoad& load : allocation.named)
    cores.insert(cores.end(), static_cast<std::size_t>(load.processes), load.core);
  return cores;
}

std::string cores_text(const Allocation& allocation, char separator) {
  std::vector<CoreId> cores;
  cores.reserve(allocation.named.size());
  for (const CoreLoad& load : allocation.named) cores.push_back(load.core);
  std::ranges::sort(cores);
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    if (!text.empty()) text += separator;
    if (last == i)
      fmt::format_to(std::back_inserter(text), "{}", cores[i]);
    else
      fmt::format_to(std::back_inserter(text), "{}-{}", cores[i], cores[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace replay
