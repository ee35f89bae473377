// The table of all policies. A new policy is its own files, which declare it (view/policy_entry.hpp), an entry in the
// list of registry.cpp, and a test.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// In the order in which they are shown.
[[nodiscard]] std::span<const PolicyEntry> policies();

/// A policy that is ready to run.
struct NamedPolicy {
  std::string text;       ///< as it was written: names folders and tables
  std::string full_text;  ///< with every parameter, defaults too
  std::unique_ptr<Policy> policy;
  std::vector<std::string> files = {};  ///< that it is made from, parameters that are files among them
  decltype(PolicyEntry::prepare) prepare = nullptr;

  /// What PolicyEntry::prepare makes of its text; nothing if there is nothing to prepare. Throws what `trial` throws.
  [[nodiscard]] std::optional<std::string> prepared(const TrialRun& trial) const {
    return prepare == nullptr ? std::nullopt : prepare(parse_policy(text), trial);
  }
};

/// Makes policies that are not in the table; nothing if `text` is none of them. Throws what make_policy() throws.
using PolicyResolver = std::optional<NamedPolicy> (*)(std::string_view text);

/// make_policy() calls it before it looks into the table. Call this at program start, before there are threads. A
/// resolver that is there already is not added again.
void add_policy_resolver(PolicyResolver resolver);

/// Throws UsageError: unknown policy (with the nearest name), unknown parameter, value out of range, a parameter's file
/// that is not there; InputError: wrong file of a parameter or of a plug-in policy.
[[nodiscard]] NamedPolicy make_policy(std::string_view text);
/// The full text of a policy of the table, which is not made: no file is read. Throws UsageError.
[[nodiscard]] std::string full_text_of(std::string_view text);

}  // namespace replay
