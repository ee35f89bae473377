// The random draws of declarations: each kind has a stream of its own, and in it each job a source of its own, so that
// what a job draws depends neither on the jobs before it nor on what else is declared. Cutting a trace and declaring
// commute.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "traces/models/random.hpp"

namespace replay {

/// What a job draws one kind of declaration from.
[[nodiscard]] Rng job_rng(Seed seed, std::string_view stream, std::int64_t job);

struct ConstantShare {
  double value = 1;
};
struct UniformShare {
  double low = 0, high = 1;  ///< low <= x < high
};
struct NormalShare {
  double mean = 0.5, deviation = 0.1;  ///< draws beyond 0..1 are repeated
};
/// A stated distribution of a share, such as a CPU utilisation: every value lies in 0..1.
using ShareDistribution = std::variant<ConstantShare, UniformShare, NormalShare>;

[[nodiscard]] double draw_share(const ShareDistribution& distribution, UniformSource& source);

/// "constant:0.6", "uniform:0.2:1" or "normal:0.6:0.2"; "uniform" alone is uniform:0:1. Nothing otherwise.
[[nodiscard]] std::optional<ShareDistribution> parse_share_distribution(std::string_view text);
[[nodiscard]] std::string to_text(const ShareDistribution& distribution);
/// What parse_share_distribution() expects, for messages.
inline constexpr std::string_view kShareDistributions = "constant:V, uniform:LOW:HIGH or normal:MEAN:DEVIATION in 0..1";

}  // namespace replay
