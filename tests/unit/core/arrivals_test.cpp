#include "scheduler/core/arrivals.hpp"

#include <gtest/gtest.h>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

using namespace std::chrono_literals;

TEST(Arrivals, AJobStaysUntilItsEndIsForgotten) {
  const Workload workload{{job('A').runs(1min), job('B').arrives(1min).runs(2min), job('C').arrives(2min).runs(3min)}};
  Arrivals arrivals(workload);
  EXPECT_EQ(arrivals.next(), at(0s));
  const TracedJob* a = arrivals.take(at(0s));
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(arrivals.take(at(0s)), nullptr);
  arrivals.on_end(id('A'), at(1min));
  const TracedJob* b = arrivals.take(at(1min));
  ASSERT_NE(b, nullptr);
  EXPECT_NE(a, b) << "a user may not know yet that A has ended";
  EXPECT_EQ(a->truth.runtime, 1min);
  arrivals.forget_ended();
  const TracedJob* c = arrivals.take(at(2min));
  EXPECT_EQ(c, a) << "its memory is used again";
  EXPECT_EQ(c->truth.runtime, 3min);
  EXPECT_EQ(&arrivals.job(id('B')), b);
  EXPECT_TRUE(arrivals.done());
}

TEST(Arrivals, WhoFollowsComesAfterItsThinkTime) {
  const Workload workload{{job('A').runs(1min), job('B').arrives(10s).follows('A', 30s), job('C').arrives(5min)}};
  Arrivals arrivals(workload);
  ASSERT_NE(arrivals.take(at(0s)), nullptr);
  EXPECT_EQ(arrivals.next(), at(5min));
  arrivals.on_end(id('A'), at(60s));
  arrivals.forget_ended();
  EXPECT_EQ(arrivals.next(), at(90s));
  const TracedJob* b = arrivals.take(at(90s));
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->job.id, id('B'));
  EXPECT_EQ(b->job.submitted, at(90s));
  EXPECT_EQ(arrivals.left(), 1u);
}

TEST(Arrivals, AJobIsTakenBackUnlessItHasEnded) {
  const Workload workload{{job('A').cancelled_after(30s), job('B').cancelled_after(20s), job('C')}};
  Arrivals arrivals(workload);
  EXPECT_EQ(arrivals.next_cancel(), kNever) << "nothing has come yet";
  while (arrivals.take(at(0s)) != nullptr) continue;
  EXPECT_EQ(arrivals.next_cancel(), at(20s));
  EXPECT_EQ(arrivals.take_cancel(at(19s)), std::nullopt);
  EXPECT_EQ(arrivals.take_cancel(at(20s)), id('B'));
  EXPECT_EQ(arrivals.take_cancel(at(20s)), std::nullopt);
  arrivals.on_end(id('A'), at(25s));
  EXPECT_EQ(arrivals.take_cancel(at(30s)), std::nullopt);
  EXPECT_EQ(arrivals.next_cancel(), kNever);
}

}  // namespace
}  // namespace replay::test
