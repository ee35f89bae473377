#include "scheduler/report/terminal/watched_run.hpp"

#include <gtest/gtest.h>

#include "tests/unit/report/terminal/runs.hpp"

namespace replay::report {
namespace {

std::vector<std::int64_t> jobs_of(const std::map<std::uint64_t, JobId>& order) {
  std::vector<std::int64_t> jobs;
  for (const auto& [turn, id] : order) jobs.push_back(number(id));
  return jobs;
}

TEST(WatchedRun, KnowsWhoWaitsAndWhoRunsInOrder) {
  const WatchedRun run = watched(two_cores());
  EXPECT_EQ(run.title(), "fcfs-malleable on 1x1x2");
  EXPECT_EQ(run.now(), Instant{from_seconds(2)});
  EXPECT_EQ(jobs_of(run.waiting()), (std::vector<std::int64_t>{9}));
  EXPECT_EQ(jobs_of(run.launched()), (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(run.find(JobId{7})->cores, 1);
  EXPECT_EQ(run.find(JobId{7})->mpl, 2);
}

TEST(WatchedRun, TimeNeverGoesBack) {
  RunWatcher watcher;
  two_cores().feed(watcher);
  watcher.advance(Instant{from_seconds(5)});
  watcher.advance(Instant{from_seconds(4)});
  EXPECT_EQ(watcher.run().now(), Instant{from_seconds(5)});
}

TEST(WatchedRun, CountsTheProcessesThatWaitAndTheLongestQueue) {
  Records records("flat:4");
  records.submit(0, 1, 4, 1).submit(0, 2, 3, 1).submit(0, 3, 2, 1).launch(0, 1, 4);
  EXPECT_EQ(watched(records).waiting_processes(), 5);
  records.finish(1, 2, metrics::ended(Outcome::kCancelled));
  const WatchedRun run = watched(records);
  EXPECT_EQ(run.waiting_processes(), 2);
  EXPECT_EQ(run.longest_queue(), 3U);
  EXPECT_EQ(run.done(), 1U);
  EXPECT_EQ(run.failed(), 0U);
}

TEST(WatchedRun, ALetterIsTheJobsFromLaunchToEndAndThenFreeAgain) {
  Records records("flat:4");
  records.submit(0, 1, 1, 1).submit(0, 2, 1, 1).submit(0, 3, 1, 1).launch(0, 1, 1).launch(0, 2, 1).suspended(1, 1);
  EXPECT_EQ(watched(records).find(JobId{1})->symbol(), 'A');
  EXPECT_EQ(watched(records).find(JobId{3})->symbol(), kNoLetter) << "it waits";
  records.launch(2, 3, 1);
  EXPECT_EQ(watched(records).find(JobId{3})->symbol(), 'C') << "the suspended job keeps its letter";
  records.finish(3, 1).submit(4, 4, 1, 1).launch(4, 4, 1);
  EXPECT_EQ(watched(records).find(JobId{4})->symbol(), 'A');
}

TEST(WatchedRun, JobsBeyondTheLettersHaveNone) {
  const WatchedRun run = watched(full("1x1x60", 60, 1, 0));
  EXPECT_EQ(run.find(JobId{52})->symbol(), 'z');
  EXPECT_EQ(run.find(JobId{53})->symbol(), kNoLetter);
}

TEST(WatchedRun, ACoreNamesTheJobsThatShareItInTheOrderOfTheirLaunches) {
  const WatchedRun run = watched(sixty_four_cores());
  const std::vector<CoreUse> cores = run.cores();
  ASSERT_EQ(cores.size(), 64U);
  EXPECT_EQ(cores[3].first->id, JobId{1});
  EXPECT_EQ(cores[3].second, nullptr);
  EXPECT_EQ(cores[24].first->id, JobId{3});
  EXPECT_EQ(cores[24].second->id, JobId{4});
  EXPECT_EQ(cores[24].jobs, 2);
  EXPECT_EQ(cores[40].first, nullptr) << "a suspended job is on no core";
}

TEST(WatchedRun, GroupsAndSlicesAreThoseOfNow) {
  Records records("flat:4");
  records.submit(0, 1, 1, 1).submit(0, 2, 1, 1);
  EXPECT_FALSE(watched(records).has_sharing());
  records.add(1, GroupFormed{JobId{1}, {JobId{2}}, 1, 0.2});
  EXPECT_EQ(watched(records).groups().size(), 1U);
  records.add(2, SliceBegun{JobClass::kMedium, Instant{from_seconds(2)}, Instant{from_seconds(9)}});
  records.add(3, GroupEnded{JobId{1}});
  const WatchedRun run = watched(records);
  EXPECT_TRUE(run.groups().empty());
  EXPECT_EQ(run.slice()->job_class, JobClass::kMedium);
  EXPECT_TRUE(run.has_sharing());
}

TEST(WatchedRun, FailuresAreMarkedAmongTheEvents) {
  const WatchedRun run = watched(sixty_four_cores());
  EXPECT_EQ(run.failed(), 1U);
  EXPECT_EQ(run.events().back().text,
            "[    12.0 s] job 12 ended after 1.0 s (waited 0.0 s): failed, exit code 3: rank 0: no such file");
  EXPECT_TRUE(run.events().back().is_bad);
  EXPECT_FALSE(run.events().front().is_bad);
}

TEST(WatchedRun, KeepsTheLastEventsOnlyAndForgetsJobsThatAreOver) {
  Records records("flat:1");
  for (int job = 1; job <= 500; ++job) records.submit(job, job, 1, 1).launch(job, job, 1).finish(job + 1, job);
  const WatchedRun run = watched(records);
  EXPECT_EQ(run.events().size(), WatchedRun::kKeptEvents);
  EXPECT_EQ(run.told(), 1000U);
  EXPECT_EQ(run.find(JobId{1}), nullptr);
  EXPECT_EQ(run.done(), 500U);
}

TEST(WatchedRun, ACopyStaysAsItWas) {
  RunWatcher watcher;
  two_cores().feed(watcher);
  const WatchedRun copy = watcher.run();
  watcher.follower().record({Instant{from_seconds(3)}, log::Finished{JobId{8}, {}}});
  EXPECT_EQ(watcher.run().find(JobId{8}), nullptr);
  EXPECT_EQ(copy.cores()[1].first, copy.find(JobId{8}));
  EXPECT_NE(copy.find(JobId{8}), nullptr);
}

}  // namespace
}  // namespace replay::report
