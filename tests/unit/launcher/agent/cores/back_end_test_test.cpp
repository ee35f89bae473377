// Tests of the self-test of yielding. They assert no speed, as the machine may be busy, only the conclusions drawn from
// given readings, and that a core which is busy for certain is seen as that.
#include "launcher/agent/cores/back_end_test.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "launcher/os/topology.hpp"
#include "tests/support/busy_loop.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

/// Hand-overs that took so long, so many times each.
HandoverTest taken(std::initializer_list<std::pair<std::size_t, std::chrono::nanoseconds>> delays) {
  HandoverTest test;
  for (const auto& [times, delay] : delays)
    for (std::size_t i = 0; i < times; ++i) test.add(delay);
  return test;
}

TEST(BackEndTest, QuickHandOversAreAVoteForYielding) {
  EXPECT_EQ(better_back_end(taken({{2000, 2us}})), REPLAY_VM_YIELD);
  EXPECT_EQ(better_back_end(taken({{1, 50us}})), REPLAY_VM_YIELD);
  EXPECT_EQ(better_back_end(taken({{19000, 1us}, {1, 2ms}})), REPLAY_VM_YIELD) << "one pause in 21 ms";
}

TEST(BackEndTest, AFewSlowOnesThatTakeTheTimeAreAVoteForTheToken) {
  EXPECT_EQ(better_back_end(taken({{23, 1us}, {5, 4ms}})), REPLAY_VM_TOKEN)
      << "as beside a busy loop: the median is 1 us";
  EXPECT_EQ(better_back_end(taken({{2000, 1us}, {5, 4ms}})), REPLAY_VM_TOKEN);
  EXPECT_EQ(better_back_end(taken({{12000, 1us}, {4, 2ms}})), REPLAY_VM_TOKEN);
}

TEST(BackEndTest, SlowOnesAloneOrNoneAreAVoteForTheToken) {
  EXPECT_EQ(better_back_end(taken({{5, 4ms}})), REPLAY_VM_TOKEN);
  EXPECT_EQ(better_back_end(HandoverTest{}), REPLAY_VM_TOKEN);
  EXPECT_EQ(better_back_end(std::nullopt), REPLAY_VM_TOKEN);
}

TEST(BackEndTest, TwoThreadsOnOneCoreHandOverByYielding) {
  const auto found = test_handover(affinity_mask().front(), 2s, [] { ::sched_yield(); });
  ASSERT_TRUE(found);
  EXPECT_GE(found->handovers, 10U);
}

TEST(BackEndTest, ThreadsThatSpinOnOneCoreWaitForTheScheduler) {
  const auto found = test_handover(affinity_mask().front(), 100ms, [] {});
  ASSERT_TRUE(found);
  EXPECT_EQ(better_back_end(found), REPLAY_VM_TOKEN) << found->handovers << " hand-overs";
}

TEST(BackEndTest, ACoreThatIsNotThereIsNoPlaceToTry) {
  EXPECT_EQ(test_handover(PuId{8000}, 20ms, [] { ::sched_yield(); }), std::nullopt);
}

TEST(BackEndTest, BesideABusyLoopTheTokenIsChosen) {
  std::optional<HandoverTest> found;
  {
    const test::BusyLoop loop{affinity_mask().front()};
    ASSERT_TRUE(loop.is_running());
    const auto is_there = [&loop] { return loop.ran_ns() > 10'000'000; };  // its start takes less
    for (int looks = 0; looks < 20'000 && !is_there(); ++looks) ::usleep(1000);
    ASSERT_TRUE(is_there());
    found = test_handover(affinity_mask().front(), 100ms, [] { ::sched_yield(); });
  }
  ASSERT_TRUE(found);
  EXPECT_EQ(better_back_end(found), REPLAY_VM_TOKEN) << found->handovers << " hand-overs, " << found->in_slow.count()
                                                     << " of " << found->sum.count() << " ns in slow ones";
}

/// In a child, since the limit counts for the user and does not bind root.
TEST(BackEndTest, AThreadThatCannotBeStartedIsAnErrorAndNotTheEnd) {
  constexpr int kNoOtherUser = 3, kNotBound = 4;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit none{0, 0};
    if ((::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) || ::setrlimit(RLIMIT_NPROC, &none) != 0)
      ::_exit(kNoOtherUser);
    try {
      std::thread{[] {}}.join();
      ::_exit(kNotBound);
    } catch (const std::system_error&) {  // as it should be
    }
    try {
      (void)test_handover(affinity_mask().front(), 20ms, [] { ::sched_yield(); });
      ::_exit(2);
    } catch (const std::system_error& error) {
      ::_exit(error.code() == std::errc::resource_unavailable_try_again ? 0 : 1);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kNoOtherUser) GTEST_SKIP() << "user 65534 is not there, or no limit can be set";
  if (WEXITSTATUS(status) == kNotBound) GTEST_SKIP() << "a limit of 0 processes does not keep a thread from starting";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(BackEndTest, TheCallersOwnCoresAreAsBefore) {
  const auto before = affinity_mask();
  (void)find_back_end(before.front());
  EXPECT_EQ(affinity_mask(), before);
}

}  // namespace
}  // namespace replay::launcher
