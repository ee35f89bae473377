#include "scheduler/model/machine.hpp"

#include <fmt/core.h>

#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {
namespace {

constexpr std::int64_t kMostCores = 100'000'000;
constexpr std::string_view kFlat = "flat:";
constexpr std::string_view kEmulated = "emulated:";

std::vector<std::int64_t> split_counts(std::string_view text, std::string_view whole) {
  std::vector<std::int64_t> counts;
  for (const std::string_view part : split(text, 'x')) {
    const auto value = parse_number<std::int64_t>(part, 1, kMostCores);
    if (!value)
      throw InputError(fmt::format(
          "machine '{}': expected flat:CORES, NODESxCORES or NODESxPACKAGESxCORES with counts from 1 to {}, found '{}'",
          whole, kMostCores, part));
    counts.push_back(*value);
  }
  return counts;
}

}  // namespace

Machine Machine::pool(CoreCount cores) {
  INVARIANT(cores >= 1, "a pool of {} cores", cores);
  Machine machine;
  machine.size_ = cores;
  return machine;
}

Machine Machine::cluster(int nodes, int packages_per_node, int cores_per_package) {
  INVARIANT(nodes >= 1 && packages_per_node >= 1 && cores_per_package >= 1, "a cluster of {}x{}x{}", nodes,
            packages_per_node, cores_per_package);
  Machine machine;
  machine.nodes_ = nodes;
  machine.packages_ = packages_per_node;
  const int per_node = packages_per_node * cores_per_package;
  machine.size_ = nodes * per_node;
  machine.node_of_.reserve(static_cast<std::size_t>(machine.size_));
  for (int node = 0; node < nodes; ++node)
    machine.node_of_.insert(machine.node_of_.end(), static_cast<std::size_t>(per_node), NodeId{node});
  return machine;
}

std::string Machine::to_text() const {
  if (!names_cores()) return fmt::format("flat:{}", size_);
  return fmt::format("{}x{}x{}", nodes_, packages_, cores_per_node() / packages_);
}

Machine Machine::parse(std::string_view text) {
  if (text.starts_with(kFlat)) {
    const auto counts = split_counts(text.substr(kFlat.size()), text);
    if (counts.size() == 1) return pool(static_cast<CoreCount>(counts[0]));
  } else {
    const auto counts = split_counts(text.starts_with(kEmulated) ? text.substr(kEmulated.size()) : text, text);
    std::int64_t product = 1;
    for (const std::int64_t count : counts) product = product > kMostCores ? product : product * count;
    if (product > kMostCores) throw InputError(fmt::format("machine '{}': has more than {} cores", text, kMostCores));
    if (counts.size() == 2) return cluster(static_cast<int>(counts[0]), 1, static_cast<int>(counts[1]));
    if (counts.size() == 3)
      return cluster(static_cast<int>(counts[0]), static_cast<int>(counts[1]), static_cast<int>(counts[2]));
  }
  throw InputError(
      fmt::format("machine '{}': expected flat:CORES, NODESxCORES or NODESxPACKAGESxCORES, such as 16x2x2", text));
}

bool Machine::is_for_parse(std::string_view text) {
  if (text.starts_with(kFlat) || text.starts_with(kEmulated)) return true;
  return text != "local" && text.find(':') == std::string_view::npos;
}

}  // namespace replay
