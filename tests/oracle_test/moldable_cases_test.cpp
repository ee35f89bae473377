// The oracles of the policies that choose sizes, on cases of a few jobs that were worked out by hand: start, size at the
// start and end of every job. No line of the program's policies runs here.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/oracle/moldable/cirne_berman.hpp"
#include "tests/oracle/moldable/greedy.hpp"
#include "tests/oracle/moldable/scojo.hpp"
#include "tests/oracle/moldable/scojo_p.hpp"

namespace replay::test {
namespace {

using oracle::Curve;
using oracle::Flexibility;
using oracle::Job;
using oracle::kSecond;
using oracle::Schedule;
using oracle::Span;
using oracle::Time;
using oracle::Workload;

Job rigid(int processes, Time submit, Time seconds) {
  Job job;
  job.submit = submit * kSecond;
  job.run_time = job.request = seconds * kSecond;
  job.processes = processes;
  job.flexibility = Flexibility::kRigid;
  return job;
}

// Three-point with N = `processes`, sizes N/2 to 2N.
Job moldable(int processes, Time submit, Time seconds) {
  Job job = rigid(processes, submit, seconds);
  job.flexibility = Flexibility::kMoldable;
  job.curve = Curve{.law = Curve::Law::kThreePoint, .optimum = processes};
  job.least = (processes + 1) / 2;
  job.most = 2 * processes;
  return job;
}

Job malleable(int processes, Time submit, Time seconds) {
  Job job = moldable(processes, submit, seconds);
  job.flexibility = Flexibility::kMalleable;
  return job;
}

Workload on(int cores, std::vector<Job> jobs) {
  Workload workload;
  workload.cores_per_node = cores;
  workload.jobs = std::move(jobs);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) workload.jobs[i].number = static_cast<std::int64_t>(i) + 1;
  return workload;
}

Span span(double start, int size, double end) {
  const auto micros = [](double seconds) { return static_cast<Time>(std::llround(seconds * kSecond)); };
  return {micros(start), micros(end), {}, size};
}

struct Case {
  std::string name;
  std::function<Schedule(const Workload&)> oracle;
  Workload workload;
  Schedule expected;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

auto scojo_p_off() {
  return [](const Workload& workload) { return scojo_p(workload, {.predict = oracle::Predict::kOff}); };
}

auto cirne(oracle::Over over, oracle::Most most) {
  return [=](const Workload& workload) { return cirne_berman(workload, {.over = over, .most = most}); };
}

Workload one_size_for_life() { return on(8, {rigid(4, 0, 10), moldable(4, 0, 100), rigid(8, 5, 5)}); }

Workload equal_responses() {
  Workload workload = on(4, {rigid(2, 0, 40), rigid(2, 0, 80)});
  Job& job = workload.jobs[1];
  job.flexibility = Flexibility::kMoldable;
  job.curve = Curve{.law = Curve::Law::kLinear};
  job.least = 1;
  job.most = 4;
  return workload;
}

Workload a_day_later() {
  return on(
      8, {moldable(4, 0, 100), moldable(4, 0, 100), moldable(4, 0, 100), moldable(4, 0, 100), moldable(4, 86400, 900)});
}

std::vector<Case> cases() {
  using oracle::Most;
  using oracle::Over;
  const Span half = span(0, 2, 162.5);
  return {
      {"LoadOfOneJob", scojo_p_off(), on(8, {moldable(4, 0, 100)}), {span(0, 7, 85.245902)}},
      {"LoadOfThreeJobs",
       scojo_p_off(),
       on(8, {moldable(4, 0, 100), moldable(4, 0, 100), moldable(4, 0, 100)}),
       {half, span(0, 3, 123.809524), span(0, 3, 123.809524)}},
      {"SmallerNowBeatsLargerLater",
       scojo_p_off(),
       on(8, {rigid(6, 0, 300), moldable(4, 0, 400)}),
       {span(0, 6, 300), span(0, 2, 650)}},
      {"GuaranteedSizeHolds",
       scojo_p_off(),
       on(8, {rigid(6, 0, 80), moldable(4, 1, 400), moldable(4, 10, 400), moldable(4, 10, 400)}),
       {span(0, 6, 80), span(80, 6, 438.62069), span(10, 2, 660), span(438.62069, 6, 797.24138)}},
      {"BackfilledAtTheHeadsModifier",
       scojo_p_off(),
       on(8, {rigid(6, 0, 100), rigid(8, 1, 100), moldable(4, 1, 60)}),
       {span(0, 6, 100), span(100, 8, 200), span(1, 2, 98.5)}},
      {"ForecastFromThePast",
       [](const Workload& workload) { return scojo_p(workload, {}); },
       a_day_later(),
       {half, half, half, half, span(86400, 6, 87206.896552)}},
      {"NoForecast", scojo_p_off(), a_day_later(), {half, half, half, half, span(86400, 7, 87167.213115)}},
      {"SizeForLifeOverEasy",
       cirne(Over::kEasy, Most::kFull),
       one_size_for_life(),
       {span(0, 4, 10), span(15, 8, 96.25), span(10, 8, 15)}},
      {"SizeUpToTheOptimumOverEasy",
       cirne(Over::kEasy, Most::kOptimum),
       one_size_for_life(),
       {span(0, 4, 10), span(0, 4, 100), span(100, 8, 105)}},
      {"SizeForLifeOverConservative",
       cirne(Over::kConservative, Most::kFull),
       one_size_for_life(),
       {span(0, 4, 10), span(10, 8, 91.25), span(91.25, 8, 96.25)}},
      {"EqualResponseSmallerSizeOverEasy",
       cirne(Over::kEasy, Most::kFull),
       equal_responses(),
       {span(0, 2, 40), span(0, 2, 80)}},
      {"EqualResponseSmallerSizeOverConservative",
       cirne(Over::kConservative, Most::kFull),
       equal_responses(),
       {span(0, 2, 40), span(0, 2, 80)}},
      {"GreedyReservesNothing",
       [](const Workload& workload) { return greedy_moldable(workload, oracle::GreedyOrder::kArrival); },
       on(8, {moldable(2, 0, 100), rigid(6, 0, 50), moldable(4, 0, 100), moldable(4, 50, 30)}),
       {span(0, 4, 81.25), span(111.25, 6, 161.25), span(0, 4, 100), span(81.25, 4, 111.25)}},
      {"RunningJobsAreResizedEvery300Seconds",
       [](const Workload& workload) { return scojo(workload, {}); },
       on(8, {malleable(4, 0, 100), malleable(4, 10, 100)}),
       {span(0, 8, 97.692308), span(10, 4, 110)}},
  };
}

class MoldableCases : public testing::TestWithParam<Case> {};

TEST_P(MoldableCases, EveryStartSizeAndEndIsThatWorkedOutByHand) {
  Schedule found = GetParam().oracle(GetParam().workload);
  for (Span& span : found) span.cores.clear();
  ASSERT_EQ(found.size(), GetParam().expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].start, GetParam().expected[i].start) << "job " << i + 1;
    EXPECT_EQ(found[i].processes, GetParam().expected[i].processes) << "job " << i + 1;
    EXPECT_EQ(found[i].end, GetParam().expected[i].end) << "job " << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Oracles, MoldableCases, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

}  // namespace
}  // namespace replay::test
