// Tests of the agent's side of the tokens: which rank loses a token, and which one gets it then.
#include "launcher/agent/cores/core_segment.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

namespace replay::launcher {
namespace {

class Tokens : public testing::Test {
 protected:
  static constexpr std::uint32_t kCores = 3;
  static constexpr std::size_t kBytes = sizeof(replay_vm_cores) + kCores * sizeof(replay_vm_core);

  void SetUp() override {
    segment_ = std::make_unique<CoreSegment>(kCores);
    theirs_ = static_cast<replay_vm_cores*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment_->descriptor(), 0));  // mapped as by a rank
    ASSERT_NE(theirs_, MAP_FAILED);
  }
  void TearDown() override {
    ::munmap(theirs_, kBytes);
    segment_.reset();
  }
  replay_vm_core& core(std::uint32_t number) { return *replay_vm_core_at(theirs_, number); }
  void seat(std::uint32_t number, std::uint32_t at, std::uint32_t pid) { core(number).seats[at].wanter = pid; }

  std::unique_ptr<CoreSegment> segment_;
  replay_vm_cores* theirs_ = nullptr;
};

TEST_F(Tokens, TheSegmentSaysWhatItIsAndKeepsItsSize) {
  EXPECT_EQ(theirs_->magic, REPLAY_VM_CORES_MAGIC);
  EXPECT_EQ(theirs_->version, REPLAY_VM_VERSION);
  EXPECT_EQ(theirs_->bytes, kBytes);
  EXPECT_EQ(theirs_->cores, kCores);
  struct stat status {};
  ASSERT_EQ(::fstat(segment_->descriptor(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), kBytes);
  EXPECT_NE(::ftruncate(segment_->descriptor(), 0), 0);
}

TEST_F(Tokens, ATokenGoesToTheNextSeatBehindTheHoldersRoundTheTable) {
  core(1).holder = 100;
  seat(1, 5, 100);
  seat(1, 2, 200);
  seat(1, 9, 300);
  EXPECT_TRUE(segment_->take_away(1, 100));
  EXPECT_EQ(core(1).holder, 300U);
  EXPECT_EQ(core(1).seats[9].turn, 1U) << "or no rank wakes up";
  EXPECT_EQ(core(1).seats[2].turn, 0U);
  EXPECT_EQ(core(1).seats[5].wanter, 0U);
  EXPECT_EQ(core(1).handovers, 1U);
  EXPECT_GT(core(1).granted_ns, 0U);
  EXPECT_TRUE(segment_->take_away(1, 300));
  EXPECT_EQ(core(1).holder, 200U);
}

TEST_F(Tokens, ATokenThatNobodyWantsIsFree) {
  core(0).holder = 100;
  seat(0, 0, 100);
  EXPECT_TRUE(segment_->take_away(0, 100));
  EXPECT_EQ(segment_->holder(0), 0);
  EXPECT_FALSE(segment_->is_here(0, 100));
}

TEST_F(Tokens, WhoeverWaitsIsForgottenAndTheHolderKeepsIt) {
  core(0).holder = 100;
  seat(0, 0, 100);
  seat(0, 1, 200);
  EXPECT_TRUE(segment_->is_here(0, 200));
  EXPECT_TRUE(segment_->take_away(0, 200));
  EXPECT_EQ(segment_->holder(0), 100);
  EXPECT_EQ(core(0).seats[1].wanter, 0U);
  EXPECT_FALSE(segment_->take_away(0, 200)) << "there is nothing left to take";
}

TEST_F(Tokens, EverywhereMeansEveryCore) {
  core(0).holder = 100;
  seat(2, 7, 100);
  seat(2, 8, 200);
  core(2).holder = 200;
  segment_->take_away_everywhere(100);
  EXPECT_EQ(core(0).holder, 0U);
  EXPECT_EQ(core(2).seats[7].wanter, 0U);
  EXPECT_EQ(core(2).holder, 200U);
}

TEST_F(Tokens, NoSeatIsNoSeatToWake) { segment_->wake(0, REPLAY_VM_NO_SEAT); }

}  // namespace
}  // namespace replay::launcher
