// The failure of a user-written policy. It ends the run, with a message that names the policy, the instant, what was
// expected and what was found.
#pragma once

#include <fmt/core.h>

#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/model/units.hpp"

namespace replay::plugin {

class PolicyFault : public PolicyError {
 public:
  PolicyFault(std::string_view policy, Instant at, std::string_view what)
      : PolicyError(clean_lines(fmt::format("policy '{}' at {} s: {}", policy, to_text(at), what))) {}
};

}  // namespace replay::plugin
