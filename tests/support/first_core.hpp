// A machine of one core for tests of the program, wherever this process may run.
#pragma once

#include <fmt/core.h>

#include <string>

#include "launcher/os/topology.hpp"

namespace replay::test {

/// The first core that this process may use, by OS index: "0".
[[nodiscard]] inline std::string first_core() { return fmt::format("{}", launcher::affinity_mask().front()); }

}  // namespace replay::test
