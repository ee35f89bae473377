#include "traces/declare/chance.hpp"

#include <fmt/format.h>

#include <vector>

#include "scheduler/base/mix_bits.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/declare/text.hpp"
#include "traces/models/gamma.hpp"

namespace replay {
namespace {

bool is_share(double value) { return value >= 0 && value <= 1; }

// Far from 0..1, a normal distribution would be repeated for ever.
constexpr double kLeastDeviation = 0.001;

}  // namespace

Rng job_rng(Seed seed, std::string_view stream, std::int64_t job) {
  const std::uint64_t of_job = mix_bits(static_cast<std::uint64_t>(job));
  return Rng{Seed{mix_bits(static_cast<std::uint64_t>(seed) ^ of_job)}, stream};
}

double draw_share(const ShareDistribution& distribution, UniformSource& source) {
  if (const auto* constant = std::get_if<ConstantShare>(&distribution)) return constant->value;
  if (const auto* uniform = std::get_if<UniformShare>(&distribution))
    return uniform->low + (uniform->high - uniform->low) * source.uniform();
  const auto& normal = std::get<NormalShare>(distribution);
  for (;;) {
    const double value = normal.mean + normal.deviation * draw_normal(source);
    if (is_share(value)) return value;
  }
}

std::optional<ShareDistribution> parse_share_distribution(std::string_view text) {
  if (text == "uniform") return ShareDistribution{UniformShare{}};
  const std::vector<std::string_view> words = split(text, ':');
  std::vector<double> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = parse_finite(words[i]);
    if (!number || !is_share(*number)) return std::nullopt;
    numbers.push_back(*number);
  }
  if (words[0] == "constant" && numbers.size() == 1) return ShareDistribution{ConstantShare{numbers[0]}};
  if (words[0] == "uniform" && numbers.size() == 2 && numbers[0] <= numbers[1])
    return ShareDistribution{UniformShare{numbers[0], numbers[1]}};
  if (words[0] == "normal" && numbers.size() == 2 && numbers[1] >= kLeastDeviation)
    return ShareDistribution{NormalShare{numbers[0], numbers[1]}};
  return std::nullopt;
}

std::string to_text(const ShareDistribution& distribution) {
  if (const auto* constant = std::get_if<ConstantShare>(&distribution))
    return fmt::format("constant:{}", constant->value);
  if (const auto* uniform = std::get_if<UniformShare>(&distribution))
    return fmt::format("uniform:{}:{}", uniform->low, uniform->high);
  const auto& normal = std::get<NormalShare>(distribution);
  return fmt::format("normal:{}:{}", normal.mean, normal.deviation);
}

}  // namespace replay
