// Parameters of policies: declared once with type, range, default, unit and source, read from
// `name:key=value:key=value`. The declarations feed --help, `replay policies` and the conformance tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

enum class ParameterType : std::uint8_t { kChoice, kInteger, kNumber, kNumbers, kDuration, kFile, kPolicy, kText };

struct ParameterSpec {
  std::string_view name;
  ParameterType type;
  std::string_view default_text;
  /// kChoice: "a|b|c"; kInteger, kNumber: "low..high" inclusive, or "low..high|word|..." for a number or one of those
  /// words;
  /// kNumbers: the same, and several numbers may be joined by '/';
  /// kFile: "FILE|word|...", the name of a file or one of those words; kText: what the policy reads; else empty.
  std::string_view range;
  std::string_view unit;  ///< empty if it has none
  std::string_view summary;
  std::string_view source;
};

/// A policy as written: its name and what was given for it, unchecked. Braces around a value are gone.
struct PolicyText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> given;
};

/// Splits a list at commas outside braces. Throws UsageError on unbalanced braces or an empty element.
[[nodiscard]] std::vector<std::string> split_policies(std::string_view list);

/// Reads `name:key=value:key={nested}`; a bare `key` means `key=true`. Throws UsageError.
[[nodiscard]] PolicyText parse_policy(std::string_view text);

class Policy;
using PolicyMaker = std::function<std::unique_ptr<Policy>(std::string_view text)>;

/// A value for every declared parameter, checked; kPolicy and kText values are checked by what uses them.
class Parameters {
 public:
  /// Throws UsageError naming policy, parameter, what was expected and what was found. `make` is for policy().
  Parameters(std::string_view policy, std::span<const ParameterSpec> specs,
             std::span<const std::pair<std::string, std::string>> given, PolicyMaker make = {});

  /// REQUIRES for each: declared, with this type.
  [[nodiscard]] const std::string& choice(std::string_view name) const;
  /// The value beside the word that was given. REQUIRES: `words` has every word of the range.
  template <class Value>
  [[nodiscard]] Value choice(std::string_view name,
                             std::initializer_list<std::pair<std::string_view, Value>> words) const {
    const auto found = std::ranges::find(words, choice(name), &std::pair<std::string_view, Value>::first);
    INVARIANT(found != words.end(), "parameter '{}' has a word without a value: {}", name, choice(name));
    return found->second;
  }
  /// The greatest std::int64_t if the value is a word.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  /// At least one; nothing if the value is a word, which text() returns.
  [[nodiscard]] std::optional<std::vector<double>> numbers(std::string_view name) const;
  /// A kNumbers, kFile, kPolicy or kText value as written.
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] Duration duration(std::string_view name) const;
  /// Nothing if the value is a word. Throws UsageError if there is no file of this name.
  [[nodiscard]] std::optional<std::string> file(std::string_view name) const;
  /// Another policy of the kind that the value names. Throws as the registry does. REQUIRES: kPolicy.
  [[nodiscard]] std::unique_ptr<Policy> policy(std::string_view name) const;
  /// The files among all values.
  [[nodiscard]] std::vector<std::string> files() const;

  /// "key=value" for all parameters, defaults too, joined by ':'. A value with one of ":,{}" stands in braces.
  [[nodiscard]] std::string to_text() const;

 private:
  [[nodiscard]] const std::string& value(std::string_view name, ParameterType type) const;

  std::string policy_;
  std::span<const ParameterSpec> specs_;
  std::vector<std::string> values_;  // in the order of specs_
  PolicyMaker make_;
};

}  // namespace replay
