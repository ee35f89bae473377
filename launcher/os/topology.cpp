#include "launcher/os/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "launcher/os/cgroup.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::launcher {
namespace {

constexpr int kMostIndex = 8191;  // no Linux has more

Topology new_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::runtime_error("hwloc: cannot create a topology");
  return Topology{raw};
}

int count_of(const Topology& topology, hwloc_obj_type_t type) { return hwloc_get_nbobjs_by_type(topology.get(), type); }

/// One core to use: the hardware thread that stands for it, and where it lies.
struct Place {
  PuId pu;
  int core;     ///< logical index, -1: hwloc knows no cores here
  int package;  ///< logical index, 0 where hwloc knows no packages
};

int logical_index_above(const Topology& topology, hwloc_obj_t pu, hwloc_obj_type_t type, int otherwise) {
  const hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(topology.get(), type, pu);
  return above != nullptr ? static_cast<int>(above->logical_index) : otherwise;
}

/// Every hardware thread, in hwloc's order: package by package, core by core.
std::vector<Place> all_places(const Topology& topology) {
  std::vector<Place> places;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_PU, pu)) != nullptr;)
    places.push_back({PuId{static_cast<int>(pu->os_index)}, logical_index_above(topology, pu, HWLOC_OBJ_CORE, -1),
                      logical_index_above(topology, pu, HWLOC_OBJ_PACKAGE, 0)});
  return places;
}

bool has(const std::vector<PuId>& ascending, PuId value) { return std::ranges::binary_search(ascending, value); }

std::string list_text(const std::vector<PuId>& pus) { return fmt::format("{}", fmt::join(numbers(pus), ",")); }

/// The user's list, each entry checked.
std::vector<Place> places_asked_for(const std::vector<Place>& all, const std::vector<PuId>& wanted,
                                    const Limits& limits, std::string_view spec, bool smt) {
  std::vector<Place> chosen;
  std::map<int, PuId> pu_of_core;
  for (const PuId pu : wanted) {
    const auto there = std::ranges::find(all, pu, &Place::pu);
    if (there == all.end())
      throw InputError(fmt::format(
          "machine '{}': this machine has no core {}; it has {} hardware threads, see `lstopo`", spec, pu, all.size()));
    if (!has(limits.mask, pu))
      throw InputError(
          fmt::format("machine '{}': core {} is outside this process's affinity mask ({}); start without "
                      "taskset, or name other cores",
                      spec, pu, list_text(limits.mask)));
    const auto [other, fresh] = pu_of_core.emplace(there->core, pu);
    if (!smt && !fresh && there->core >= 0)
      throw InputError(
          fmt::format("machine '{}': {} and {} are hardware threads of one core; name one of them, or count "
                      "threads with --smt",
                      spec, other->second, pu));
  }
  for (const Place& place : all)
    if (has(wanted, place.pu)) chosen.push_back(place);
  return chosen;
}

/// All cores that the mask leaves, each by its first usable thread.
std::vector<Place> places_in_mask(const std::vector<Place>& all, const Limits& limits, bool smt) {
  std::vector<Place> chosen;
  std::set<int> seen;
  for (const Place& place : all) {
    if (!has(limits.mask, place.pu)) continue;
    if (smt || place.core < 0 || seen.insert(place.core).second) chosen.push_back(place);
  }
  return chosen;
}

void apply_quota(std::vector<Place>& places, const Limits& limits, std::vector<std::string>& notes) {
  if (!limits.quota) return;
  const auto granted = static_cast<std::size_t>(std::max(1.0, std::floor(*limits.quota + 1e-9)));
  if (granted >= places.size()) return;
  notes.push_back(fmt::format("the control group grants {:.4g} cores' worth of time: using {} of {} cores",
                              *limits.quota, granted, places.size()));
  places.resize(granted);
}

/// 1 x packages x cores where every package has equally many of them, else 1 x 1 x cores.
Machine machine_of(const std::vector<Place>& places) {
  std::map<int, int> cores_of_package;
  for (const Place& place : places) ++cores_of_package[place.package];
  const int first = cores_of_package.begin()->second;
  const bool regular = std::ranges::all_of(cores_of_package, [first](const auto& p) { return p.second == first; });
  if (regular) return Machine::cluster(1, static_cast<int>(cores_of_package.size()), first);
  return Machine::cluster(1, 1, static_cast<int>(places.size()));
}

}  // namespace

void TopologyDeleter::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

Topology load_topology() {
  Topology topology = new_topology();
  if (hwloc_topology_load(topology.get()) != 0) throw std::runtime_error("hwloc: cannot read this machine's topology");
  return topology;
}

Topology load_synthetic(const std::string& description) {
  Topology topology = new_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0)
    throw InputError(fmt::format(
        "machine '{}': expected hwloc's synthetic notation, such as \"group:16 pack:2 core:2 pu:1\"", description));
  return topology;
}

std::vector<PuId> parse_core_list(std::string_view text) {
  const auto bad = [text](std::string_view part) {
    return InputError(fmt::format("core list '{}': expected OS indices such as 0-3,5, found '{}'", text, part));
  };
  std::set<PuId> pus;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto number = [&](std::string_view digits) {
      const auto value = parse_number<int>(digits, 0, kMostIndex);
      if (!value) throw bad(part);
      return *value;
    };
    const int first = number(part.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (last < first) throw bad(part);
    for (int pu = first; pu <= last; ++pu)
      if (!pus.insert(PuId{pu}).second)
        throw InputError(fmt::format("core list '{}': expected each core once, found {} again", text, pu));
  }
  return {pus.begin(), pus.end()};
}

std::vector<PuId> affinity_mask() {
  for (std::size_t bits = 1024; bits <= std::size_t{1} << 20U; bits *= 2) {
    cpu_set_t* set = CPU_ALLOC(bits);
    const std::size_t size = CPU_ALLOC_SIZE(bits);
    const bool ok = ::sched_getaffinity(0, size, set) == 0;
    std::vector<PuId> mask;
    for (std::size_t cpu = 0; ok && cpu < bits; ++cpu)
      if (CPU_ISSET_S(cpu, size, set)) mask.push_back(PuId{static_cast<int>(cpu)});
    CPU_FREE(set);
    if (ok) return mask;
  }
  throw std::runtime_error("cannot read this process's affinity mask");
}

void leave_cores(const std::vector<PuId>& cores) {
  cpu_set_t spare;
  CPU_ZERO(&spare);
  for (const PuId pu : affinity_mask())
    if (std::ranges::find(cores, pu) == cores.end()) CPU_SET(index_of(pu), &spare);
  if (CPU_COUNT(&spare) > 0) ::sched_setaffinity(0, sizeof spare, &spare);  // best effort: a failure here is harmless
}

LocalMachine discover(const Topology& topology, const Limits& limits, std::string_view spec, bool smt) {
  const std::vector<Place> all = all_places(topology);
  std::vector<Place> places;
  if (spec == "local") {
    places = places_in_mask(all, limits, smt);
  } else if (spec.starts_with("local:")) {
    places = places_asked_for(all, parse_core_list(spec.substr(6)), limits, spec, smt);
  } else {
    throw InputError(fmt::format("machine '{}': expected local or local:CORES, such as local:0-3,5", spec));
  }
  if (places.empty()) throw InputError(fmt::format("machine '{}': no core is left to run on", spec));
  LocalMachine local;
  apply_quota(places, limits, local.notes);
  local.machine = machine_of(places);
  for (const Place& place : places) local.pu_of_core.push_back(place.pu);
  return local;
}

LocalMachine discover_local(std::string_view spec, bool smt) {
  return discover(load_topology(), {affinity_mask(), cgroup_cpu_quota()}, spec, smt);
}

Machine synthetic_machine(const std::string& description) {
  const Topology topology = load_synthetic(description);
  // hwloc drops groups that add no structure, so their count is read from the text that it has just accepted.
  int nodes = 1;
  const std::size_t colon = description.find(':');
  const std::string first = lower_case(description.substr(0, colon));
  if (colon != std::string::npos && first.starts_with("group"))
    std::from_chars(description.data() + colon + 1, description.data() + description.size(), nodes);
  const int cores = std::max(count_of(topology, HWLOC_OBJ_CORE), 0) > 0 ? count_of(topology, HWLOC_OBJ_CORE)
                                                                        : count_of(topology, HWLOC_OBJ_PU);
  const int packages = std::max(count_of(topology, HWLOC_OBJ_PACKAGE), nodes);
  if (nodes < 1 || packages % nodes != 0 || cores % packages != 0)
    throw InputError(fmt::format("machine '{}': expected equal nodes, found {} nodes, {} packages, {} cores",
                                 description, nodes, packages, cores));
  return Machine::cluster(nodes, packages / nodes, cores / packages);
}

}  // namespace replay::launcher
