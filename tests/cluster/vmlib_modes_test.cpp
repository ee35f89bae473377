// Tests of vmlib's modes in real MPI jobs: which one a rank uses, that it registers it, and that programs compute the
// same in each. REPLAY_VM_MODE forces a mode. An MPICH of another device, where only test loops work, is imitated by a
// preload that hides MPICH's polls from vmlib. Hand-offs show that the core was given away; stock MPICH never does
// that.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/mpi_job.hpp"
#include "tests/support/vm_host.hpp"

namespace replay::test {
namespace {

constexpr std::uint64_t kGaveItAway = 20;  // hand-offs; the programs exchange more messages on any machine

class VmlibMode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_mpich()) GTEST_SKIP() << "no MPICH here (mpiexec of Hydra), so no mode of vmlib was tested in real jobs";
    host.share_all(true);
  }

  /// Two ranks on `places`, with REPLAY_VM_MODE=`mode` if it is not empty.
  Outcome run_two(const std::vector<int>& places, const std::string& mode, const std::string& command) const {
    Environment environment = under_replay(host);
    if (!mode.empty()) environment[REPLAY_VM_ENV_MODE] = mode;
    return mpi(2, places, environment, command);
  }

  void expect_mode(replay_vm_mode mode) const {
    ASSERT_EQ(host.accepted().size(), 2U);
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_EQ(host.report(rank).state, REPLAY_VM_FINALIZED) << "rank " << rank;
      EXPECT_EQ(host.report(rank).mode, mode) << "rank " << rank;
    }
  }

  void expect_claimed(replay_vm_mode mode) const {
    for (const replay_vm_hello& hello : host.accepted()) EXPECT_EQ(hello.mode, mode) << "rank " << hello.world_rank;
  }

  VmHost host{2};
  std::vector<int> all_cores = cores();
  std::vector<int> one_core = {all_cores[0]};
};

void expect_ok(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "ok\n") << "and vmlib prints nothing";
}

// ---- every mode computes the right thing ----

struct Forced {
  const char* word;
  replay_vm_mode mode;
};
void PrintTo(const Forced& forced, std::ostream* out) { *out << forced.word; }
using ForcedRun = std::tuple<Forced, const char*>;

class VmlibForcedMode : public VmlibMode, public ::testing::WithParamInterface<ForcedRun> {};

TEST_P(VmlibForcedMode, IsRegisteredAndChangesNoResult) {
  const auto& [forced, name] = GetParam();
  expect_ok(run_two(all_cores, forced.word, program(name)));
  expect_claimed(forced.mode);
  expect_mode(forced.mode);
}

constexpr Forced kForced[] = {
    {"progress", REPLAY_VM_MODE_PROGRESS}, {"test-loop", REPLAY_VM_MODE_TEST_LOOP}, {"none", REPLAY_VM_MODE_NONE}};

INSTANTIATE_TEST_SUITE_P(Programs, VmlibForcedMode,
                         ::testing::Combine(::testing::ValuesIn(kForced),
                                            ::testing::Values("point_to_point", "collectives")),
                         [](const ::testing::TestParamInfo<ForcedRun>& run) {
                           const std::string word = std::get<0>(run.param).word;
                           const std::string shown = word == "test-loop" ? "test_loop" : word;
                           return shown + "_" + std::get<1>(run.param);
                         });

TEST_F(VmlibMode, PointToPointIsRightOnOneCoreInTestLoopMode) {
  expect_ok(run_two(one_core, "test-loop", program("point_to_point")));
  expect_mode(REPLAY_VM_MODE_TEST_LOOP);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_GT(host.report(rank).handoffs, kGaveItAway);
}

// ---- what a mode does ----

TEST_F(VmlibMode, TestLoopsGiveTheCoreAwayAndAreReportedAsWaiting) {
  const Outcome outcome = run_two(one_core, "test-loop", program("pingpong") + " 0.1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  expect_mode(REPLAY_VM_MODE_TEST_LOOP);
  for (const std::uint32_t rank : {0U, 1U}) {
    const replay_vm_report report = host.report(rank);
    EXPECT_GT(report.handoffs, kGaveItAway);
    EXPECT_GT(report.polls, report.handoffs);
    EXPECT_GT(report.calls, kGaveItAway);
    EXPECT_GT(report.blocked_ns, 0U);
  }
}

TEST_F(VmlibMode, TestLoopsPassTheTokenOn) {
  for (const std::uint32_t rank : {0U, 1U}) host.seat(rank, 0);
  expect_ok(run_two(one_core, "test-loop", program("point_to_point")));
  expect_mode(REPLAY_VM_MODE_TEST_LOOP);
  EXPECT_GT(host.handovers(0), kGaveItAway);
}

TEST_F(VmlibMode, TestLoopsKeepACoreThatIsNotShared) {
  if (all_cores.size() < 2) GTEST_SKIP() << "needs two cores";
  host.share_all(false);
  ASSERT_EQ(run_two(all_cores, "test-loop", program("pingpong") + " 0.1").exit_code, 0);
  expect_mode(REPLAY_VM_MODE_TEST_LOOP);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_EQ(host.report(rank).handoffs, 0U) << "MPI_Finalize polls elsewhere";
}

TEST_F(VmlibMode, NoneNeverGivesTheCoreAway) {
  ASSERT_EQ(run_two(all_cores, "none", program("pingpong") + " 0.1").exit_code, 0);
  expect_mode(REPLAY_VM_MODE_NONE);
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_EQ(host.report(rank).handoffs, 0U);
    EXPECT_EQ(host.report(rank).polls, 0U);
    EXPECT_GT(host.report(rank).calls, kGaveItAway) << "the wrappers still count";
  }
}

#ifdef REPLAY_VM_ASAN_LIBRARY
TEST_F(VmlibMode, TestLoopsTouchNoMemoryThatIsNotTheirOwn) {
  Environment environment = under_replay(host);
  environment["LD_PRELOAD"] = REPLAY_ASAN_RUNTIME ":" REPLAY_VM_ASAN_LIBRARY;
  environment["ASAN_OPTIONS"] = "detect_leaks=0";
  environment[REPLAY_VM_ENV_MODE] = "test-loop";
  const Outcome outcome = mpi(2, all_cores, environment, program("point_to_point"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("AddressSanitizer"), std::string::npos) << outcome.output;
  expect_mode(REPLAY_VM_MODE_TEST_LOOP);
}
#endif

// ---- which mode it is ----

TEST_F(VmlibMode, AnUnknownWordForcesNothing) {
  expect_ok(run_two(all_cores, "fastest", program("collectives")));
  expect_mode(REPLAY_VM_MODE_PROGRESS);
}

class VmlibOfAnotherDevice : public VmlibMode {
 protected:
  Outcome run_two_without_hook(const std::string& mode, const std::string& command) const {
    Environment environment = under_replay(host);
    environment["LD_PRELOAD"] = program("hook_thief.so") + ":" + environment["LD_PRELOAD"];
    if (!mode.empty()) environment[REPLAY_VM_ENV_MODE] = mode;
    return mpi(2, all_cores, environment, command);
  }
};

TEST_F(VmlibOfAnotherDevice, APollThatNeverComesMakesItTestLoops) {
  expect_ok(run_two_without_hook("", program("point_to_point")));
  expect_claimed(REPLAY_VM_MODE_PROGRESS);
  expect_mode(REPLAY_VM_MODE_TEST_LOOP);
  EXPECT_GT(host.report(0).polls, 0U) << "tests in vain";
}

TEST_F(VmlibOfAnotherDevice, AForcedModeDoesNotFallBack) {
  expect_ok(run_two_without_hook("progress", program("collectives")));
  expect_mode(REPLAY_VM_MODE_NONE);
}

TEST_F(VmlibOfAnotherDevice, Fortran2008IsRigid) {
  if (!std::filesystem::exists(program("f08_pingpong"))) GTEST_SKIP() << "no Fortran compiler for MPI";
  const Outcome outcome = run_two_without_hook("", program("f08_pingpong"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_GT(figure(outcome.output, "round_us"), 0);
  expect_mode(REPLAY_VM_MODE_NONE);
}

}  // namespace
}  // namespace replay::test
