// Every policy there is, in one table. A new policy is one file, one line in registry.cpp and one test file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/policy/parameters.hpp"
#include "scheduler/policy/policy.hpp"

namespace replay {

struct PolicyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::span<const ParameterSpec> parameters;
  std::unique_ptr<Policy> (*make)(const Parameters&);
};

[[nodiscard]] std::span<const PolicyEntry> policies();

/// A policy that is ready to run.
struct NamedPolicy {
  std::string text;       ///< as it was written: names folders and tables
  std::string full_text;  ///< with every parameter, defaults too
  std::unique_ptr<Policy> policy;
};

/// Throws UsageError: unknown policy (with the nearest name), unknown parameter, value out of range.
[[nodiscard]] NamedPolicy make_policy(std::string_view text);

}  // namespace replay
