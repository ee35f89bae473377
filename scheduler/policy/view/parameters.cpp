#include "scheduler/policy/view/parameters.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {
namespace {

// Splits at `separator` outside braces.
std::vector<std::string> split_outside_braces(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (c == '}' && --depth < 0) throw UsageError(fmt::format("policy '{}': a '}}' closes no '{{'", text));
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (depth != 0) throw UsageError(fmt::format("policy '{}': a '{{' is not closed", text));
  return parts;
}

template <typename Number>
bool in_range(Number value, std::string_view range) {
  const std::size_t dots = range.find("..");
  const auto low = parse_number<Number>(range.substr(0, dots));
  const auto high = parse_number<Number>(range.substr(dots + 2));
  return (!low || value >= *low) && (!high || value <= *high);  // an open side is empty
}

// "1..9|all|none" has numbers and words.
std::string_view numbers_of(std::string_view range) { return range.substr(0, range.find('|')); }
std::string_view words_of(std::string_view range) {
  const std::size_t bar = range.find('|');
  return bar == std::string_view::npos ? std::string_view{} : range.substr(bar + 1);
}
bool is_word(std::string_view range, std::string_view value) {
  return !value.empty() && std::ranges::count(split(words_of(range), '|'), value) > 0;
}
std::string with_words(std::string kind, std::string_view range) {
  const std::string_view words = words_of(range);
  return words.empty() ? kind : fmt::format("{} or {}", kind, fmt::join(split(words, '|'), " or "));
}
std::string expected_number(std::string_view kind, std::string_view range) {
  return with_words(fmt::format("{} in {}", kind, numbers_of(range)), range);
}

std::string expectation(const ParameterSpec& spec) {
  switch (spec.type) {
    case ParameterType::kChoice: return fmt::format("one of {}", spec.range);
    case ParameterType::kInteger: return expected_number("a whole number", spec.range);
    case ParameterType::kNumber: return expected_number("a number", spec.range);
    case ParameterType::kNumbers: return expected_number("a number, or several joined by '/', each", spec.range);
    case ParameterType::kDuration: return "a duration such as 90s, 5min or 2h";
    case ParameterType::kFile: return with_words("the name of a file", spec.range);
    case ParameterType::kPolicy: return "a policy";
    case ParameterType::kText: return std::string{spec.range};
  }
  return "?";
}

bool is_valid(const ParameterSpec& spec, std::string_view value) {
  if (spec.type != ParameterType::kChoice && is_word(spec.range, value)) return true;
  switch (spec.type) {
    case ParameterType::kChoice: return std::ranges::count(split(spec.range, '|'), value) > 0;
    case ParameterType::kInteger: {
      const auto number = parse_number<std::int64_t>(value);
      return number && in_range(*number, numbers_of(spec.range));
    }
    case ParameterType::kNumber: {
      const auto number = parse_number<double>(value);
      return number && in_range(*number, numbers_of(spec.range));
    }
    case ParameterType::kNumbers:
      return std::ranges::all_of(split(value, '/'), [&](std::string_view part) {
        const auto number = parse_number<double>(part);
        return number && in_range(*number, numbers_of(spec.range));
      });
    case ParameterType::kDuration: {
      const auto duration = parse_duration(value);
      return duration && duration->count() >= 0;
    }
    case ParameterType::kFile:
    case ParameterType::kPolicy:
    case ParameterType::kText: return !value.empty();
  }
  return false;
}

}  // namespace

std::vector<std::string> split_policies(std::string_view list) {
  std::vector<std::string> policies = split_outside_braces(list, ',');
  for (const std::string& policy : policies)
    if (policy.empty()) throw UsageError(fmt::format("policy list '{}': expected a name between commas", list));
  return policies;
}

PolicyText parse_policy(std::string_view text) {
  const std::vector<std::string> parts = split_outside_braces(text, ':');
  PolicyText policy{parts[0], {}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    std::string key = parts[i].substr(0, equals);
    std::string value = equals == std::string::npos ? "true" : parts[i].substr(equals + 1);
    if (key.empty())
      throw UsageError(fmt::format("policy '{}': expected key=value after ':', found '{}'", text, parts[i]));
    if (value.starts_with('{') && value.ends_with('}')) value = value.substr(1, value.size() - 2);
    policy.given.emplace_back(std::move(key), std::move(value));
  }
  return policy;
}

Parameters::Parameters(std::string_view policy, std::span<const ParameterSpec> specs,
                       std::span<const std::pair<std::string, std::string>> given, PolicyMaker make)
    : policy_(policy), specs_(specs), make_(std::move(make)) {
  std::vector<std::string_view> known;
  for (const ParameterSpec& spec : specs) {
    known.push_back(spec.name);
    values_.emplace_back(spec.default_text);
  }
  std::vector<bool> seen(specs.size(), false);
  for (const auto& [key, value] : given) {
    const auto found = std::ranges::find(known, key);
    if (found == known.end()) {
      if (known.empty()) throw UsageError(fmt::format("policy '{}' has no parameters, found '{}'", policy, key));
      throw UsageError(fmt::format("policy '{}' has no parameter '{}'{}", policy, key, suggestion(key, known)));
    }
    const auto at = static_cast<std::size_t>(found - known.begin());
    if (seen[at]) throw UsageError(fmt::format("policy '{}': parameter '{}' is given twice", policy, key));
    seen[at] = true;
    if (!is_valid(specs[at], value))
      throw UsageError(fmt::format("policy '{}', parameter '{}': expected {}, found '{}'", policy, key,
                                   expectation(specs[at]), value));
    values_[at] = value;
  }
}

const std::string& Parameters::value(std::string_view name, ParameterType type) const {
  const auto found = std::ranges::find(specs_, name, &ParameterSpec::name);
  INVARIANT(found != specs_.end() && found->type == type, "parameter '{}' is not declared so", name);
  return values_[static_cast<std::size_t>(found - specs_.begin())];
}

const std::string& Parameters::choice(std::string_view name) const { return value(name, ParameterType::kChoice); }

std::int64_t Parameters::integer(std::string_view name) const {
  const auto number = parse_number<std::int64_t>(value(name, ParameterType::kInteger));
  return number.value_or(std::numeric_limits<std::int64_t>::max());
}

double Parameters::number(std::string_view name) const {
  return *parse_number<double>(value(name, ParameterType::kNumber));
}

std::optional<std::vector<double>> Parameters::numbers(std::string_view name) const {
  std::vector<double> numbers;
  for (const std::string_view part : split(text(name), '/')) {
    const auto number = parse_number<double>(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

const std::string& Parameters::text(std::string_view name) const {
  constexpr ParameterType kTexts[] = {ParameterType::kNumbers, ParameterType::kFile, ParameterType::kPolicy,
                                      ParameterType::kText};
  const auto found = std::ranges::find(specs_, name, &ParameterSpec::name);
  const bool is_text = found != specs_.end() && std::ranges::find(kTexts, found->type) != std::end(kTexts);
  return value(name, is_text ? found->type : ParameterType::kText);
}

std::unique_ptr<Policy> Parameters::policy(std::string_view name) const {
  const std::string& text = value(name, ParameterType::kPolicy);
  INVARIANT(make_, "parameter '{}' of policy '{}' is a policy that nothing can make", name, policy_);
  return make_(text);
}

Duration Parameters::duration(std::string_view name) const {
  return *parse_duration(value(name, ParameterType::kDuration));
}

std::optional<std::string> Parameters::file(std::string_view name) const {
  const std::string& text = value(name, ParameterType::kFile);
  const ParameterSpec& spec = *std::ranges::find(specs_, name, &ParameterSpec::name);
  if (is_word(spec.range, text)) return std::nullopt;
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored))
    throw UsageError(fmt::format("policy '{}', parameter '{}': expected {}, found '{}', which is no file", policy_,
                                 name, expectation(spec), text));
  return text;
}

std::vector<std::string> Parameters::files() const {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (specs_[i].type == ParameterType::kFile && !is_word(specs_[i].range, values_[i])) files.push_back(values_[i]);
  return files;
}

std::string Parameters::to_text() const {
  std::string text;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const bool in_braces = values_[i].find_first_of(":,{}") != std::string::npos;
    add_item(text, ":", "{}={}{}{}", specs_[i].name, in_braces ? "{" : "", values_[i], in_braces ? "}" : "");
  }
  return text;
}

}  // namespace replay
