// The parameter `pass=event|instant` of policies that can follow either pass rule.
#pragma once

#include <string_view>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

[[nodiscard]] constexpr ParameterSpec pass_parameter(std::string_view default_text,
                                                     std::string_view source = "docs/adr/0006-pass-rules.md") {
  return {"pass",       ParameterType::kChoice,
          default_text, "event|instant",
          "",           "a pass after each event, submissions first, or one pass for all events of an instant",
          source};
}

/// REQUIRES: the policy declares pass_parameter().
[[nodiscard]] inline PassRule pass_rule_of(const Parameters& parameters) {
  return parameters.choice("pass") == "event" ? PassRule::kEvent : PassRule::kInstant;
}

}  // namespace replay
