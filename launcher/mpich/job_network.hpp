// The network in which a job's mpiexec listens. Hydra 4.0.2 listens on all addresses and checks no caller: one
// connection that is not its proxy's ends the job. So a job of one node gets a network namespace of its own, with
// nothing in it but a loopback device, which no other user's process can reach; where the system does not permit that,
// its ports are kept in a range that a firewall can close. See docs/adr/0016-a-network-of-its-own.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replay::launcher {

/// kOwn: a namespace for each job. kHost: the network of this machine.
enum class JobNetwork : std::uint8_t { kOwn, kHost };

/// Moves the calling process into a namespace of its own and brings its loopback device up. User and group stay the
/// same numbers. Only calls that are safe after fork(). False: errno says why, and the process must not go on.
/// REQUIRES: a single thread.
[[nodiscard]] bool enter_own_network();

/// Tries it in a child process. Nothing: it is permitted. Else the system's reason.
[[nodiscard]] std::optional<std::string> why_no_own_network();

/// Environment variables that keep the ports of mpiexec and of UCX, the ranks' transport, in 25000 to 29999. Those that
/// `environment` has already are left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> port_ranges(
    const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace replay::launcher
