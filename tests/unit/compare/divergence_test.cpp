// Tests of the divergence of two runs: the event that came earlier, by how much, and what each side did next.
#include "scheduler/compare/divergence.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_workload.hpp"
#include "tests/unit/metrics/five_jobs.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::compare {
namespace {

using namespace std::chrono_literals;
using metrics::Records;
using test::job;

DecisionList list_of(const std::vector<TracedJob>& jobs, std::string_view policy = "easy", CoreCount cores = 4) {
  DecisionList list;
  test::feed(test::simulate(policy, test::cores(cores), jobs), fmt::format("flat:{}", cores), list);
  return list;
}

DecisionList list_of(const Records& records) {
  DecisionList list;
  records.feed(list);
  return list;
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(Divergence, OfARunWithItselfIsNone) {
  const auto jobs = test::random_jobs(3, 60, 8);
  EXPECT_FALSE(first_divergence(list_of(jobs, "fcfs-malleable", 8), list_of(jobs, "fcfs-malleable", 8), 0s));
}

// A holds two of four cores until 10 s. B needs three and is submitted at 9 s, C needs one for one second and is
// submitted at 9.5 s. If A ends at 10 s: B is the head and reserved for 10 s, C fills the gap. If A ends at 8.9 s, B
// starts at once at 9 s.
TEST(Divergence, NamesTheEventsThatChangedPlacesAndByHowMuch) {
  const auto workload = [](Duration end_of_a) {
    return std::vector<TracedJob>{job('A').cores(2).runs(end_of_a).estimated(60s),
                                  job('B').cores(3).runs(5s).arrives(9s), job('C').cores(1).runs(1s).arrives(9500ms)};
  };
  const auto divergence = first_divergence(list_of(workload(10s)), list_of(workload(8900ms)), 0s);
  ASSERT_TRUE(divergence);
  ASSERT_TRUE(divergence->order);
  EXPECT_EQ(divergence->order->first.job, test::id('B'));
  EXPECT_EQ(divergence->order->first.kind, MovedEvent::Kind::kSubmission);
  EXPECT_EQ(divergence->order->second.job, test::id('A'));
  EXPECT_EQ(divergence->order->second.kind, MovedEvent::Kind::kEnd);
  const std::string text = explain(*divergence);
  EXPECT_TRUE(says(text, "In the simulation job 66")) << text;
  EXPECT_TRUE(says(text, "job 66 came 1.000 s before job 65 ended (at 9.00 s)")) << text;
  EXPECT_TRUE(says(text, "job 65 ended 0.100 s before job 66 came (at 8.90 s)")) << text;
  EXPECT_TRUE(says(text, "the real run starts job 66 on 3 cores at 9.00 s")) << text;
  EXPECT_TRUE(says(text, "the simulator starts job 66 on 3 cores only at 10.00 s")) << text;
}

TEST(Divergence, WithoutAChangeOfOrderNamesWhatMovedLast) {
  const auto workload = [](Duration end_of_a) {
    return std::vector<TracedJob>{job('A').cores(4).runs(end_of_a).estimated(60s),
                                  job('B').cores(4).runs(5s).arrives(1s)};
  };
  const auto divergence = first_divergence(list_of(workload(10s)), list_of(workload(12s)), 1s);
  ASSERT_TRUE(divergence);
  EXPECT_FALSE(divergence->order);
  ASSERT_TRUE(divergence->moved);
  EXPECT_EQ(divergence->moved->job, test::id('A'));
  const std::string text = explain(*divergence);
  EXPECT_TRUE(says(text, "job 65 ended 2.000 s later in the real run (at 12.00 s)")) << text;
  EXPECT_TRUE(says(text, "(within 1 s)")) << text;
}

TEST(Divergence, WithinTheToleranceIsNone) {
  const auto workload = [](Duration end_of_a) {
    return std::vector<TracedJob>{job('A').cores(4).runs(end_of_a).estimated(60s),
                                  job('B').cores(4).runs(5s).arrives(1s)};
  };
  EXPECT_FALSE(first_divergence(list_of(workload(10s)), list_of(workload(11s)), 1s));
}

// One instant of a simulation is always two in a real run. It is reported where no other events have changed places.
TEST(Divergence, AnInstantThatBecameTwoIsToldAsSuch) {
  const auto records = [](double end_of_second, double start, int mpl) {
    const CoreCount cores = 4 / mpl;
    Records log("flat:4");
    log.submit(0, 1, 2, 10).submit(0, 2, 2, 10).launch(0, 1, 2).launch(0, 2, 2).submit(1, 3, 4, 5).finish(10, 1);
    if (end_of_second <= start) log.finish(end_of_second, 2);
    log.add(start, log::StartDecided{JobId{3}, {cores, mpl, {}}}).launch(start, 3, cores, mpl);
    if (end_of_second > start) log.finish(end_of_second, 2);
    return log.finish(20, 3);
  };
  const auto divergence = first_divergence(list_of(records(10, 10, 1)), list_of(records(10.25, 10, 2)), 0s);
  ASSERT_TRUE(divergence);
  const std::string text = explain(*divergence);
  EXPECT_TRUE(says(text, "job 1 ended and job 2 ended at the same instant (at 10.00 s)")) << text;
  EXPECT_TRUE(says(text, "in the real run job 1 ended 0.250 s before job 2 ended")) << text;
  EXPECT_TRUE(says(text, "the real run starts job 3 on 2 cores (2 processes each)")) << text;
}

TEST(Divergence, OfOneRunThatDidNothingSaysSo) {
  const Records start = Records("flat:4")
                            .submit(0, 1, 2, 10)
                            .add(0, log::StartDecided{JobId{1}, {2, 1, {}}})
                            .launch(0, 1, 2)
                            .finish(10, 1);
  const Records nothing = Records("flat:4").submit(0, 1, 2, 10).finish(10, 1, metrics::ended(Outcome::kCancelled));
  const auto divergence = first_divergence(list_of(start), list_of(nothing), 0s);
  ASSERT_TRUE(divergence);
  const std::string text = explain(*divergence);
  EXPECT_TRUE(says(text, "the real run does nothing of that kind")) << text;
  EXPECT_TRUE(says(text, "All events before came at the same instants in both")) << text;
}

}  // namespace
}  // namespace replay::compare
