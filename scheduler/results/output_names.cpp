#include "scheduler/results/output_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::results {
namespace {

constexpr OutputFile kOutputFiles[] = {
    {"run", "run.json", true},     {"events", "events.log", false},   {"jobs", "jobs.csv", true},
    {"swf", "schedule.swf", true}, {"metrics", "metrics.json", true}, {"series", "series.csv", true},
    {"nodes", "nodes.csv", true},
};

}  // namespace

std::span<const OutputFile> output_files() { return kOutputFiles; }

std::string_view file_of(std::string_view name) {
  const auto* const found = std::ranges::find(kOutputFiles, name, &OutputFile::name);
  INVARIANT(found != std::end(kOutputFiles), "no output is named '{}'", name);
  return found->file;
}

const std::set<std::string>& output_names() {
  static const std::set<std::string> kNames = [] {
    std::set<std::string> names;
    for (const OutputFile& output : kOutputFiles) names.emplace(output.name);
    return names;
  }();
  return kNames;
}

std::string output_list(bool remade) {
  std::vector<std::string_view> names;
  for (const OutputFile& output : kOutputFiles)
    if (output.is_remade || !remade) names.push_back(output.name);
  return fmt::format("{}", fmt::join(names, ","));
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
