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

constexpr std::string_view kForms =
    "flat:CORES, NODESxCORES or NODESxPACKAGESxCORES, or several of these joined by '+' for nodes that differ";

std::int64_t parse_count(std::string_view text, std::string_view whole) {
  if (const auto count = parse_number<std::int64_t>(text, 1, kMostCores)) return *count;
  throw InputError(
      fmt::format("machine '{}': expected {}, with counts from 1 to {}, found '{}'", whole, kForms, kMostCores, text));
}

// "NODESxPACKAGESxCORES", "NODESxCORES"; `room` is what is left of the most cores that a machine may have.
NodeGroup parse_group(std::string_view text, std::string_view whole, std::int64_t& room) {
  std::vector<std::int64_t> counts;
  for (const std::string_view part : split(text, 'x')) counts.push_back(parse_count(part, whole));
  if (counts.size() != 2 && counts.size() != 3)
    throw InputError(fmt::format("machine '{}': expected {}, such as 16x2x2, found '{}'", whole, kForms, text));
  std::int64_t product = 1;
  for (const std::int64_t count : counts) product = product > room ? product : product * count;
  if (product > room) throw InputError(fmt::format("machine '{}': has more than {} cores", whole, kMostCores));
  room -= product;
  return {.nodes = static_cast<int>(counts.front()),
          .packages = counts.size() == 3 ? static_cast<int>(counts[1]) : 1,
          .cores_per_package = static_cast<int>(counts.back())};
}

}  // namespace

Machine Machine::pool(CoreCount cores) {
  INVARIANT(cores >= 1, "a pool of {} cores", cores);
  Machine machine;
  machine.size_ = cores;
  machine.groups_ = {{.nodes = 1, .packages = 1, .cores_per_package = cores}};
  return machine;
}

Machine Machine::cluster(int nodes, int packages_per_node, int cores_per_package) {
  const NodeGroup all{.nodes = nodes, .packages = packages_per_node, .cores_per_package = cores_per_package};
  return of({&all, 1});
}

Machine Machine::of(std::span<const NodeGroup> groups) {
  INVARIANT(!groups.empty(), "a machine without nodes");
  Machine machine;
  for (const NodeGroup& group : groups) {
    INVARIANT(group.nodes >= 1 && group.packages >= 1 && group.cores_per_package >= 1, "nodes of {}x{}x{}", group.nodes,
              group.packages, group.cores_per_package);
    NodeGroup* const last = machine.groups_.empty() ? nullptr : &machine.groups_.back();
    const NodeId first{last == nullptr ? 0 : machine.nodes()};
    if (last != nullptr && last->packages == group.packages && last->cores_per_package == group.cores_per_package) {
      last->nodes += group.nodes;
    } else {
      machine.groups_.push_back(group);
      machine.groups_.back().first_node = first;
      machine.groups_.back().first_core = CoreId{number(machine.size_)};
    }
    machine.size_ += group.nodes * group.cores_per_node();
  }
  machine.node_of_.reserve(static_cast<std::size_t>(machine.size_));
  for (int node = 0; node < machine.nodes(); ++node)
    machine.node_of_.insert(machine.node_of_.end(), static_cast<std::size_t>(machine.cores_of(NodeId{node}).size()),
                            NodeId{node});
  return machine;
}

CoreCount Machine::cores_per_node() const {
  INVARIANT(has_equal_nodes(), "the nodes of {} have no size in common", to_text());
  return groups_.front().cores_per_node();
}

std::string Machine::to_text() const {
  if (!names_cores()) return fmt::format("flat:{}", size_);
  std::string text;
  for (const NodeGroup& group : groups_)
    text += fmt::format("{}{}x{}x{}", text.empty() ? "" : "+", group.nodes, group.packages, group.cores_per_package);
  return text;
}

Machine Machine::parse(std::string_view text) {
  if (text.starts_with(kFlat)) return pool(static_cast<CoreCount>(parse_count(text.substr(kFlat.size()), text)));
  std::vector<NodeGroup> groups;
  std::int64_t room = kMostCores;
  for (const std::string_view group : split(text.starts_with(kEmulated) ? text.substr(kEmulated.size()) : text, '+'))
    groups.push_back(parse_group(group, text, room));
  return of(groups);
}

bool Machine::is_for_parse(std::string_view text) {
  if (text.starts_with(kFlat) || text.starts_with(kEmulated) || text.find('+') != std::string_view::npos) return true;
  return text != "local" && text.find(':') == std::string_view::npos;
}

}  // namespace replay
