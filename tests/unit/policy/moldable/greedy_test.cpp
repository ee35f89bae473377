#include <gtest/gtest.h>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST(Greedy, TakesJobsByArrivalOrByClass) {
  // A leaves at 1 min; L, M and S wait for all 4.
  const std::vector<TracedJob> jobs{job('A').cores(4), job('L').cores(4).runs(2h).arrives(1s),
                                    job('M').cores(4).runs(10min).arrives(2s), job('S').cores(4).runs(59s).arrives(3s)};
  EXPECT_EQ(simulate("greedy-moldable", cores(4), jobs).decisions(), "start A 4; start L 4; start M 4; start S 4");
  EXPECT_EQ(simulate("greedy-moldable:order=class", cores(4), jobs).decisions(),
            "start A 4; start S 4; start M 4; start L 4");
}

TEST(Greedy, ByClassPromotesJobsThatHaveWaitedFiveTimesTheirTime) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(6min), job('M').cores(4).arrives(1s),
                                    job('S').cores(4).runs(30s).arrives(2min)};
  EXPECT_EQ(simulate("greedy-moldable:order=class", cores(4), jobs).decisions(), "start A 4; start M 4; start S 4");
}

}  // namespace
}  // namespace replay::test
