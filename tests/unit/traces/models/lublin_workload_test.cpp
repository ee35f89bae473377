// Tests of ordered workloads: the load is met in either way, the duration is spanned, and the command in the header
// makes the same file.
#include "traces/models/lublin_workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/swf_writer.hpp"

namespace replay {
namespace {

LublinOrder order_for(CoreCount machine, std::uint64_t seed = 1) {
  LublinOrder order;
  order.model.machine_size = machine;
  order.model.typeless = default_lublin_parameters(LublinKind::kTypeless, machine);
  order.model.interactive = default_lublin_parameters(LublinKind::kInteractive, machine);
  order.model.batch = default_lublin_parameters(LublinKind::kBatch, machine);
  order.model.seed = Seed{seed};
  return order;
}

std::vector<LublinJob> jobs_of(const LublinOrder& order) {
  LublinTrace trace(order, plan_lublin(order));
  std::vector<LublinJob> jobs;
  for (LublinJob job; trace.next(job);) jobs.push_back(job);
  return jobs;
}

// Computed from the jobs, as `replay trace info` does.
double offered_load(const std::vector<LublinJob>& jobs, CoreCount machine) {
  double work = 0;
  for (const LublinJob& job : jobs) work += static_cast<double>(job.size) * static_cast<double>(job.runtime);
  return work / (machine * static_cast<double>(jobs.back().arrival - jobs.front().arrival));
}

TEST(LublinWorkload, TheLoadIsMetWithinOnePerCent) {
  for (const SolveFor solve : {SolveFor::kArrivals, SolveFor::kRuntimes})
    for (const bool types : {false, true})
      for (const ArrivalProcess arrivals : {ArrivalProcess::kLublin, ArrivalProcess::kPoisson})
        for (const double load : {0.3, 0.9, 1.5})
          for (const std::int64_t min_runtime : {1, 60}) {
            LublinOrder order = order_for(128, 3);
            order.jobs = 1500;
            order.model.types = types;
            order.model.arrivals = arrivals;
            order.load = load;
            order.solve = solve;
            order.min_runtime = min_runtime;
            order.max_runtime = 50'000;
            const std::vector<LublinJob> jobs = jobs_of(order);
            EXPECT_EQ(jobs.size(), 1500U);
            EXPECT_NEAR(offered_load(jobs, 128), load, 0.01 * load)
                << (solve == SolveFor::kArrivals ? "arrivals" : "runtimes") << (types ? " types" : "");
            for (const LublinJob& job : jobs) {
              ASSERT_GE(job.runtime, min_runtime);
              ASSERT_LE(job.runtime, 50'000);
            }
          }
}

TEST(LublinWorkload, ScalingArrivalsLeavesJobsAndTheDayAlone) {
  LublinOrder plain = order_for(128);
  plain.jobs = 8000;
  LublinOrder loaded = plain;
  loaded.load = 1.4;
  const auto before = jobs_of(plain);
  const auto after = jobs_of(loaded);
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i].size, after[i].size);
    ASSERT_EQ(before[i].runtime, after[i].runtime);
  }
  const auto nightly = [](const std::vector<LublinJob>& jobs) {
    return std::ranges::count_if(jobs, [](const LublinJob& j) { return j.arrival / 3600 % 24 < 6; });
  };
  // 7.5 % of the jobs come from 0 to 6 h (tests/data/lublin_reference_stats.csv); a day of another length would make it
  // 25 %.
  EXPECT_LT(nightly(before), 8000 * 0.11);
  EXPECT_LT(nightly(after), 8000 * 0.11);
}

TEST(LublinWorkload, OneHundredAndFiftyJobsSpanTwoHoursAtEachLoad) {
  for (const double load : {0.3, 0.5, 0.7, 0.9})
    for (const std::int64_t min_runtime : {1, 5}) {
      LublinOrder order = order_for(32);
      order.jobs = 150;
      order.duration = 7200;
      order.load = load;
      order.solve = SolveFor::kRuntimes;
      order.min_runtime = min_runtime;
      const std::vector<LublinJob> jobs = jobs_of(order);
      ASSERT_EQ(jobs.size(), 150U);
      EXPECT_EQ(jobs.back().arrival, 7200);
      EXPECT_NEAR(offered_load(jobs, 32), load, 0.01 * load);
      EXPECT_GE(std::ranges::min(jobs, {}, &LublinJob::runtime).runtime, min_runtime);
    }
}

TEST(LublinWorkload, ADurationAloneEndsWithTheLastJobInIt) {
  LublinOrder order = order_for(128);
  order.duration = 7 * 86400;
  const std::vector<LublinJob> jobs = jobs_of(order);
  EXPECT_LE(jobs.back().arrival, *order.duration);
  LublinStream stream(order.model);
  LublinJob next;
  for (std::size_t i = 0; i <= jobs.size(); ++i) next = stream.next();
  EXPECT_GT(next.arrival, *order.duration);

  // With a load to be met by arrivals: as many jobs as have that work, so that they end near that time.
  order.load = 0.7;
  const std::vector<LublinJob> loaded = jobs_of(order);
  EXPECT_NEAR(offered_load(loaded, 128), 0.7, 0.007);
  EXPECT_NEAR(static_cast<double>(loaded.back().arrival), 7 * 86400, 0.1 * 7 * 86400);
}

TEST(LublinWorkload, ALoadThatCannotBeIsRefusedWithTheNearest) {
  LublinOrder order = order_for(32);
  order.jobs = 150;
  order.load = 0.5;
  order.solve = SolveFor::kRuntimes;
  order.min_runtime = 36'000;
  EXPECT_NE(test::message_of<UsageError>([&] { (void)plan_lublin(order); }).find("cannot be met with these 150 jobs"),
            std::string::npos);
  order.min_runtime = 1;
  order.solve = SolveFor::kArrivals;
  order.duration = 7200;
  EXPECT_NE(test::message_of<UsageError>([&] { (void)plan_lublin(order); }).find("--solve runtimes"),
            std::string::npos);
  order = order_for(32);
  order.jobs = 0;
  EXPECT_THROW((void)plan_lublin(order), UsageError);
}

TEST(LublinWorkload, TooManyJobsForTheTimesOfSwfAreRefused) {
  LublinOrder order = order_for(128);
  order.model.typeless.aarr = 16;  // gaps of hours
  order.jobs = 1'000'000;
  EXPECT_NE(test::message_of<UsageError>([&] { (void)lublin_totals(order, plan_lublin(order)); }).find("too late"),
            std::string::npos);
}

std::string file_of(const LublinOrder& order) {
  const LublinPlan plan = plan_lublin(order);
  std::string text;
  SwfWriter writer(test::string_sink(text));
  writer.write(lublin_header(order, lublin_totals(order, plan)));
  LublinTrace trace(order, plan);
  std::uint64_t number = 0;
  for (LublinJob job; trace.next(job);) writer.write(lublin_record(++number, job));
  writer.close();
  return text;
}

TEST(LublinWorkload, TheSameOrderGivesTheSameBytes) {
  LublinOrder order = order_for(64, 9);
  order.model.types = true;
  order.jobs = 300;
  order.load = 0.8;
  EXPECT_EQ(file_of(order), file_of(order));
  LublinOrder other = order;
  other.model.seed = Seed{10};
  EXPECT_NE(file_of(order), file_of(other));
}

TEST(LublinWorkload, TheHeaderSaysWhatItIsAndHowItWasMade) {
  LublinOrder order = order_for(128, 4);
  order.model.typeless.aarr = 9.83;
  order.model.start_hour = 8;
  order.jobs = 3;
  const std::string text = file_of(order);
  const LoadedWorkload loaded = test::load(text);
  EXPECT_EQ(loaded.header.max_procs(), 128);
  EXPECT_EQ(loaded.header.max_jobs(), 3);
  EXPECT_EQ(loaded.header.max_records(), 3);
  EXPECT_EQ(loaded.header.find("StartTime"), "Mon Jan 05 08:00:00 UTC 1970");
  EXPECT_EQ(loaded.header.find("Note"),
            "made by: replay generate lublin --jobs 3 --machine-size 128 --start-hour 8 --aarr 9.83 --seed 4");
  ASSERT_EQ(loaded.workload.jobs.size(), 3U);
  for (const SwfRecord& record : test::read_records(text)) {
    EXPECT_EQ(record.queue, 0);  // as in the archive's lublin_256
    EXPECT_EQ(record.status, 1);
    EXPECT_EQ(record.wait, kUnknownTime);
    EXPECT_EQ(record.requested_time, kUnknownTime);
  }
}

}  // namespace
}  // namespace replay
