#include <gtest/gtest.h>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST(FcfsMalleable, ShrinksTheOldestSoThatTheHeadCanStart) {
  const auto log =
      simulate("fcfs-malleable", cores(4), {job('A').cores(4).runs(4min), job('B').cores(2).arrives(1min).runs(1min)});
  EXPECT_EQ(log.decisions(), "start A 4; resize A 2; start B 2; resize A 4");
  EXPECT_EQ(gantt(log, 4, 30s),
            "AAAAAAAAA\n"
            "AAAAAAAAA\n"
            "AABBAAAAA\n"
            "AABBAAAAA\n")
      << "one minute at half speed costs A half a minute; B runs expanded since shrinking A freed enough";
}

TEST(FcfsMalleable, ShrinksAsFewAsNeeded) {
  const auto log = simulate(
      "fcfs-malleable", cores(8),
      {job('A').cores(4).runs(4min), job('B').cores(4).runs(4min), job('C').cores(2).arrives(1min).runs(2min)});
  EXPECT_EQ(log.decisions(id('A')), "start 4, resize 2, resize 4");
  EXPECT_EQ(log.decisions(id('B')), "start 4");
}

TEST(FcfsMalleable, TheCriterionSaysWhoIsShrunk) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(4min).cpu_use(0.9),
                                    job('B').cores(4).runs(6min).cpu_use(0.6),
                                    job('C').cores(2).arrives(1min).runs(1min)};
  const auto shrunk_first = [&](const char* policy) {
    const std::string all = simulate(policy, cores(8), jobs).decisions();
    return all.substr(all.find("resize") + 7, 1);
  };
  EXPECT_EQ(shrunk_first("fcfs-malleable:criterion=oldest"), "A");
  EXPECT_EQ(shrunk_first("fcfs-malleable:criterion=least-cpu-util"), "B");
  EXPECT_EQ(shrunk_first("fcfs-malleable:criterion=longest"), "B");
  EXPECT_EQ(shrunk_first("fcfs-malleable:criterion=shortest"), "A");
}

TEST(FcfsMalleable, NeverShrinksSerialAndRigidJobs) {
  const auto log =
      simulate("fcfs-malleable", cores(3),
               {job('A').cores(2).runs(2min).rigid(), job('B').cores(1).runs(2min), job('C').cores(2).runs(1min)});
  EXPECT_EQ(log.decisions(), "start A 2; start B 1; start C 2");
  EXPECT_EQ(log.start(id('C')), at(2min));
}

TEST(FcfsMalleable, StartsShrunkWhenOnlyHalfFits) {
  const auto log = simulate(
      "fcfs-malleable", cores(3),
      {job('A').cores(1).runs(3min), job('B').cores(2).runs(1min).rigid(), job('C').cores(3).arrives(30s).runs(2min)});
  EXPECT_EQ(log.decisions(id('C')), "start 2, resize 3");
  EXPECT_EQ(log.start(id('C')), at(1min)) << "when B ends there are 2 of its 3 cores";
  EXPECT_EQ(log.end(id('C')), at(4min)) << "half of it at half speed until A ends, the other half expanded";
}

TEST(FcfsMalleable, ShrinksNobodyIfThatWouldNotHelp) {
  const auto log = simulate(
      "fcfs-malleable", cores(4),
      {job('A').cores(2).runs(3min), job('B').cores(2).runs(3min).rigid(), job('C').cores(4).arrives(1min).runs(1min)});
  EXPECT_EQ(log.decisions(id('A')), "start 2") << "C needs 2 cores, shrinking A frees only one";
}

TEST(FcfsMalleable, ExpandsOlderJobsOnlyWithAnEmptyQueueUnlessEager) {
  // A is shrunk for B. When B ends, C waits and cannot start: the paper leaves A shrunk, eager expands it.
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(4min), job('B').cores(2).arrives(1min).runs(1min).rigid(),
                                    job('C').cores(4).arrives(90s).runs(1min).rigid()};
  EXPECT_EQ(simulate("fcfs-malleable", cores(4), jobs).decisions(id('A')), "start 4, resize 2");
  EXPECT_EQ(simulate("fcfs-malleable:expand=eager", cores(4), jobs).decisions(id('A')), "start 4, resize 2, resize 4");
}

TEST(FcfsMalleable, GoesOneLevelDeeperPerRound) {
  const auto log = simulate("fcfs-malleable:max_mpl=4", cores(4),
                            {job('A').cores(4).runs(8min), job('B').cores(2).arrives(1min).runs(8min),
                             job('C').cores(1).arrives(2min).runs(1min)});
  EXPECT_EQ(log.decisions(id('A')), "start 4, resize 2, resize 4");
  EXPECT_EQ(log.decisions(id('B')), "start 2, resize 1, resize 2")
      << "at level 2 shrinking B is enough for C; A goes to level 3 only when none is left at level 1";
}

TEST(FcfsMalleable, MaxMplOneIsFcfs) {
  const std::vector<TracedJob> jobs{job('A').cores(3).runs(2min), job('B').cores(4).runs(1min),
                                    job('C').cores(1).runs(1min)};
  EXPECT_EQ(simulate("fcfs-malleable:max_mpl=1", cores(4), jobs).decisions(),
            simulate("fcfs", cores(4), jobs).decisions());
}

TEST(FcfsMalleable, OnNodesEveryJobIsShrunkAndExpandedInPlace) {
  const Machine machine = Machine::cluster(2, 1, 2);
  const auto log =
      simulate("fcfs-malleable", machine, {job('A').cores(4).runs(2min), job('B').cores(2).arrives(1min).runs(1min)});
  EXPECT_EQ(what_is_wrong(log, machine), "");
  EXPECT_EQ(gantt(log, 4, 30s),
            "AAAAA\n"
            "AABBA\n"
            "AAAAA\n"
            "AABBA\n");
}

}  // namespace
}  // namespace replay::test
