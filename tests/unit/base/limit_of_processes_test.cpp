// Tests of whether so many processes can be made at once.
#include "scheduler/base/process/limit_of_processes.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/few_processes.hpp"

namespace replay::test {
namespace {

TEST(WhyNoProcesses, TellsByMakingThemWhatTheLimitLeavesRoomFor) {
  EXPECT_EQ(why_no_processes(0), 0);
  const auto error_of = [](std::size_t processes) {
    return within_limit(5, [&] { return why_no_processes(processes); });
  };
  if (error_of(5) == kNoLimit) GTEST_SKIP() << "no limit of processes binds here";
  EXPECT_EQ(error_of(4), 0);
  EXPECT_EQ(error_of(5), EAGAIN);
  EXPECT_EQ(within_limit(5, [] { return why_no_processes(5) + why_no_processes(4); }), EAGAIN) << "none is left behind";
}

}  // namespace
}  // namespace replay::test
