// What goes wrong with a policy of one's own ends the run: with a message that names the policy, the instant, what was
// expected and what was found.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "scheduler/model/units.hpp"

namespace replay::plugin {

class PolicyFault : public std::runtime_error {
 public:
  PolicyFault(std::string_view policy, Instant at, std::string_view what)
      : std::runtime_error(fmt::format("policy '{}' at {} s: {}", policy, to_text(at), what)) {}
};

}  // namespace replay::plugin
