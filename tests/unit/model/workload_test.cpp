#include "scheduler/model/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace replay {
namespace {

auto all_of(const TracedJob& traced) {
  const auto& [job, truth, follows, think_time, cancelled_after, has_network_overhead] = traced;
  return std::tuple{job.id,
                    job.submitted,
                    job.processes,
                    job.estimate,
                    job.flexibility,
                    std::tuple{job.declared.cpu_use, job.declared.network_overhead, job.declared.application},
                    job.user_priority,
                    job.political_priority,
                    job.user,
                    job.group,
                    std::tuple{job.queue, job.logged_start},
                    truth.runtime,
                    std::tuple{truth.behaviour.cpu_use, truth.behaviour.network_overhead, truth.behaviour.application},
                    truth.cut_at_request,
                    truth.executable,
                    follows,
                    think_time,
                    cancelled_after,
                    has_network_overhead};
}

// Draws from few values of each field, so that jobs are equal in some fields and not in others.
class Chance {
 public:
  explicit Chance(unsigned seed) : bits_(seed) {}

  TracedJob job(std::int64_t number) {
    TracedJob traced;
    Job& job = traced.job;
    job.id = JobId{number};
    job.submitted = Instant{Duration{any(1'000'000)}};
    job.processes = any(64) + 1;
    job.estimate = Duration{any(1'000'000) + 1};
    job.flexibility = static_cast<Flexibility>(any(3));
    job.user = any(5) - 1;
    job.group = any(5) - 1;
    job.queue = any(5) - 1;
    JobTruth& truth = traced.truth;
    truth.runtime = Duration{any(1'000'000)};
    truth.behaviour = behaviour();
    job.declared = any(3) == 0 ? behaviour() : truth.behaviour;
    truth.cut_at_request = any(2) == 0;
    truth.executable = any(4) - 1;
    if (any(4) == 0) job.political_priority = any(2) == 0 ? 0.5 : -std::numeric_limits<double>::infinity();
    if (any(4) == 0) job.user_priority = any(100) / 100.0;
    if (any(4) == 0) {
      traced.follows = JobId{any(100)};
      traced.think_time = Duration{any(100)};
    }
    if (any(4) == 0) traced.cancelled_after = Duration{any(100)};
    traced.has_network_overhead = any(3) == 0;
    return traced;
  }
  int any(int below) { return std::uniform_int_distribution<int>{0, below - 1}(bits_); }

 private:
  Behaviour behaviour() { return {any(3) / 2.0, any(3) / 2.0, any(3) - 1}; }
  std::mt19937 bits_;
};

std::vector<TracedJob> some_jobs(int count) {
  Chance chance{1};
  std::vector<TracedJob> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back(chance.job(i));
  return jobs;
}

void expect_same(const TracedJobs& jobs, const std::vector<TracedJob>& expected) {
  ASSERT_EQ(jobs.size(), expected.size());
  std::size_t i = 0;
  for (const TracedJob& job : jobs) ASSERT_EQ(all_of(job), all_of(expected[i++]));
}

TEST(TracedJobs, GiveBackWhatWasPutIn) {
  const std::vector<TracedJob> jobs = some_jobs(5000);
  expect_same(jobs, jobs);
  TracedJob job = jobs[17];
  TracedJobs{jobs}.get(4000, job);
  EXPECT_EQ(all_of(job), all_of(jobs[4000])) << "whatever was in it";
  EXPECT_TRUE(TracedJobs{}.empty());
}

TEST(TracedJobs, AreChangedWhereSomebodySaysSo) {
  std::vector<TracedJob> expected = some_jobs(500);
  TracedJobs jobs = expected;
  const TracedJobs before = jobs;
  const auto change = [](TracedJob& job) {
    job.job.processes += 1;
    job.job.user_priority = static_cast<double>(number(job.job.id)) / 1000;  // a distinct value for each job
  };
  jobs.change(3, change);
  change(expected[3]);
  expect_same(jobs, expected);
  jobs.change_each(change);
  for (TracedJob& job : expected) change(job);
  expect_same(jobs, expected);
  expect_same(before, some_jobs(500));
}

TEST(TracedJobs, AreSortedByInstantAndNumber) {
  std::vector<TracedJob> expected = some_jobs(500);
  for (TracedJob& job : expected) job.job.submitted = Instant{std::chrono::seconds{number(job.job.id) * 7 % 13}};
  TracedJobs jobs = expected;
  jobs.sort_by_submission();
  std::ranges::stable_sort(expected, {}, [](const TracedJob& j) { return std::pair{j.job.submitted, j.job.id}; });
  expect_same(jobs, expected);
}

// From job 100 on, so that the jobs before it are there when the first comes.
std::vector<TracedJob> some_logged_jobs(int count) {
  std::vector<TracedJob> jobs = some_jobs(count);
  for (std::size_t i = 100; i < jobs.size(); ++i)
    if (i % 3 != 0) jobs[i].job.logged_start = jobs[i].job.submitted + Duration{i};
  return jobs;
}

TEST(TracedJobs, KeepTheStartsOfALogWithTheirJobs) {
  std::vector<TracedJob> expected = some_logged_jobs(500);
  TracedJobs jobs = expected;
  expect_same(jobs, expected);
  const auto change = [](TracedJob& job) { job.job.logged_start = Instant{Duration{7}}; };
  jobs.change(3, change);
  change(expected[3]);
  expect_same(jobs, expected);
  EXPECT_EQ(jobs.logged_start(3), Instant{Duration{7}});
  EXPECT_EQ(jobs.logged_start(4), kNever);
  jobs.sort_by_submission();
  std::ranges::stable_sort(expected, {}, [](const TracedJob& j) { return std::pair{j.job.submitted, j.job.id}; });
  expect_same(jobs, expected);
}

TEST(TracedJobs, DrawNetworkOverheadsWhereTheTraceStatesNone) {
  std::vector<TracedJob> expected = some_jobs(500);
  TracedJobs jobs = expected;
  const auto overhead = [](JobId job) { return 1.0 / static_cast<double>(number(job) + 2); };
  jobs.set_network_overheads(overhead);
  for (TracedJob& job : expected)
    if (!job.has_network_overhead)
      job.job.declared.network_overhead = job.truth.behaviour.network_overhead = overhead(job.job.id);
  expect_same(jobs, expected);
}

}  // namespace
}  // namespace replay
