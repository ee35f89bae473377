#include "scheduler/model/declaration.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {
namespace {

// S'(f n) / f = S(n) as near as the law can.
SpeedupCurve scaled_curve(const SpeedupCurve& curve, const SizeChange& change) {
  if (const auto* downey = std::get_if<DowneySpeedup>(&curve.law()))
    return SpeedupCurve{DowneySpeedup{std::max(1.0, downey->a * change.factor), downey->sigma}};
  if (const auto* points = std::get_if<ThreePointSpeedup>(&curve.law()))
    return SpeedupCurve{ThreePointSpeedup{change.own(points->optimum), points->efficiency}};
  return curve;
}

}  // namespace

void scale_sizes(Declaration& declaration, ProcessCount submitted, const SizeChange& change) {
  auto& [least, most, sizes, speedup, same_cpu, same_node, pair_key] = declaration;
  const ProcessCount after = change.own(submitted);
  const bool was_within = (!least || *least <= submitted) && (!most || submitted <= *most);
  if (least) least = was_within ? std::min(change.others(*least), after) : change.others(*least);
  if (most) most = was_within ? std::max(change.others(*most), after) : change.others(*most);
  for (ProcessCount& size : sizes) size = size == submitted ? after : change.others(size);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (speedup) speedup = scaled_curve(*speedup, change);
}

std::string sizes_text(const std::vector<ProcessCount>& sizes) { return fmt::format("{}", fmt::join(sizes, "|")); }

std::optional<std::vector<ProcessCount>> parse_sizes(std::string_view text) {
  std::vector<ProcessCount> sizes;
  for (const std::string_view part : split(text, '|')) {
    const auto next = parse_number<ProcessCount>(part);
    if (!next || *next < 1 || (!sizes.empty() && *next <= sizes.back())) return std::nullopt;
    sizes.push_back(*next);
  }
  return sizes;
}

}  // namespace replay
