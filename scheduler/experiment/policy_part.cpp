#include "scheduler/experiment/policy_part.hpp"

#include <fmt/core.h>

namespace replay::experiment {

std::optional<PolicyPart> part_for(std::string_view policy, const Traits& traits, const Machine& machine) {
  if (!traits.needs_equal_nodes || machine.has_equal_nodes()) return std::nullopt;
  PolicyPart part{equal_part(machine), {}};
  part.note =
      fmt::format("{} needs equal nodes: of {} it has {}, and {} of {} cores are left out", policy, machine.to_text(),
                  part.machine.to_text(), machine.size() - part.machine.size(), machine.size());
  return part;
}

}  // namespace replay::experiment
