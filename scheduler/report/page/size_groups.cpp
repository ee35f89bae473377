#include "scheduler/report/page/size_groups.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace replay::report {
namespace {

struct SizeGroup {
  ProcessCount most;
  std::string_view name;
};
constexpr std::array<SizeGroup, kSizeGroups> kGroups{
    {{1, "1 process"},
     {8, "2 to 8 processes"},
     {64, "9 to 64 processes"},
     {512, "65 to 512 processes"},
     {std::numeric_limits<ProcessCount>::max(), "513 processes or more"}}};

}  // namespace

std::size_t size_group(ProcessCount processes) {
  return static_cast<std::size_t>(std::ranges::lower_bound(kGroups, processes, {}, &SizeGroup::most) - kGroups.begin());
}

std::string_view size_group_name(std::size_t group) { return kGroups.at(group).name; }

}  // namespace replay::report
