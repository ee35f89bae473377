// The tests that every policy of the table has to pass (tests/unit/policy/conformance_test.cpp), applied to
// user-written policies: the examples, and those in the variable REPLAY_OWN_POLICIES, joined by commas as after
// --policy.

#include "tests/unit/policy/conformance_test.cpp"

#include <algorithm>
#include <cstdlib>

#include "tests/unit/plugin/own_policy.hpp"

namespace replay::test {
namespace {

std::vector<std::string> own_policies() {
  plugin::add_to_policies();
  if (const char* listed = std::getenv("REPLAY_OWN_POLICIES")) return split_policies(listed);
  std::vector<std::string> all{example("fcfs_library.so"), example("small_first.so"),
                               example("small_first.so:by=estimate"), example("molding_library.so"),
                               "exec:" + example("fcfs_program")};
  if (has_python()) all.insert(all.end(), {python_example("--order=shortest"), molding_python_example()});
  return all;
}

std::string name_of(const testing::TestParamInfo<std::string>& policy) {
  std::string name = policy.param.substr(policy.param.find_last_of('/') + 1);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name + std::to_string(policy.index);
}

INSTANTIATE_TEST_SUITE_P(OwnPolicies, EveryPolicy, testing::ValuesIn(own_policies()), name_of);

TEST(OwnPolicies, RunInsideAViewThatIsNotTheControllers) {
  std::vector<TracedJob> jobs = random_jobs(11, 200, 8);
  for (TracedJob& traced : jobs) traced.job.estimate = std::max<Duration>(traced.job.estimate, traced.truth.runtime);
  for (const std::string& policy : own_policies()) {
    HalfTheMachine wrapper{make_policy(policy).policy, cores(8)};
    MemoryLog log;
    replay::simulate(cores(16), Workload{jobs}, wrapper, *make_runtime_model("isolated"), log);
    EXPECT_LE(most_cores_in_use(log), 8) << policy << " uses more than the half it was shown";
  }
}

TEST(OwnPolicies, TheExamplesInPythonAreAmongThem) {
  if (!has_python()) GTEST_SKIP() << "python3 is not on the PATH: the examples in Python were left out";
  if (std::getenv("REPLAY_OWN_POLICIES") != nullptr) GTEST_SKIP() << "REPLAY_OWN_POLICIES lists others";
  EXPECT_EQ(std::ranges::count(own_policies(), python_example("--order=shortest")), 1);
  EXPECT_EQ(std::ranges::count(own_policies(), molding_python_example()), 1);
}

}  // namespace
}  // namespace replay::test
