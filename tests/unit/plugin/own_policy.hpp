// Helpers for the tests of user-written policies: where they are built, and the fault that ends a run.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/plugin/fault.hpp"
#include "scheduler/plugin/resolver.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {

inline std::string example(const std::string& name) { return std::string{REPLAY_EXAMPLE_POLICY_DIR "/"} + name; }
inline std::string built_for_tests(const std::string& name) { return std::string{REPLAY_TEST_POLICY_DIR "/"} + name; }
inline std::string python_example(const std::string& arguments = "") {
  return std::string{"exec:{python3 " REPLAY_SOURCE_DIR "/scheduler/plugin/examples/list_policy.py"} +
         (arguments.empty() ? "" : " " + arguments) + "}";
}
inline std::string molding_python_example() {
  return "exec:{python3 " REPLAY_SOURCE_DIR "/scheduler/plugin/examples/molding_policy.py}";
}
inline bool has_python() { return shell("python3 -c 'import json'").status == 0; }

/// Two jobs at once on four cores: both cannot run together.
inline std::vector<TracedJob> two_jobs() {
  return {job(static_cast<char>(1)).cores(3).runs(1min), job(static_cast<char>(2)).cores(3).runs(1min)};
}

/// The message of the fault that ends this run; empty if it ends without one.
inline std::string fault_of(const std::string& policy, const std::vector<TracedJob>& jobs = two_jobs()) {
  try {
    (void)simulate(policy, cores(4), jobs);
  } catch (const plugin::PolicyFault& fault) {
    return fault.what();
  }
  return "";
}

/// Fixture that makes user-written policies known to make_policy().
class OwnPolicy : public testing::Test {
 protected:
  OwnPolicy() { plugin::add_to_policies(); }
};

}  // namespace replay::test
