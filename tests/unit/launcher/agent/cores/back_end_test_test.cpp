// Tests of the self-test of yielding. They assert no speed, as the machine may be busy, only the conclusions drawn from
// given readings.
#include "launcher/agent/cores/back_end_test.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "launcher/os/topology.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

TEST(BackEndTest, AQuickHandOverIsAVoteForYielding) {
  EXPECT_EQ(better_back_end(HandoverTest{2000, 2us}), REPLAY_VM_YIELD);
  EXPECT_EQ(better_back_end(HandoverTest{1, 50us}), REPLAY_VM_YIELD);
}

TEST(BackEndTest, ASlowOneOrNoneIsAVoteForTheToken) {
  EXPECT_EQ(better_back_end(HandoverTest{5, 4ms}), REPLAY_VM_TOKEN);
  EXPECT_EQ(better_back_end(HandoverTest{0, 0us}), REPLAY_VM_TOKEN);
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

TEST(BackEndTest, TheCallersOwnCoresAreAsBefore) {
  const auto before = affinity_mask();
  (void)find_back_end(before.front());
  EXPECT_EQ(affinity_mask(), before);
}

}  // namespace
}  // namespace replay::launcher
