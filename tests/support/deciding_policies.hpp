// The policies of the table that decide themselves, for tests of what all of them have to keep.
#pragma once

#include <vector>

#include "scheduler/policy/registry.hpp"

namespace replay::test {

/// Without `logged`: it repeats what a log says, and the jobs that such tests make are of no log. logged_test.cpp has its
/// rules.
inline std::vector<PolicyEntry> deciding_policies() {
  std::vector<PolicyEntry> all;
  for (const PolicyEntry& entry : policies())
    if (!make_policy(entry.name).policy->traits().follows_log) all.push_back(entry);
  return all;
}

}  // namespace replay::test
