// The hosts of a run, from a file with one line for each: docs/formats/hosts-file.md. The machine files of Hydra (HOST:N) and of
// batch systems (HOST once per slot, PBS_NODEFILE) are read, too. As soon as a file counts slots in one of these two ways, a
// bare HOST in it is one slot, as it is for them; otherwise it is the whole host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/os/pu_id.hpp"
#include "scheduler/base/file/byte_source.hpp"

namespace replay::launcher {

/// Virtual cores of one node.
struct EmulatedCores {
  int packages = 1;
  int cores = 1;  ///< of each package
  bool operator==(const EmulatedCores&) const = default;
};

/// At most one of slots, at_most, cores and emulated; none: all cores of the host, or those of the agent that runs
/// there.
struct Host {
  std::string host;            ///< a name or an IPv4 address: letters, digits, '.', '_' and '-', the last not in front
  std::optional<int> slots{};  ///< its first so many cores
  std::optional<int> at_most{};  ///< the same, or all of them if there are fewer (a batch system counts threads)
  std::vector<PuId> cores{};     ///< these, ascending
  std::optional<EmulatedCores> emulated{};
  std::string interface {};      ///< of the network between jobs' ranks; empty: not said
  std::uint16_t agent_port = 0;  ///< of an agent that runs already; 0: one is to be started
  bool operator==(const Host&) const = default;
};

inline constexpr std::size_t kMostHosts = 512;  // mpiexec 4.0.2 starts on 300, and refuses 1000

/// Only letters, digits, '.', '_' and '-', and no '-' in front: what no shell changes, and no program takes for an
/// option.
[[nodiscard]] bool is_host_name(std::string_view text);

/// In the order in which they first stand there, 1 to kMostHosts. Throws InputError, which names file, line and field.
[[nodiscard]] std::vector<Host> read_hosts(std::unique_ptr<ByteSource> source);
/// The same of words that a command line has for all hosts of a batch job, whose agents are started: messages name the
/// source and the word.
[[nodiscard]] std::vector<Host> read_hosts_of_job(std::unique_ptr<ByteSource> source);

}  // namespace replay::launcher
