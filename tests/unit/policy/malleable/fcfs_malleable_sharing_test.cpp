// fcfs-malleable with `share`: two jobs on the same cores. One node, model `isolated`: a job is as slow as the load of its
// busiest core, the sum of the CPU uses of all processes there, and at full speed up to a load of 1.
#include <gtest/gtest.h>

#include <string>

#include "scheduler/base/error.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

const Machine kTwoCores = Machine::cluster(1, 1, 2);
const Machine kFourCores = Machine::cluster(1, 2, 2);

MemoryLog play(const char* policy, const Machine& machine, const std::vector<TracedJob>& jobs) {
  MemoryLog log = simulate(policy, machine, jobs);
  EXPECT_EQ(what_is_wrong(log, machine), "");
  return log;
}

// The case of docs/policies/fcfs-malleable.md.
std::vector<TracedJob> two_that_complement() {
  return {job('A').cores(4).runs(10min).cpu_use(0.5), job('B').cores(4).arrives(2min).runs(4min).cpu_use(0.75)};
}

TEST(FcfsMalleableSharing, StartsTheHeadBesideARunningJobBeforeAnyIsShrunk) {
  const auto log = play("fcfs-malleable:share=first", kFourCores, two_that_complement());
  EXPECT_EQ(log.decisions(), "start A 4; start B 4");
  EXPECT_EQ(gantt(log, 4, 1min),
            "AA&&&&&AAAA\n"
            "AA&&&&&AAAA\n"
            "AA&&&&&AAAA\n"
            "AA&&&&&AAAA\n")
      << "load 1.25: B takes 5 min for 4, A does 4 min of its last 8 meanwhile";
  EXPECT_EQ(log.end(id('B')), at(7min));
  EXPECT_EQ(log.end(id('A')), at(11min));
}

TEST(FcfsMalleableSharing, IsOffUnlessAskedFor) {
  const auto log = play("fcfs-malleable", kFourCores, two_that_complement());
  EXPECT_EQ(log.decisions(), "start A 4; resize A 2; start B 2; resize A 4");
  EXPECT_EQ(log.end(id('B')), at(8min)) << "load 1.5 on two cores";
}

TEST(FcfsMalleableSharing, WithLastShrinksWhereThatMakesRoom) {
  const auto log = play("fcfs-malleable:share=last", kFourCores, two_that_complement());
  EXPECT_EQ(log.decisions(), "start A 4; resize A 2; start B 2; resize A 4");
}

TEST(FcfsMalleableSharing, WithLastStartsTheHeadBesideAnotherWhereShrinkingMakesNoRoom) {
  // Serial jobs cannot be shrunk. C goes beside A, the oldest, for which a load of 1.5 is just small enough.
  const std::vector<TracedJob> jobs{job('A').cores(1).runs(6min).cpu_use(0.75), job('B').cores(1).runs(8min),
                                    job('C').cores(1).arrives(1min).runs(2min).cpu_use(0.75)};
  const auto log = play("fcfs-malleable:share=last", kTwoCores, jobs);
  EXPECT_EQ(log.start(id('C')), at(1min));
  EXPECT_EQ(log.end(id('C')), at(4min));
  EXPECT_EQ(log.end(id('A')), at(7min)) << "3 min at a load of 1.5";
  EXPECT_EQ(log.end(id('B')), at(8min));
  EXPECT_EQ(play("fcfs-malleable", kTwoCores, jobs).start(id('C')), at(6min));
}

TEST(FcfsMalleableSharing, NeitherOfTheTwoIsSlowedDownBeyondTheBound) {
  const std::vector<TracedJob> jobs{job('A').cores(1).runs(6min), job('B').cores(1).runs(8min).cpu_use(0.5),
                                    job('C').cores(1).arrives(1min).runs(2min).cpu_use(0.75)};
  const auto started = [&](const char* policy) { return play(policy, kTwoCores, jobs).start(id('C')); };
  EXPECT_EQ(started("fcfs-malleable:share=last:max_slowdown=1.2"), at(6min));
  EXPECT_EQ(started("fcfs-malleable:share=last:max_slowdown=1.25"), at(1min));
  // Beside A the load is 1.75, beside B 1.25.
  const auto beside_b = play("fcfs-malleable:share=last:max_slowdown=1.5", kTwoCores, jobs);
  EXPECT_EQ(beside_b.end(id('A')), at(6min));
  EXPECT_EQ(beside_b.end(id('C')), at(Duration{3min} + 30s));
  const auto beside_a = play("fcfs-malleable:share=last:max_slowdown=2", kTwoCores, jobs);
  EXPECT_EQ(beside_a.end(id('B')), at(8min));
  EXPECT_EQ(beside_a.end(id('C')), at(Duration{4min} + 30s));
}

TEST(FcfsMalleableSharing, NoCoreGetsMoreThanMaxMplProcesses) {
  // A is shrunk for B; C finds two processes of A on each core of A, and a third would be one too many.
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(8min).cpu_use(0.4),
                                    job('B').cores(2).arrives(1min).runs(8min).rigid(),
                                    job('C').cores(2).arrives(2min).runs(1min).cpu_use(0.4)};
  EXPECT_EQ(play("fcfs-malleable:share=last", kFourCores, jobs).start(id('C')), at(8min));
  const auto log = play("fcfs-malleable:share=first:max_mpl=3", kFourCores, jobs);
  EXPECT_EQ(log.start(id('C')), at(2min));
  EXPECT_EQ(log.end(id('C')), at(Duration{3min} + 12s)) << "load 1.2";
}

TEST(FcfsMalleableSharing, AThirdJobComesToNoSharedCore) {
  const auto log = play("fcfs-malleable:share=first:max_mpl=4:max_slowdown=4", kTwoCores,
                        {job('A').cores(2).runs(6min).cpu_use(0.2), job('B').cores(2).runs(6min).cpu_use(0.2),
                         job('C').cores(2).runs(1min).cpu_use(0.2)});
  EXPECT_EQ(log.start(id('B')), at(0s));
  EXPECT_EQ(log.start(id('C')), at(6min));
}

TEST(FcfsMalleableSharing, TwoSmallJobsStartBesideALargeOneOnDifferentCores) {
  const auto log = play("fcfs-malleable:share=first", kFourCores,
                        {job('A').cores(4).runs(6min).cpu_use(0.5), job('B').cores(2).runs(2min).cpu_use(0.5),
                         job('C').cores(2).runs(2min).cpu_use(0.5)});
  EXPECT_EQ(log.decisions(), "start A 4; start B 2; start C 2");
  EXPECT_EQ(gantt(log, 4, 1min),
            "&&AAAA\n"
            "&&AAAA\n"
            "&&AAAA\n"
            "&&AAAA\n");
}

TEST(FcfsMalleableSharing, AJobThatSharesIsNeitherShrunkNorExpanded) {
  // The rigid C cannot share; it waits until A has ended, and B no longer shares its cores.
  const auto log = play("fcfs-malleable:share=first:max_mpl=3:max_slowdown=2", kTwoCores,
                        {job('A').cores(2).runs(4min).cpu_use(0.3), job('B').cores(2).runs(6min).cpu_use(0.3),
                         job('C').cores(1).arrives(1min).runs(1min).rigid()});
  EXPECT_EQ(log.decisions(), "start A 2; start B 2; resize B 1; start C 1; resize B 2");
  EXPECT_EQ(log.start(id('C')), at(4min));
}

TEST(FcfsMalleableSharing, RigidJobsShareNoCores) {
  const auto start_of_b = [](bool is_a_rigid) {
    JobBuilder a = job('A').cores(2).runs(3min).cpu_use(0.2);
    if (is_a_rigid) a.rigid();
    JobBuilder b = job('B').cores(2).runs(3min).cpu_use(0.2);
    if (!is_a_rigid) b.rigid();
    return play("fcfs-malleable:share=first", kTwoCores, {a, b}).start(id('B'));
  };
  EXPECT_EQ(start_of_b(true), at(3min));
  EXPECT_EQ(start_of_b(false), at(3min));
}

TEST(FcfsMalleableSharing, NeedsCoresWithNames) {
  EXPECT_THROW(simulate("fcfs-malleable:share=last", cores(4), {job('A').cores(1).runs(1min)}), PolicyError);
}

}  // namespace
}  // namespace replay::test
