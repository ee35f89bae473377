// The cores that jobs may use. hwloc reads what the machine has; the process's affinity mask, its control group's quota
// and the user's list limit it. A core is a physical one, represented by its first usable hardware thread, because two
// ranks on the two threads of a core would slow each other down in a way that no policy asked for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/os/pu_id.hpp"
#include "scheduler/model/machine.hpp"

struct hwloc_topology;

namespace replay::launcher {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const;
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

/// This machine's (or what HWLOC_SYNTHETIC and HWLOC_XMLFILE say). 5 to 100 ms. Throws std::runtime_error.
[[nodiscard]] Topology load_topology();
/// hwloc's synthetic notation, such as "pack:2 core:4 pu:2". Throws InputError.
[[nodiscard]] Topology load_synthetic(const std::string& description);

/// The cores of this machine that jobs may run on.
struct LocalMachine {
  Machine machine = Machine::pool(1);
  /// By core: the hardware thread that stands for it. In hwloc's order, so that the cores of a package are neighbours;
  /// OS indices need not ascend.
  std::vector<PuId> pu_of_core;
  std::vector<std::string> notes;  ///< what was left out and why, one line each, for the user
};

struct Limits {
  std::vector<PuId> mask;       ///< hardware threads that the process may run on, ascending
  std::optional<double> quota;  ///< cores' worth of time
};

/// Of this process, ascending.
[[nodiscard]] std::vector<PuId> affinity_mask();

/// Keeps this process, and those that it starts, off these cores, if there is another one in its mask.
void leave_cores(const std::vector<PuId>& cores);

/// `spec` is "local" or "local:CORES", CORES being OS indices such as "0-3,5". With `smt` each hardware thread counts.
/// A list of the user's own is taken in hwloc's order. Throws InputError: bad list, not there, not in the mask.
[[nodiscard]] LocalMachine discover_local(std::string_view spec, bool smt = false);
/// The same for any topology and limits.
[[nodiscard]] LocalMachine discover(const Topology& topology, const Limits& limits, std::string_view spec, bool smt);

/// A machine to simulate on, from hwloc's synthetic notation; a first level of groups is the nodes:
/// "group:16 pack:2 core:2 pu:1" is 16x2x2. Throws InputError.
[[nodiscard]] Machine synthetic_machine(const std::string& description);

/// "0-3,5" -> 0 1 2 3 5, ascending. Throws InputError.
[[nodiscard]] std::vector<PuId> parse_core_list(std::string_view text);

}  // namespace replay::launcher
