#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "scheduler/policy/moldable/best_response.hpp"
#include "tests/support/random.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST(CirneBerman, TheTrialKnowsThatWaitingJobsWillBePromoted) {
  // J is short. M, a medium job of 3 cores, is promoted at 301 s, so that it goes before J when A ends at 600 s: beside it
  // J on one core is over at 700 s, after it on two at 710 s. Without promotions J goes first, on two cores.
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(600s).rigid(),
                                    job('M').cores(3).runs(60s).arrives(1s).rigid(),
                                    job('J').cores(2).runs(50s).arrives(100s).moldable(kLinear, 1, 2)};
  EXPECT_EQ(simulate("cirne-berman", cores(4), jobs, "rigid").decisions(), "start A 4; start M 3; start J 1");
  EXPECT_EQ(simulate("cirne-berman:aging=off", cores(4), jobs, "rigid").decisions(), "start A 4; start J 2; start M 3");
}

TEST(CirneBerman, JobsOfOneInstantChooseInTheOrderOfTheirNumbers) {
  // B, which has the lower number, has all to itself; C sees it and waits for all 4 as well.
  const std::vector<TracedJob> jobs{job('C').cores(2).runs(80s).moldable(kLinear, 2, 4),
                                    job('B').cores(2).runs(90s).moldable(kLinear, 1, 4)};
  for (const char* policy : {"cirne-berman", "cirne-berman:base=conservative"}) {
    const auto log = simulate(policy, cores(4), jobs, "rigid");
    EXPECT_EQ(log.start(id('B')), at(0s)) << policy;
    EXPECT_EQ(log.end(id('B')), at(45s)) << policy;
    EXPECT_EQ(log.end(id('C')), at(85s)) << policy;
  }
}

TEST(CirneBerman, AJobKeepsItsSizeWhenItMovesUp) {
  // Planned at 100 s on 4 cores; A leaves at 50 s.
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(50s).estimated(100s).rigid(),
                                    job('B').cores(2).runs(60s).arrives(1s).moldable(kLinear, 1, 4)};
  for (const char* policy : {"cirne-berman", "cirne-berman:base=conservative"}) {
    const auto log = simulate(policy, cores(4), jobs, "rigid");
    EXPECT_EQ(log.decisions(), "start A 4; start B 4") << policy;
    EXPECT_EQ(log.start(id('B')), at(50s)) << policy;
  }
}

TEST(CirneBerman, TriesTheSizesThatTheJobOffersOnThisMachine) {
  TracedJob listed = job('A').cores(2).runs(80s).moldable(kLinear);
  Declaration declared = *listed.job.declaration;
  declared.sizes = {2, 3, 16};
  listed.job.declaration = std::make_shared<const Declaration>(declared);
  EXPECT_EQ(simulate("cirne-berman", cores(8), {listed}, "rigid").decisions(), "start A 3");
  EXPECT_EQ(simulate("cirne-berman:max=opt", cores(8), {listed}, "rigid").decisions(), "start A 2");
  const TracedJob wide = job('B').cores(2).runs(80s).moldable(kLinear, 12, 16);
  EXPECT_EQ(simulate("cirne-berman", cores(8), {wide}, "rigid").decisions(), "start B 2") << "as it was submitted";
}

TEST(BestResponse, IsTheSmallestSizeOfThoseWithTheLeast) {
  const TracedJob traced = job('A').cores(2).runs(80s).moldable(kLinear, 1, 4);
  int asked = 0;
  const auto best = [&](ProcessCount free_now, Duration others) {
    return best_response(traced.job, at(0s), 4,
                         [&](Shape shape, Instant before) {
                           ++asked;
                           const Instant start = shape.processes <= free_now ? at(0s) : at(others);
                           return start < before ? start : kNever;
                         })
        .processes;
  };
  EXPECT_EQ(best(2, 40s), 2) << "80 s now, or 80 s on 4 cores from 40 s on";
  EXPECT_EQ(best(2, 39s), 4);
  asked = 0;
  EXPECT_EQ(best(4, 0s), 4);
  EXPECT_EQ(asked, 1) << "no smaller size could be over as early, even if it started at once";
}

// Rigid jobs with exact estimates, short and medium, and last one with a choice.
std::vector<TracedJob> queue_before(Random& random, int machine) {
  std::vector<TracedJob> jobs;
  Duration now{};
  for (char letter = 'A'; letter < 'N'; ++letter) {
    now += std::chrono::seconds{random.below(30)};
    jobs.push_back(job(letter)
                       .cores(static_cast<ProcessCount>(random.between(1, machine)))
                       .runs(std::chrono::seconds{random.between(10, random.one_in(3) ? 4000 : 150)})
                       .arrives(now)
                       .rigid());
  }
  const auto own = static_cast<ProcessCount>(random.between(1, machine));
  const SpeedupCurve curve = random.one_in(2) ? SpeedupCurve{LinearSpeedup{}} : SpeedupCurve{ThreePointSpeedup{own}};
  jobs.push_back(job('N')
                     .cores(own)
                     .runs(std::chrono::seconds{random.between(10, random.one_in(3) ? 4000 : 150)})
                     .arrives(now)
                     .moldable(curve, 1, machine));
  return jobs;
}

class ChosenSize : public testing::TestWithParam<const char*> {};

// The oracle is the schedule itself: the same queue, with a job that offers one size only.
TEST_P(ChosenSize, IsTheOneWithTheLeastResponseWhenNoJobComesAfterwards) {
  constexpr int kMachine = 8;
  int choices = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random{seed};
    std::vector<TracedJob> jobs = queue_before(random, kMachine);
    const MemoryLog log = simulate(GetParam(), cores(kMachine), jobs, "rigid");
    const std::shared_ptr<const Declaration> free_choice = jobs.back().job.declaration;
    Instant best = kNever;
    ProcessCount best_size = 0;
    for (ProcessCount size = 1; size <= kMachine; ++size) {
      Declaration only = *free_choice;
      only.sizes = {size};
      jobs.back().job.declaration = std::make_shared<const Declaration>(only);
      const Instant end = simulate(GetParam(), cores(kMachine), jobs, "rigid").end(id('N'));
      if (end < best) best = end, best_size = size;
    }
    ASSERT_EQ(log.end(id('N')), best) << "seed " << seed;
    ASSERT_EQ(log.decisions(id('N')), fmt::format("start {}", best_size)) << "seed " << seed;
    choices += best_size < kMachine ? 1 : 0;
  }
  EXPECT_GT(choices, 20) << "the largest size is not always the best";
}

constexpr const char* kVariants[] = {"cirne-berman", "cirne-berman:aging=one", "cirne-berman:base=conservative"};
constexpr const char* kNames[] = {"Easy", "EasyAgingOne", "Conservative"};
INSTANTIATE_TEST_SUITE_P(CirneBerman, ChosenSize, testing::ValuesIn(kVariants),
                         [](const testing::TestParamInfo<const char*>& one) { return kNames[one.index]; });

}  // namespace
}  // namespace replay::test
