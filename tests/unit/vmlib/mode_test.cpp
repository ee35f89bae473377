#include "vmlib/mode.hpp"

#include <gtest/gtest.h>

namespace replay::vm {
namespace {

constexpr Means kEverything{.has_progress_hook = true, .has_nonblocking_calls = true};
constexpr Means kNoHook{.has_nonblocking_calls = true};
constexpr Means kNoMeans{};

TEST(VmMode, TheHookIsBetterThanLoopsAndLoopsAreBetterThanNothing) {
  EXPECT_EQ(best_mode({}, kEverything), REPLAY_VM_MODE_PROGRESS);
  EXPECT_EQ(best_mode({}, kNoHook), REPLAY_VM_MODE_TEST_LOOP);
  EXPECT_EQ(best_mode({}, kNoMeans), REPLAY_VM_MODE_NONE);
}

TEST(VmMode, AForcedModeIsThatOrNone) {
  EXPECT_EQ(best_mode(REPLAY_VM_MODE_NONE, kEverything), REPLAY_VM_MODE_NONE);
  EXPECT_EQ(best_mode(REPLAY_VM_MODE_TEST_LOOP, kEverything), REPLAY_VM_MODE_TEST_LOOP);
  EXPECT_EQ(best_mode(REPLAY_VM_MODE_PROGRESS, kEverything), REPLAY_VM_MODE_PROGRESS);
  EXPECT_EQ(best_mode(REPLAY_VM_MODE_PROGRESS, kNoHook), REPLAY_VM_MODE_NONE);
  EXPECT_EQ(best_mode(REPLAY_VM_MODE_TEST_LOOP, kNoMeans), REPLAY_VM_MODE_NONE);
}

TEST(VmMode, LoopsCannotSeeTheCallsOfFortran2008) {
  EXPECT_EQ(best_mode({}, {.has_nonblocking_calls = true, .is_fortran08 = true}), REPLAY_VM_MODE_NONE);
  EXPECT_EQ(best_mode(REPLAY_VM_MODE_TEST_LOOP, {.has_nonblocking_calls = true, .is_fortran08 = true}),
            REPLAY_VM_MODE_NONE);
  EXPECT_EQ(best_mode({}, {.has_progress_hook = true, .is_fortran08 = true}), REPLAY_VM_MODE_PROGRESS);
}

TEST(VmMode, IsWrittenAsAWordAndAnyOtherWordIsNone) {
  EXPECT_EQ(parse_mode("progress"), REPLAY_VM_MODE_PROGRESS);
  EXPECT_EQ(parse_mode("test-loop"), REPLAY_VM_MODE_TEST_LOOP);
  EXPECT_EQ(parse_mode("none"), REPLAY_VM_MODE_NONE);
  for (const char* other : {"", "Progress", "test_loop", "2", "progress "}) EXPECT_FALSE(parse_mode(other)) << other;
  EXPECT_FALSE(parse_mode(nullptr));
}

}  // namespace
}  // namespace replay::vm
