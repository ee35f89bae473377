// Policies of one's own, by what is written after --policy: `PATH.so[:key=value...]` and `exec:CMD[:timeout=T]`.
#pragma once

#include <optional>
#include <string_view>

#include "scheduler/policy/registry.hpp"

namespace replay::plugin {

/// Nothing if `text` is neither. Throws InputError (a file or program is not there or not right) and UsageError.
[[nodiscard]] std::optional<NamedPolicy> resolve(std::string_view text);

/// Whether resolve() would take it for code of one's own: a shared object or a program. Loads and starts nothing. Throws UsageError on
/// a brace without its partner.
[[nodiscard]] bool is_code(std::string_view text);

/// From now on make_policy() knows them. Call it before there are threads; again does nothing.
void add_to_policies();

/// Two lines for lists of policies.
[[nodiscard]] std::string_view own_policies_help();

}  // namespace replay::plugin
