#include <gtest/gtest.h>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST(PriorityEasy, ShortBeforeMediumBeforeLongAndByArrivalInside) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(50s), job('L').cores(4).runs(2h).arrives(1s),
                                    job('M').cores(4).runs(10min).arrives(2s), job('N').cores(4).runs(5min).arrives(3s),
                                    job('S').cores(4).runs(59s).arrives(4s)};
  EXPECT_EQ(simulate("priority-easy", cores(4), jobs).decisions(),
            "start A 4; start S 4; start M 4; start N 4; start L 4");
}

TEST(PriorityEasy, AJobThatHasWaitedFiveRunTimesCountsAsShort) {
  // M waits from 0 on; at 5 min it is promoted and passes S, submitted later. Even one class lower makes it short; a
  // long job would only become medium.
  std::vector<TracedJob> jobs{job('A').cores(4).runs(6min), job('M').cores(4).runs(1min).arrives(1s),
                              job('S').cores(4).runs(30s).arrives(2min)};
  EXPECT_EQ(simulate("priority-easy", cores(4), jobs).decisions(), "start A 4; start M 4; start S 4");
  EXPECT_EQ(simulate("priority-easy:aging=off", cores(4), jobs).decisions(), "start A 4; start S 4; start M 4");
  jobs[0] = job('A').cores(4).runs(6h);
  jobs[1] = job('L').cores(4).runs(1h).arrives(1s);
  EXPECT_EQ(simulate("priority-easy", cores(4), jobs).decisions(), "start A 4; start L 4; start S 4");
  EXPECT_EQ(simulate("priority-easy:aging=one", cores(4), jobs).decisions(), "start A 4; start S 4; start L 4");
}

TEST(PriorityEasy, BackfillsBehindTheHeadOfItsOrder) {
  const std::vector<TracedJob> jobs{job('A').cores(3).runs(2min), job('M').cores(4).runs(5min).arrives(1s),
                                    job('L').cores(1).runs(1min).arrives(2s)};
  const auto log = simulate("priority-easy", cores(4), jobs);
  EXPECT_EQ(log.start(id('L')), at(2s)) << "over before A";
  EXPECT_EQ(log.start(id('M')), at(2min));
}

TEST(PriorityEasy, ClassAndPromotionFollowTheTimeAtTheOptimumSizeAndTheJobRunsAtTheSubmittedOne) {
  // On its 8 processes M is estimated to take 50 s, at its optimum size of 4 a minute and more: it is medium.
  const SpeedupCurve curve{ThreePointSpeedup{.optimum = 4}};  // T(4) = T(8) / 0.8125
  const std::vector<TracedJob> jobs{job('A').cores(8).runs(50s),
                                    job('M').cores(8).runs(50s).arrives(1s).moldable(curve),
                                    job('S').cores(8).runs(59s).arrives(2s)};
  EXPECT_EQ(simulate("priority-easy", cores(8), jobs).decisions(), "start A 8; start S 8; start M 8");
  // Five times T(4) are 307.7 s: at 306 s it still is medium, at 310 s it is short.
  for (const auto& [ends, order] :
       {std::pair{306s, "start A 8; start S 8; start M 8"}, std::pair{310s, "start A 8; start M 8; start S 8"}})
    EXPECT_EQ(simulate("priority-easy", cores(8),
                       {job('A').cores(8).runs(ends), job('M').cores(8).runs(50s).arrives(0s).moldable(curve),
                        job('S').cores(8).runs(59s).arrives(2s)})
                  .decisions(),
              order);
}

}  // namespace
}  // namespace replay::test
