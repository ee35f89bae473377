#include "traces/declare/options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/declare/text.hpp"

namespace replay {
namespace {

constexpr double kMostSigmaFactor = 1000;

[[noreturn]] void refuse(std::string_view option, std::string_view expected, std::string_view found) {
  throw UsageError(fmt::format("{}: expected {}, found '{}'", option, expected, found));
}

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t most) {
  const double count = parse_finite(text).value_or(0);
  if (count < 1 || count > static_cast<double>(most) || std::trunc(count) != count)
    refuse(option, "a count >= 1", text);
  return static_cast<std::int64_t>(count);
}

ShareDistribution parse_distribution(std::string_view option, std::string_view text) {
  const auto distribution = parse_share_distribution(text);
  if (!distribution) refuse(option, kShareDistributions, text);
  return *distribution;
}

double parse_sigma_factor(std::string_view text) {
  const double factor = parse_finite(text).value_or(-1);
  if (factor < 0 || factor > kMostSigmaFactor) refuse("--sigma-factor", "a number 0..1000", text);
  return factor;
}

// Without shares, every job with a curve is moldable: the paper's 100 %.
void set_shares(FlexibilityRule& rule, const DeclareOptions& given) {
  if (!given.moldable.empty()) rule.moldable = parse_class_shares("--moldable", given.moldable);
  if (!given.malleable.empty()) rule.malleable = parse_class_shares("--malleable", given.malleable);
  if (given.moldable.empty() && given.malleable.empty()) rule.moldable.share.fill(1);
  for (std::size_t i = 0; i < rule.moldable.share.size(); ++i)
    if (rule.moldable.share[i] + rule.malleable.share[i] > 1 + 1e-9)
      throw UsageError(
          fmt::format("--moldable and --malleable: expected shares that sum to 1 at most, as no job is both, found {} "
                      "and {}",
                      to_text(rule.moldable), to_text(rule.malleable)));
}

std::optional<FlexibilityRule> flexibility_of(const DeclareOptions& given) {
  if (given.speedup.empty() && !given.moldable.empty())
    throw UsageError("--moldable: which sizes such a job runs at follows from --speedup, which is missing");
  const bool is_downey = given.speedup == word_of(kSpeedupModels, SpeedupModel::kDowney);
  for (const auto& [option, text] :
       {std::pair("--constraint", &given.constraint), {"--sigma-factor", &given.sigma_factor}})
    if (!text->empty() && !is_downey) throw UsageError(fmt::format("{}: only with --speedup downey", option));
  if (given.speedup.empty() && given.malleable.empty()) return std::nullopt;
  FlexibilityRule rule;
  if (!given.speedup.empty()) rule.speedup = value_of("--speedup", kSpeedupModels, given.speedup);
  if (!given.constraint.empty()) rule.sizes = value_of("--constraint", kOfferedSizes, given.constraint);
  if (!given.sigma_factor.empty()) rule.sigma_factor = parse_sigma_factor(given.sigma_factor);
  set_shares(rule, given);
  return rule;
}

std::optional<CpuUseRule> cpu_use_of(const DeclareOptions& given) {
  if (given.cpu_util.empty()) {
    if (!given.serial_cpu_util.empty()) throw UsageError("--serial-cpu-util: only with --cpu-util");
    return std::nullopt;
  }
  constexpr std::string_view kLoggedElse = "logged-else:";
  std::string_view text = given.cpu_util;
  CpuUseRule rule;
  rule.logged_first = text.starts_with(kLoggedElse);
  if (rule.logged_first) text.remove_prefix(kLoggedElse.size());
  rule.otherwise = parse_distribution("--cpu-util", text);
  if (!given.serial_cpu_util.empty()) rule.serial = parse_distribution("--serial-cpu-util", given.serial_cpu_util);
  return rule;
}

PriorityRule parse_priorities(std::string_view text) {
  constexpr std::string_view kExpected = "every=N,user=0..1,political=0..1 or political=-inf";
  const auto share = [&](std::string_view value) {
    const double number = parse_finite(value).value_or(-1);
    if (number < 0 || number > 1) refuse("--priority", kExpected, text);
    return number;
  };
  PriorityRule rule;
  for (const std::string_view word : split(text, ',')) {
    const auto [key, value] = parse_key_value(word).value_or(KeyValue{});
    if (key == "every")
      rule.every = parse_count("--priority every", value, std::int64_t{1} << 53);
    else if (key == "user")
      rule.user = share(value);
    else if (key == "political")
      rule.political = value == "-inf" ? -std::numeric_limits<double>::infinity() : share(value);
    else
      refuse("--priority", kExpected, text);
  }
  return rule;
}

}  // namespace

Declarations declarations_of(const DeclareOptions& given) {
  Declarations result;
  result.seed = Seed{given.seed};
  if (!given.machine_size.empty())
    result.machine = static_cast<CoreCount>(
        parse_count("--machine-size", given.machine_size, std::numeric_limits<CoreCount>::max()));
  result.flexibility = flexibility_of(given);
  if (!given.estimates.empty()) result.estimates = parse_estimates(given.estimates);
  result.cpu_use = cpu_use_of(given);
  if (!given.ov.empty()) result.network_overhead = parse_distribution("--ov", given.ov);
  if (!given.contention.empty() && given.contention != "table4") refuse("--contention", "table4", given.contention);
  result.contention = !given.contention.empty();
  if (!given.size_rule.empty()) result.sizes = parse_size_rule(given.size_rule);
  if (!given.priority.empty()) result.priorities = parse_priorities(given.priority);
  if (!result.flexibility && !result.estimates && !result.cpu_use && !result.network_overhead && !result.contention &&
      !result.sizes && !result.priorities && !given.with_others)
    throw UsageError("nothing to declare: see replay trace declare --help for what there is");
  return result;
}

}  // namespace replay
