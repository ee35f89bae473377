// Tests of the searches of slack-based backfilling: the number of schedules that are priced (Talby and Feitelson 1999,
// section 4.5, Figure 8), and that no heuristic finds a cheaper one than the search that tries every order.
#include "scheduler/policy/slack/slack_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "scheduler/policy/plan/running_plan.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

constexpr SlackOf kPatient{0.5, 1000, 1000, true};

// Waiting jobs, each planned at its earliest hole on an idle machine.
class Queue {
 public:
  explicit Queue(CoreCount cores) : plan_(cores, at(0s)) {}

  void add(const TracedJob& traced, const SlackOf& slack) { jobs_.push_back({traced.job, slack}); }
  SlackCandidate insert(SlackSearch& search, const Job& job) {
    std::vector<SlackWaiting> waiting;
    for (const auto& [known, slack] : jobs_) waiting.push_back({&known, place(plan_, known, at(0s)), slack});
    for (const SlackWaiting& one : waiting) take_back(plan_, *one.job, one.start);
    std::ranges::sort(waiting, {}, [](const SlackWaiting& w) { return std::tuple{w.start, w.job->id}; });
    return search.insert(plan_, waiting, at(0s), job, kPatient);
  }

 private:
  struct Known {
    Job job;
    SlackOf slack;
  };
  Availability plan_;
  std::vector<Known> jobs_;
};

TEST(SlackSearch, Figure8PricesTenSchedules) {
  // J1, J2 and J3 take all processors one after the other, from 0, 2 and 5 on. J4 at 0 delays three of them, in 6
  // orders; at 2 two, in 2 orders; at 5 one; and behind them none.
  Queue queue{4};
  queue.add(job('A').cores(4).runs(2s), kPatient);
  queue.add(job('B').cores(4).runs(3s), kPatient);
  queue.add(job('C').cores(4).runs(1s), kPatient);
  const TracedJob j4 = job('D').cores(4).runs(1s);
  SlackSearch every_order{SlackHeuristic::kAll, {}, false};
  (void)queue.insert(every_order, j4.job);
  EXPECT_EQ(every_order.priced(), 6U + 2U + 1U + 1U);

  SlackSearch one_order{SlackHeuristic::kAst, {}, false};
  (void)queue.insert(one_order, j4.job);
  EXPECT_EQ(one_order.priced(), 4U) << "the heuristics look at one order in each iteration";
}

TEST(SlackSearch, LongQueuesAreTriedInOneOrder) {
  Queue queue{4};
  for (char name = 'A'; name < static_cast<char>('A' + kMostPermuted + 1); ++name)
    queue.add(job(name).cores(4).runs(1s), kPatient);
  const TracedJob late = job('Z').cores(4).runs(1s);
  SlackSearch search{SlackHeuristic::kAll, {}, false};
  (void)queue.insert(search, late.job);
  EXPECT_EQ(search.priced(), 1U + 720 + 120 + 24 + 6 + 2 + 1 + 1) << "the first instant delays one too many";
}

TEST(SlackSearch, NoHeuristicIsCheaperThanEveryOrder) {
  int cheaper = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto jobs = random_jobs(seed, 6, 16);
    Queue queue{16};
    for (std::size_t i = 0; i + 1 < jobs.size(); ++i)
      queue.add(jobs[i], {0.5 + 0.05 * static_cast<double>(i), 50.0 * static_cast<double>(i), 300, true});
    SlackSearch every_order{SlackHeuristic::kAll, {}, false};
    const double least = queue.insert(every_order, jobs.back().job).price;
    for (const SlackHeuristic heuristic :
         {SlackHeuristic::kAst, SlackHeuristic::kAat, SlackHeuristic::kDu, SlackHeuristic::kDc, SlackHeuristic::kDp}) {
      SlackSearch search{heuristic, {}, false};
      const double price = queue.insert(search, jobs.back().job).price;
      const double rounding = 1e-9 * (1 + std::abs(price));
      EXPECT_LE(least, price + rounding) << "seed " << seed;
      cheaper += least < price - rounding ? 1 : 0;
    }
  }
  EXPECT_GT(cheaper, 0) << "the orders have to differ somewhere, else this test says nothing";
}

}  // namespace
}  // namespace replay::test
