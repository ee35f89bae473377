#include "traces/declare/estimates.hpp"

#include <fmt/format.h>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/declare/text.hpp"

namespace replay {
namespace {

constexpr double kMostFactor = 1e6;
constexpr std::string_view kPooled = "pooled";
constexpr Duration kMostLimit = std::chrono::hours{24 * 366 * 10};

FactorEstimates parse_factor(std::string_view text) {
  const auto factor = parse_finite(text);
  if (!factor || !(*factor > 0 && *factor <= kMostFactor))
    throw UsageError(fmt::format("--estimates factor: expected a number > 0 and <= {}, found '{}'", kMostFactor, text));
  return {*factor};
}

const TsafrirParameters* parse_parameters(std::string_view text) {
  if (text == kPooled) return nullptr;
  std::string known{kPooled};
  for (const TsafrirParameters& parameters : tsafrir_parameters()) {
    if (parameters.name == text) return &parameters;
    known.append(", ").append(parameters.name);
  }
  throw UsageError(fmt::format("--estimates tsafrir: parameters: expected one of {}, found '{}'", known, text));
}

TsafrirRule parse_tsafrir(std::span<const std::string_view> words) {
  TsafrirRule rule;
  for (const std::string_view word : words) {
    const auto [key, value] = parse_key_value(word).value_or(KeyValue{});
    if (key == "parameters") {
      rule.parameters = parse_parameters(value);
    } else if (key == "emax") {
      rule.limit = parse_duration(value);
      if (!rule.limit || *rule.limit < kLeastLimit || *rule.limit > kMostLimit)
        throw UsageError(fmt::format("--estimates tsafrir: emax: expected 1h or more, such as 18h, found '{}'", value));
    } else {
      throw UsageError(fmt::format("--estimates tsafrir: expected parameters=SET or emax=T, found '{}'", word));
    }
  }
  return rule;
}

}  // namespace

EstimateRule parse_estimates(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ':');
  if (text == "log") return LoggedEstimates{};
  if (text == "perfect") return PerfectEstimates{};
  if (words[0] == "factor" && words.size() == 2) return parse_factor(words[1]);
  if (words[0] == "tsafrir") return parse_tsafrir(std::span(words).subspan(1));
  throw UsageError(fmt::format(
      "--estimates: expected log, perfect, factor:F or tsafrir[:parameters=SET][:emax=T], found '{}'", text));
}

std::string to_text(const EstimateRule& rule) {
  if (std::holds_alternative<LoggedEstimates>(rule)) return "log";
  if (std::holds_alternative<PerfectEstimates>(rule)) return "perfect";
  if (const auto* factor = std::get_if<FactorEstimates>(&rule)) return fmt::format("factor:{}", factor->factor);
  const auto& tsafrir = std::get<TsafrirRule>(rule);
  std::string text =
      fmt::format("tsafrir:parameters={}", tsafrir.parameters != nullptr ? tsafrir.parameters->name : kPooled);
  if (tsafrir.limit) text += fmt::format(":emax={}s", to_text(*tsafrir.limit));
  return text;
}

}  // namespace replay
