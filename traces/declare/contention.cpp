#include "traces/declare/contention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/contention.hpp"
#include "traces/declare/chance.hpp"
#include "traces/declare/text.hpp"

namespace replay {
namespace {

constexpr CoreCount kMostCores = 4096;

// The nearest power of two by ratio: x and 2^k are nearest while x < 2^k sqrt 2, and that is x^2 < 2 * 4^k.
double nearest_power_of_two(double x) {
  double power = 1;
  while (x * x >= 2 * power * power) power *= 2;
  return power;
}

[[noreturn]] void refuse(std::string_view text) {
  throw UsageError(
      fmt::format("--size-rule: expected glomarc:cores=N, N even and 4..{}, with or without "
                  ":round=power-of-two|integer, found '{}'",
                  kMostCores, text));
}

}  // namespace

void declare_contention(JobTraits& traits, std::int64_t job, Seed seed) {
  Rng source = job_rng(seed, "contention", job);
  traits.same_cpu_slowdown = kSameCpuSlowdowns.quantile(source.uniform());
  traits.same_node_slowdown = kSameNodeSlowdowns.quantile(source.uniform());
  traits.pair_key = job_rng(seed, "pair", job).next();
}

ProcessCount processes_per_node(ProcessCount old, double same_cpu, double same_node, const SizeRule& rule) {
  if (old == 1) return 1;
  if (same_cpu * same_node <= kMaxSlowdown) return processes_at(rule.cores, 1);
  return same_node <= kSelfSlowdownOfTwo ? processes_at(rule.cores / 2, 1) : ProcessCount{1};
}

ProcessCount size_on_nodes(ProcessCount old, double same_cpu, double same_node, const SizeRule& rule, int nodes) {
  const ProcessCount per_node = processes_per_node(old, same_cpu, same_node, rule);
  if (per_node == 1) return old;
  const double slowdown = per_node == processes_at(rule.cores, 1) ? same_cpu * same_node : same_node;
  const double exact = static_cast<double>(old) * per_node / slowdown;
  const bool keep_power =
      rule.rounding == SizeRule::Rounding::kKeepPowersOfTwo && std::has_single_bit(static_cast<std::uint32_t>(old));
  const double rounded = keep_power ? nearest_power_of_two(exact) : std::floor(exact + 0.5);
  const double most = std::max(static_cast<double>(per_node) * nodes, static_cast<double>(old));
  return static_cast<ProcessCount>(std::min({rounded, most, 0x1p31 - 1}));
}

SizeRule parse_size_rule(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ':');
  if (words[0] != "glomarc" || words.size() < 2 || words.size() > 3) refuse(text);
  SizeRule rule;
  const auto [key, value] = parse_key_value(words[1]).value_or(KeyValue{});
  const double cores = parse_finite(value).value_or(0);
  if (key != "cores" || cores < 4 || cores > kMostCores || std::fmod(cores, 2) != 0) refuse(text);
  rule.cores = static_cast<CoreCount>(cores);
  if (words.size() == 3) {
    if (words[2] == "round=integer")
      rule.rounding = SizeRule::Rounding::kInteger;
    else if (words[2] != "round=power-of-two")
      refuse(text);
  }
  return rule;
}

std::string to_text(const SizeRule& rule) {
  return fmt::format("glomarc:cores={}:round={}", rule.cores,
                     rule.rounding == SizeRule::Rounding::kInteger ? "integer" : "power-of-two");
}

}  // namespace replay
