// A policy in a shared object (replay_policy.hpp). It lives in this process: its exceptions become error messages, a
// crash ends the process.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policy/view/policy.hpp"

namespace replay::plugin {

struct LoadedPolicy {
  std::unique_ptr<Policy> policy;
  std::string parameters;  ///< "key=value:key=value" with defaults, as the library says
};

/// Loads the shared object `path`, which stays loaded until the process ends, and makes its policy. `name` is what
/// messages call it. Throws InputError (no such file, not a shared object, without our symbol, of another ABI version or
/// layout of structs) and UsageError (parameters that the policy refuses).
[[nodiscard]] LoadedPolicy load_policy(const std::string& path, const std::string& name,
                                       const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace replay::plugin
