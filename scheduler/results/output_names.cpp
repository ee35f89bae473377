#include "scheduler/results/output_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::results {

const std::set<std::string>& output_names() {
  static const std::set<std::string> kNames = {"run", "events", "jobs", "swf", "metrics", "series"};
  return kNames;
}

std::set<std::string> parse_outputs(std::string_view list) {
  if (list.empty() || list == "all") return output_names();
  if (list == "none") return {};
  std::set<std::string> wanted;
  for (const std::string_view part : split(list, ',')) {
    const std::string name{part};
    if (!output_names().contains(name))
      throw UsageError(fmt::format("--outputs: expected all, none, or some of {} joined by commas, found '{}'",
                                   fmt::join(output_names(), ", "), name));
    wanted.insert(name);
  }
  return wanted;
}

}  // namespace replay::results
