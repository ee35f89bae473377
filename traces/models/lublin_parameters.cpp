#include "traces/models/lublin_parameters.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "traces/models/portable_math.hpp"

namespace replay {

std::string_view to_text(LublinKind kind) {
  constexpr std::string_view kNames[] = {"typeless", "interactive", "batch"};
  return kNames[static_cast<std::size_t>(kind)];
}

LublinParameters default_lublin_parameters(LublinKind kind, CoreCount machine_size) {
  LublinParameters result;
  for (const LublinParameter& p : kLublinParameters) result.*p.member = p.value[static_cast<std::size_t>(kind)];
  if (machine_size == kLublinMachineSize) return result;
  const double larger = portable::log2(machine_size) - portable::log2(kLublinMachineSize);
  result.uhi = std::max(result.uhi + larger, 0.0);
  result.umed = std::max(result.umed + larger, 0.0);
  result.ulow = std::min(result.ulow, result.uhi);
  result.umed = std::max(result.umed, result.ulow);
  return result;
}

LublinParameters lublin_parameters(LublinKind kind, CoreCount machine_size, const GivenLublinParameters& given) {
  LublinParameters result = default_lublin_parameters(kind, machine_size);
  const double distance = result.uhi - result.umed;
  bool umed_given = false;
  bool uhi_given = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    const auto member = kLublinParameters[i].member;
    result.*member = *given[i];
    umed_given |= member == &LublinParameters::umed;
    uhi_given |= member == &LublinParameters::uhi;
  }
  if (uhi_given && !umed_given) result.umed = std::max(result.uhi - distance, result.ulow);
  return result;
}

void check_lublin_parameters(const LublinParameters& parameters, CoreCount machine_size, std::string_view prefix) {
  for (const LublinParameter& p : kLublinParameters) {
    const double value = parameters.*p.member;
    if (!(value >= p.least && value <= p.most))
      throw UsageError(fmt::format("{}{}: expected {} to {}, found {}", prefix, p.name, p.least, p.most, value));
  }
  if (!(parameters.ulow <= parameters.umed && parameters.umed <= parameters.uhi))
    throw UsageError(fmt::format("{}ulow, umed, uhi: expected ascending values, found {:.4g}, {:.4g}, {:.4g}", prefix,
                                 parameters.ulow, parameters.umed, parameters.uhi));
  const double widest = portable::log2(machine_size);
  if (parameters.uhi > widest + 1e-9)
    throw UsageError(fmt::format("{}uhi: expected at most log2 of the machine size {}, {:.4f}, found {}", prefix,
                                 machine_size, widest, parameters.uhi));
}

}  // namespace replay
