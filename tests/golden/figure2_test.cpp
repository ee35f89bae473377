// Figure 2 of the FCFS-malleable paper: ten cores, six jobs submitted at time 0, run times 2,1,1,2,2,1 time units (a
// minute here), J1 with 8 processes. The paper prints no other size; an exhaustive search over all sizes that meets its
// printed averages and its text leaves two sets, (8,5,1,8,4,10) and (8,4,2,8,4,10), and every start and every end must
// match for both. Half the cores are half the speed (the paper's footnote 1), which is the isolated model at full CPU
// use.

#include <gtest/gtest.h>

#include <ostream>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

struct Expected {
  const char* policy;
  std::vector<int> starts;  // of J1..J6, in minutes
  std::vector<int> ends;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.policy; }

class Figure2 : public testing::TestWithParam<std::tuple<std::vector<int>, Expected>> {};

TEST_P(Figure2, EveryStartAndEndIsThePapers) {
  const auto& [sizes, expected] = GetParam();
  const std::vector<int> minutes{2, 1, 1, 2, 2, 1};
  std::vector<TracedJob> jobs;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    jobs.push_back(JobBuilder{static_cast<JobId>(i + 1)}.cores(sizes[i]).runs(std::chrono::minutes{minutes[i]}));
  const MemoryLog log = simulate(expected.policy, cores(10), jobs);
  EXPECT_EQ(what_is_wrong(log, cores(10)), "");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(log.start(static_cast<JobId>(i + 1)), at(std::chrono::minutes{expected.starts[i]}))
        << "start of J" << i + 1;
    EXPECT_EQ(log.end(static_cast<JobId>(i + 1)), at(std::chrono::minutes{expected.ends[i]})) << "end of J" << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(
    BothSizeSets, Figure2,
    testing::Combine(testing::Values(std::vector<int>{8, 5, 1, 8, 4, 10}, std::vector<int>{8, 4, 2, 8, 4, 10}),
                     testing::Values(Expected{"fcfs", {0, 2, 2, 3, 5, 7}, {2, 3, 3, 5, 7, 8}},
                                     Expected{"easy", {0, 2, 0, 3, 5, 7}, {2, 3, 1, 5, 7, 8}},
                                     Expected{"easy:pass=instant", {0, 2, 0, 3, 5, 7}, {2, 3, 1, 5, 7, 8}},
                                     Expected{"fcfs-malleable", {0, 0, 0, 1, 1, 5}, {4, 1, 1, 5, 5, 6}})));

TEST(Figure2Drawn, FcfsMalleableRunsJ2AndJ3ExpandedBecauseJ4CannotStart) {
  const auto log =
      simulate("fcfs-malleable", cores(10),
               {job('A').cores(8).runs(2min), job('B').cores(5).runs(1min), job('C').cores(1).runs(1min),
                job('D').cores(8).runs(2min), job('E').cores(4).runs(2min), job('F').cores(10).runs(1min)});
  EXPECT_EQ(gantt(log, 10, 1min),
            "AAAA.F\n"
            "AAAA.F\n"
            "AAAA.F\n"
            "AAAA.F\n"
            "BDDDDF\n"
            "BDDDDF\n"
            "BDDDDF\n"
            "BDDDDF\n"
            "BEEEEF\n"
            "CEEEEF\n");
}

}  // namespace
}  // namespace replay::test
