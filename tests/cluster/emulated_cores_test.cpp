// Tests of jobs on emulated cores: tokens stand for cores, and only programs that sleep instead of computing run.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "scheduler/base/process/monotonic_clock.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/cores_fixture.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

class EmulatedCores : public SharedCores {
 protected:
  void SetUp() override {
    SharedCores::SetUp();
    use_emulated_cores(8);
  }
  static std::vector<std::string> phases(const char* seconds) {
    return {REPLAY_PHASES, "--runtime", seconds, "--cpu-use", "0.9", "--pattern", "bsp"};
  }
  void end(JobId job) {
    executor_->end(job, Outcome::kKilled);
    ASSERT_TRUE(ends(job));
  }
  /// Whether a rank of the job holds the core's token.
  [[nodiscard]] bool has_anything_on(int core, JobId job, std::uint32_t ranks) const {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto pid = static_cast<std::uint32_t>(slot(job, rank).report.pid);
      if (token(core).holder == pid) return true;
    }
    return false;
  }
};

TEST_F(EmulatedCores, MoreRanksThanCoresAreThereRunAndAreVerified) {
  start();
  launch_on(kFirst, phases("1.5"), {0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_TRUE(starts(kFirst));
  EXPECT_TRUE(seen_.started.at(kFirst)) << seen_.reason.at(kFirst);
  EXPECT_EQ(header(kFirst).emulated, 1U);
  EXPECT_EQ(header(kFirst).quantum_us, 10'000U);
  EXPECT_GT(header(kFirst).end_cost_ns, 0U);
  EXPECT_LT(header(kFirst).start_ns, monotonic_ns());
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(replay_vm_core_of(slot(kFirst, rank).orders.place), rank);
    EXPECT_EQ(slot(kFirst, rank).orders.back_end, static_cast<std::uint32_t>(REPLAY_VM_TOKEN));
    EXPECT_EQ(slot(kFirst, rank).orders.shared, 0U);
  }
  expect_verified(kFirst);
}

TEST_F(EmulatedCores, NobodyIsBoundToACoreThatIsNotThere) {
  start();
  launch_on(kFirst, phases("60"), {6, 7});
  ASSERT_TRUE(starts(kFirst));
  cpu_set_t ours, theirs;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  for (const std::uint32_t rank : {0U, 1U}) {
    ASSERT_EQ(::sched_getaffinity(slot(kFirst, rank).report.pid, sizeof theirs, &theirs), 0);
    EXPECT_TRUE(CPU_EQUAL(&ours, &theirs));
  }
  EXPECT_EQ(output(kFirst, "notes"), "");
  end(kFirst);
}

TEST_F(EmulatedCores, CoresAreFreeWhenTheMoveIsAcknowledged) {
  start();
  launch_on(kFirst, phases("60"), {0, 1, 2, 3});
  ASSERT_TRUE(starts(kFirst));
  for (int round = 0; round < 15; ++round) {
    ASSERT_TRUE(moves(kFirst, {0, 0, 1, 1}));
    EXPECT_FALSE(has_anything_on(2, kFirst, 4) || has_anything_on(3, kFirst, 4)) << "round " << round;
    EXPECT_EQ(slot(kFirst, 3).orders.shared, 1U);
    EXPECT_EQ(slot(kFirst, 3).orders.mpl, 2U);
    ASSERT_TRUE(moves(kFirst, {4, 5, 6, 7}));
    EXPECT_FALSE(has_anything_on(0, kFirst, 4) || has_anything_on(1, kFirst, 4)) << "round " << round;
    EXPECT_EQ(slot(kFirst, 3).orders.shared, 0U);
  }
  end(kFirst);
}

TEST_F(EmulatedCores, TwoJobsShareCoresAndBothAreVerified) {
  start();
  launch_on(kFirst, phases("3"), {0, 1});
  launch_on(kSecond, phases("2"), {0, 1});
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  EXPECT_EQ(slot(kFirst, 0).orders.shared, 1U);
  EXPECT_TRUE(hands_off(kFirst, 2));
  EXPECT_TRUE(hands_off(kSecond, 2));
  EXPECT_GT(token(0).handovers, 0U);
  expect_verified(kFirst);
  expect_verified(kSecond);
}

TEST_F(EmulatedCores, FourRanksAndThenThreeShareACore) {
  start();
  launch_on(kFirst, phases("3"), {0, 1, 2, 3});
  ASSERT_TRUE(starts(kFirst));
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(moves(kFirst, {5, 5, 5, 5}));
    EXPECT_EQ(slot(kFirst, 0).orders.mpl, 4U);
    ASSERT_TRUE(moves(kFirst, {5, 5, 5, 6}));
    EXPECT_EQ(slot(kFirst, 0).orders.mpl, 3U);
    EXPECT_EQ(slot(kFirst, 3).orders.shared, 0U);
  }
  expect_verified(kFirst);
}

TEST_F(EmulatedCores, ASuspendedJobLeavesItsCoresToOthers) {
  start();
  launch_on(kFirst, phases("60"), {0, 0});
  ASSERT_TRUE(starts(kFirst));
  launch_on(kSecond, phases("2"), {0, 0});
  ASSERT_TRUE(starts(kSecond));
  executor_->suspend(kFirst);
  ASSERT_TRUE(until([&] { return seen_.suspended == 1; }));
  EXPECT_FALSE(has_anything_on(0, kFirst, 2));
  const auto burst = slot(kFirst, 0).report.burst_ns;
  expect_verified(kSecond);
  EXPECT_FALSE(has_anything_on(0, kFirst, 2));
  EXPECT_EQ(slot(kFirst, 0).report.burst_ns, burst);
  executor_->resume(kFirst);
  EXPECT_TRUE(until([&] { return slot(kFirst, 0).report.burst_ns > burst; }));
  end(kFirst);
}

TEST_F(EmulatedCores, AnEndedJobHoldsNoCore) {
  start();
  launch_on(kFirst, phases("60"), {0, 1});
  ASSERT_TRUE(starts(kFirst));
  ASSERT_TRUE(until([&] { return slot(kFirst, 0).report.burst_ns > 0; }));
  end(kFirst);
  for (const int core : {0, 1}) {
    EXPECT_EQ(token(core).holder, 0U);
    for (const replay_vm_seat& seat : token(core).seats) EXPECT_EQ(seat.wanter, 0U);
  }
}

TEST_F(EmulatedCores, ADeadRanksCoreGoesToTheOtherJob) {
  start();
  launch_on(kFirst, phases("60"), {0, 0});
  launch_on(kSecond, phases("2"), {0, 0});
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  const auto victim = slot(kFirst, 1).report.pid;
  ASSERT_TRUE(until([&] { return token(0).holder == static_cast<std::uint32_t>(victim); }));
  send_signal(victim, SIGKILL);
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(seen_.ended[kFirst].outcome, Outcome::kFailed);
  EXPECT_NE(token(0).holder, static_cast<std::uint32_t>(victim));
  for (const replay_vm_seat& seat : token(0).seats) EXPECT_NE(seat.wanter, static_cast<std::uint32_t>(victim));
  expect_verified(kSecond);
}

TEST_F(EmulatedCores, OrdersMayComeInAnyOrder) {
  start();
  std::mt19937 chance{7};
  const auto below = [&](std::uint32_t bound) { return static_cast<int>(chance() % bound); };
  const auto somewhere = [&] { return std::vector<int>{below(3), below(3), below(3)}; };
  const std::vector<JobId> jobs{JobId{1}, JobId{2}, JobId{3}};
  std::map<JobId, bool> is_suspended;
  for (const JobId job : jobs) launch_on(job, phases(job == jobs.back() ? "4" : "600"), somewhere());
  for (const JobId job : jobs) ASSERT_TRUE(starts(job));
  for (int step = 0; step < 60; ++step) {
    const JobId job = jobs[static_cast<std::size_t>(below(3))];
    if (below(3) != 0 || job == jobs.back()) {
      if (!seen_.ended.contains(job)) order_move(job, somewhere());
    } else if (is_suspended[job]) {
      executor_->resume(job);
      is_suspended[job] = false;
    } else {
      executor_->suspend(job);
      is_suspended[job] = true;
    }
    if (step % 3 == 0) until([] { return false; }, 30ms);  // some at once, some one after another
  }
  for (const JobId job : jobs)
    if (is_suspended[job]) executor_->resume(job);
  expect_verified(jobs.back());
  for (const JobId job : {jobs[0], jobs[1]}) end(job);
  EXPECT_EQ(seen_.failed, std::vector<std::string>{});
  EXPECT_EQ(seen_.suspended, seen_.resumed);
  for (const int core : {0, 1, 2}) {
    EXPECT_EQ(token(core).holder, 0U);
    for (const replay_vm_seat& seat : token(core).seats) EXPECT_EQ(seat.wanter, 0U);
  }
}

TEST_F(EmulatedCores, ARigidJobRunsAndStaysWhereItIs) {
  start();
  auto job = order(phases("1.5"), 2);
  job.malleable = false;
  executor_->launch(job);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_FALSE(seen_.started.at(kJob));
  EXPECT_EQ(seen_.reason.at(kJob), "asked to be rigid");
  order_move(kJob, {4, 4});
  ASSERT_TRUE(until([&] { return !seen_.failed.empty(); }));
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().verification, Verification::kPassed) << its_end().reason;
}

// ---- refused programs
// ------------------------------------------------------------------------------------------------

constexpr const char* kOnlyFit =
    "on emulated cores only programs that do their work through vm_burst() run, such as phases";

TEST_F(EmulatedCores, AProgramThatComputesForRealIsRefused) {
  start();
  launch_on(kFirst, {REPLAY_RANK_PROGRAM, "compute", "60"}, {0, 1});
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(seen_.ended[kFirst].outcome, Outcome::kFailed);
  EXPECT_EQ(seen_.ended[kFirst].reason, std::string{"launcher_rank_program computes for real: "} + kOnlyFit);
  EXPECT_FALSE(seen_.started.contains(kFirst));
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(EmulatedCores, AProgramThatDoesNotRegisterIsEndedAndNamed) {
  options_.registration_limit = 500ms;
  start();
  launch_on(kFirst, {"/bin/sleep", "60"}, {0});
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(seen_.ended[kFirst].outcome, Outcome::kFailed);
  EXPECT_NE(seen_.ended[kFirst].reason.find("sleep uses no MPI; "), std::string::npos) << seen_.ended[kFirst].reason;
  EXPECT_NE(seen_.ended[kFirst].reason.find(kOnlyFit), std::string::npos) << seen_.ended[kFirst].reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(EmulatedCores, AProgramThatEndsBeforeItRegistersHasNotCompleted) {
  start();
  launch_on(kFirst, {"/bin/true"}, {0});
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(seen_.ended[kFirst].outcome, Outcome::kFailed);
  EXPECT_NE(seen_.ended[kFirst].reason.find(kOnlyFit), std::string::npos) << seen_.ended[kFirst].reason;
}

TEST_F(EmulatedCores, WithoutVmlibNothingRuns) {
  options_.vmlib = "/nowhere/libreplay-vm.so";
  start();
  launch_on(kFirst, phases("1"), {0});
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(seen_.ended[kFirst].outcome, Outcome::kFailed);
  EXPECT_NE(seen_.ended[kFirst].reason.find("/nowhere/libreplay-vm.so"), std::string::npos);
}

TEST_F(EmulatedCores, ACoreHasNoMoreRoomThanSeats) {
  start();
  launch_on(kFirst, phases("1"), std::vector<int>(REPLAY_VM_SEATS + 1, 3));
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(seen_.ended[kFirst].reason, "core 3 has no room for 25 more ranks: expected at most 24 on a core");
}

}  // namespace
}  // namespace replay::launcher
