// User-written policies, by what is written after --policy: `PATH.so[:key=value...]` and `exec:CMD[:timeout=T]`.
#pragma once

#include <optional>
#include <string_view>

#include "scheduler/policy/registry.hpp"

namespace replay::plugin {

/// Nothing if `text` is neither. Throws InputError (a file or program is missing or wrong) and UsageError.
[[nodiscard]] std::optional<NamedPolicy> resolve(std::string_view text);

/// Whether resolve() would take it for user-written code: a shared object or a program. Loads and starts nothing.
/// Throws UsageError on a brace without its partner.
[[nodiscard]] bool is_code(std::string_view text);

/// Adds resolve() to make_policy(). Call it before there are threads; calling it again does nothing.
void add_to_policies();

/// Two entries for lists of policies.
[[nodiscard]] std::string_view own_policies_help();

}  // namespace replay::plugin
