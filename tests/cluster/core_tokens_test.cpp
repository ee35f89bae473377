// Tests of tokens, naps and emulated cores in real MPI jobs. They count what a rank does with its core while it waits
// (hand-offs, hand-overs, naps, work) and measure no time. The stand-in agent gives the orders; it moves no process and
// takes no token away.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/mpi_job.hpp"
#include "tests/support/vm_host.hpp"

namespace replay::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kOften = 100;  // hand-offs: more than in MPI_Init and MPI_Finalize, fewer than in the programs
constexpr std::uint64_t kSome = 20;
constexpr std::uint32_t kDeadPid = 0x7ffffff0;  // above the kernel's largest
constexpr std::uint32_t kPolls = 20, kCores = 4;

class CoreTokens : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_mpich())
      GTEST_SKIP() << "no MPICH here (mpiexec of Hydra), so nothing about tokens in real jobs was tested";
  }
  std::vector<int> one_core() const { return {cores_[0]}; }

  std::vector<int> cores_ = cores();
};

/// Seats all ranks on core 0.
void seat_all(VmHost& host, std::uint32_t ranks) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) host.seat(rank, 0);
}

bool is_empty(const replay_vm_core& core) {
  bool has_wanter = false;
  for (const replay_vm_seat& seat : core.seats) has_wanter = has_wanter || seat.wanter != 0;
  return core.holder == 0 && !has_wanter;
}

/// Polls `condition` for 20 s at most.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 4000 && !condition(); ++i) std::this_thread::sleep_for(5ms);
  return condition();
}

// ---- tokens on real cores ----

TEST_F(CoreTokens, TwoRanksOfOneCorePassItsTokenToEachOther) {
  VmHost host{2};
  seat_all(host, 2);
  const Outcome outcome = mpi(2, one_core(), under_replay(host), program("pingpong") + " 0.2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_GT(figure(outcome.output, "hop_us"), 0);
  EXPECT_GT(host.handovers(0), kOften);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_GT(host.report(rank).handoffs, kOften);
  EXPECT_TRUE(is_empty(*replay_vm_core_at(&host.cores(), 0))) << "both have left";
}

TEST_F(CoreTokens, EveryFamilyOfCallsComputesTheRightThing) {
  VmHost host{4};
  seat_all(host, 4);
  const Outcome outcome = mpi(4, one_core(), under_replay(host), program("collectives"));
  EXPECT_EQ(outcome.output, "ok\n");
  EXPECT_GT(host.handovers(0), kOften);
}

TEST_F(CoreTokens, AHolderThatIsNoProcessIsOvertaken) {
  VmHost host{2};
  seat_all(host, 2);
  replay_vm_core& core = *replay_vm_core_at(&host.cores(), 0);
  core.holder = kDeadPid;
  core.seats[9].wanter = kDeadPid;
  ASSERT_EQ(mpi(2, one_core(), under_replay(host), program("pingpong") + " 0.2").exit_code, 0);
  EXPECT_GT(host.handovers(0), kOften);
  EXPECT_TRUE(is_empty(core));
}

TEST_F(CoreTokens, WithoutACoreSegmentRanksYield) {
  VmHost host{2};
  seat_all(host, 2);
  host.spoil_cores();
  ASSERT_EQ(mpi(2, one_core(), under_replay(host), program("pingpong") + " 0.1").exit_code, 0);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_GT(host.report(rank).handoffs, kOften);
  EXPECT_EQ(host.handovers(0), 0U);
}

TEST_F(CoreTokens, RanksFollowTheirPlace) {
  VmHost host{2};
  seat_all(host, 2);
  auto job = std::async(std::launch::async,
                        [&] { return mpi(2, one_core(), under_replay(host), program("pingpong") + " 1"); });
  ASSERT_TRUE(comes_true([&] { return host.handovers(0) > kOften; }));
  for (const std::uint32_t rank : {0U, 1U}) host.seat(rank, 1);
  EXPECT_TRUE(comes_true([&] { return host.handovers(1) > kOften; }));
  EXPECT_TRUE(comes_true([&] { return is_empty(*replay_vm_core_at(&host.cores(), 0)); }));
  EXPECT_EQ(job.get().exit_code, 0);
}

TEST_F(CoreTokens, SeveralThreadsInMpiYieldAndGetTheRightNumbers) {
  VmHost host{2};
  seat_all(host, 2);
  const Outcome outcome = mpi(2, one_core(), under_replay(host), program("threads") + " 300");
  if (outcome.output == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  EXPECT_EQ(outcome.output, "ok\n");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_GT(host.report(rank).handoffs, kOften);
}

class Polling : public CoreTokens, public ::testing::WithParamInterface<const char*> {};

TEST_P(Polling, IsWaitingToo) {
  VmHost host{2};
  host.share_all(true);
  const Outcome outcome = mpi(2, one_core(), under_replay(host), program("polling") + " " + GetParam() + " 500");
  EXPECT_EQ(outcome.output, "ok\n");
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_GT(host.report(rank).handoffs, kOften);
}
INSTANTIATE_TEST_SUITE_P(By, Polling,
                         ::testing::Values("test", "testall", "testany", "testsome", "status", "iprobe", "improbe"),
                         [](const auto& how) { return std::string{how.param}; });

// ---- naps ----

TEST_F(CoreTokens, WhenNothingOnTheCoreCanRunAWaitingRankNaps) {
  VmHost host{2};
  host.share_all(true);
  ASSERT_EQ(mpi(2, one_core(), under_replay(host), program("late") + " 300").exit_code, 0);
  EXPECT_GT(host.report(1).naps, kSome);
  EXPECT_GT(host.report(1).handoffs, host.report(1).naps) << "it looks whether a rank computes before each";

  VmHost tokens{2};
  seat_all(tokens, 2);
  ASSERT_EQ(mpi(2, one_core(), under_replay(tokens), program("late") + " 300").exit_code, 0);
  EXPECT_GT(tokens.report(1).naps, kSome);
}

TEST_F(CoreTokens, OnCoresOfTheirOwnRanksNeverNap) {
  VmHost host{2};
  ASSERT_EQ(mpi(2, cores_, under_replay(host), program("late") + " 100").exit_code, 0);
  EXPECT_EQ(host.report(0).naps + host.report(1).naps, 0U);
}

// ---- emulated cores ----

struct BurstRun {
  double wall_ms = 0;
  std::vector<double> work_ms;
};

BurstRun read_bursts(const std::string& output) {
  BurstRun run{.wall_ms = figure(output, "wall_ms"), .work_ms = {}};
  std::istringstream words{output.substr(output.find("work_ms") + 7)};
  for (double work = 0; words >> work;) run.work_ms.push_back(work);
  return run;
}

/// Allowance of one burst and one slice for each rank: what it may have begun before the end.
constexpr double kAllowanceMs = 1 + 10;

TEST_F(CoreTokens, OneEmulatedCoreDoesNoMoreThanOneCoresWork) {
  VmHost host{4, kPolls, kCores};
  host.emulate();
  seat_all(host, 4);
  const Outcome outcome = mpi(4, cores_, under_replay(host), program("burst") + " 0.5 1000");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const BurstRun run = read_bursts(outcome.output);
  ASSERT_EQ(run.work_ms.size(), 4U) << outcome.output;
  double sum = 0;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_GT(run.work_ms[rank], 0) << "no rank starves";
    EXPECT_DOUBLE_EQ(run.work_ms[rank] * 1e6, static_cast<double>(host.report(rank).burst_ns));
    EXPECT_GT(host.report(rank).handoffs, 0U);
    sum += run.work_ms[rank];
  }
  EXPECT_LE(sum, run.wall_ms + 4 * kAllowanceMs);
  EXPECT_GT(host.handovers(0), kSome);
  EXPECT_TRUE(is_empty(*replay_vm_core_at(&host.cores(), 0)));
}

TEST_F(CoreTokens, OnTwoEmulatedCoresTheyDoNotDisturbEachOther) {
  VmHost host{2};
  host.emulate();
  for (const std::uint32_t rank : {0U, 1U}) host.seat(rank, rank, false);
  const Outcome outcome = mpi(2, one_core(), under_replay(host), program("burst") + " 0.2 5000");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_EQ(host.report(rank).handoffs, 0U) << "both on one real core";
}

TEST_F(CoreTokens, ARankThatIsMovedWorksElsewhere) {
  VmHost host{2};
  host.emulate();
  seat_all(host, 2);
  auto job =
      std::async(std::launch::async, [&] { return mpi(2, cores_, under_replay(host), program("burst") + " 1 1000"); });
  ASSERT_TRUE(comes_true([&] { return host.report(1).burst_ns > 0; }));
  host.seat(1, 3);
  const std::uint64_t before = host.report(1).burst_ns;
  EXPECT_TRUE(comes_true([&] { return host.handovers(3) > 0 && host.report(1).burst_ns > before; }));
  EXPECT_TRUE(comes_true([&] { return replay_vm_core_at(&host.cores(), 0)->seats[1].wanter == 0; }));
  EXPECT_EQ(job.get().exit_code, 0);
}

TEST_F(CoreTokens, AWaitingRankNapsOnItsOwnEmulatedCoreToo) {
  VmHost host{2};
  host.emulate();
  for (const std::uint32_t rank : {0U, 1U}) host.seat(rank, rank, false);
  ASSERT_EQ(mpi(2, cores_, under_replay(host), program("burst") + " 0.01 1000 100").exit_code, 0);
  EXPECT_GT(host.report(1).naps, 0U) << "rank 0 is 100 ms late";
}

TEST_F(CoreTokens, AProgramThatIsNotFitForEmulationIsRefusedAndRunsOn) {
  VmHost host{2};
  host.emulate();
  EXPECT_EQ(mpi(2, cores_, under_replay(host), program("collectives")).output, "ok\n");
  EXPECT_EQ(host.refusals(), (std::vector<std::int32_t>{-5, -5}));
}

TEST_F(CoreTokens, WithoutTokensNoRankJoinsOnEmulatedCores) {
  VmHost host{2};
  host.emulate();
  host.spoil_cores();
  EXPECT_EQ(mpi(2, cores_, under_replay(host), program("burst") + " 0.1").output, "not emulated\n");
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_EQ(host.report(rank).state, REPLAY_VM_EMPTY);
}

TEST_F(CoreTokens, AProgramThatIsFitRunsWithoutVmlibAndOnRealCores) {
  EXPECT_EQ(mpi(2, cores_, {}, program("burst") + " 0.1").output, "not emulated\n");
  VmHost host{2};
  EXPECT_EQ(mpi(2, cores_, under_replay(host), program("burst") + " 0.1").output, "not emulated\n");
  ASSERT_EQ(host.accepted().size(), 2U);
  for (const replay_vm_hello& hello : host.accepted()) EXPECT_EQ(hello.flags, REPLAY_VM_FIT_FOR_EMULATION);
}

}  // namespace
}  // namespace replay::test
