#include "scheduler/policy/plan/class_queue.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

// A view of waiting jobs on an idle pool.
struct Waiting {
  Machine machine = cores(16);
  FreeCores free{machine};
  WaitingQueue queue;
  RunningSet running;
  [[nodiscard]] ClusterView at(Instant now) const { return {now, machine, free, queue, running, {}}; }
};

std::string letters(const ClassQueue& queue) {
  std::string text;
  for (const ClassedJob* entry : queue.in_order()) text += static_cast<char>(number(entry->id));
  return text;
}

TEST(ClassQueue, IsByClassThenByArrivalAndPromotesAfterFiveTimesTheOptimum) {
  const TracedJob l = job('L').runs(1h), m = job('M').runs(1min).arrives(1s), n = job('N').runs(59min).arrives(1s),
                  s = job('S').runs(59s).arrives(2s);
  Waiting waiting;
  for (const TracedJob* one : {&l, &m, &n, &s}) waiting.queue.insert(one->job);
  ClassQueue queue{Aging::kTop};
  queue.follow(waiting.at(at(2s)));
  EXPECT_EQ(letters(queue), "SMNL");
  EXPECT_EQ(queue.next_promotion(), at(301s)) << "of M";
  queue.follow(waiting.at(at(301s)));
  EXPECT_EQ(letters(queue), "MSNL");
  EXPECT_EQ(queue.next_promotion(), at(295min + 1s)) << "of N";
  queue.follow(waiting.at(at(5h)));
  EXPECT_EQ(letters(queue), "LMNS");
  EXPECT_EQ(queue.next_promotion(), kNever);
  ClassQueue one{Aging::kOne}, off{Aging::kOff};
  one.follow(waiting.at(at(5h)));
  EXPECT_EQ(letters(one), "MNSL") << "L is medium now";
  off.follow(waiting.at(at(5h)));
  EXPECT_EQ(letters(off), "SMNL");
  EXPECT_EQ(off.next_promotion(), kNever);
}

TEST(ClassQueue, FollowsAQueueThatGrowsAndShrinksAndAMachineThatChanges) {
  const TracedJob l = job('L').runs(1h), m = job('M').runs(1min).arrives(1s), s = job('S').runs(59s).arrives(2s);
  Waiting waiting;
  ClassQueue queue{Aging::kTop};
  waiting.queue.insert(l.job);
  waiting.queue.insert(s.job);
  queue.follow(waiting.at(at(2s)));
  EXPECT_EQ(letters(queue), "SL");
  waiting.queue.remove(s.job);
  waiting.queue.insert(m.job);  // before the last one
  queue.follow(waiting.at(at(3s)));
  EXPECT_EQ(letters(queue), "ML");

  const TracedJob wide = job('W').cores(4).moldable(SpeedupCurve{DowneySpeedup{12, 0}}, 1, 100).arrives(3s);
  waiting.queue.insert(wide.job);
  queue.follow(waiting.at(at(3s)));
  EXPECT_EQ(queue.in_order().front()->optimum, 12);
  EXPECT_EQ(queue.in_order().front()->at_optimum, 20s) << "a minute on 4";
  waiting.machine = cores(6);
  queue.follow(waiting.at(at(3s)));
  EXPECT_EQ(queue.in_order().front()->optimum, 6);
}

TEST(ClassQueue, APromotionBeyondAllPlansNeverComes) {
  const TracedJob endless = job('E').runs(std::chrono::hours{24 * 365 * 100'000LL});
  Waiting waiting;
  waiting.queue.insert(endless.job);
  ClassQueue queue{Aging::kTop};
  queue.follow(waiting.at(at(0s)));
  EXPECT_EQ(queue.next_promotion(), kNever);
}

}  // namespace
}  // namespace replay::test
