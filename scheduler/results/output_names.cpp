#include "scheduler/results/output_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scheduler/base/error.hpp"

namespace replay::results {

const std::set<std::string>& output_names() {
  static const std::set<std::string> kNames = {"run", "events", "jobs", "swf", "metrics", "series"};
  return kNames;
}

std::set<std::string> parse_outputs(std::string_view list) {
  if (list.empty() || list == "all") return output_names();
  if (list == "none") return {};
  std::set<std::string> wanted;
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string name{list.substr(0, comma)};
    if (!output_names().contains(name))
      throw UsageError(fmt::format("--outputs: expected all, none, or some of {} joined by commas, found '{}'",
                                   fmt::join(output_names(), ", "), name));
    wanted.insert(name);
    if (comma == std::string_view::npos) return wanted;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace replay::results
