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
/// The interpreter itself, empty without one: `python3` may be a script that looks for it, in more time than an example runs.
inline const std::string& python() {
  static const std::string path = [] {
    const ShellResult asked = shell("python3 -c 'import json, sys; print(sys.executable, end=str())'");
    return asked.status == 0 ? asked.out : std::string{};
  }();
  return path;
}
inline bool has_python() { return !python().empty(); }
inline std::string python_example(const std::string& arguments = "") {
  return "exec:{" + python() + (" " REPLAY_SOURCE_DIR "/scheduler/plugin/examples/list_policy.py") +
         (arguments.empty() ? "" : " " + arguments) + "}";
}
inline std::string molding_python_example() {
  return "exec:{" + python() + " " REPLAY_SOURCE_DIR "/scheduler/plugin/examples/molding_policy.py}";
}

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
