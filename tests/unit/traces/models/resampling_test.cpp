// Tests of sets drawn from a log: they keep the log's means, hours, weekdays and bursts, and no job is split. The
// archive's logs are not part of the source; without them those tests skip.
#include "traces/models/resampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "scheduler/base/error.hpp"
#include "tests/support/archive_logs.hpp"
#include "tests/unit/traces/models/reference_csv.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;

std::int64_t from_monday(Duration t) { return static_cast<std::int64_t>(std::floor(seconds(t))); }

// Eight weeks from Monday 00:00. On a weekday: `burst` jobs of 2 processors at 09:00:00, :01 ..., and one of 16 at
// 14:00; at the weekend one serial job at 02:00 of the night, which belongs to the day before. User = day.
std::string weekly_log() {
  std::string text = "; MaxProcs: 32\n; Acknowledge: those who made it\n; UnixStartTime: 5\n; MaxJobs: 7\n";
  int number = 0;
  const auto add = [&](std::int64_t at, int size, int runtime, int day) {
    text += test::job_line(++number, {{2, std::to_string(at)},
                                      {4, std::to_string(runtime)},
                                      {5, std::to_string(size)},
                                      {8, std::to_string(size)},
                                      {9, std::to_string(10 * size + 2 * runtime)},
                                      {12, std::to_string(day)}});
  };
  for (int day = 0; day < 56; ++day) {
    const std::int64_t midnight = day * kDay;
    if (day % 7 >= 5) {
      add(midnight + 26 * kHour, 1, 5000, day);
      continue;
    }
    const int burst = 3 + day % 5;
    for (int i = 0; i < burst; ++i) add(midnight + 9 * kHour + i, 2, 100 + 10 * day, day);
    add(midnight + 14 * kHour, 16, 3000 + day, day);
  }
  return text;
}

Resampler resampler_of(const std::string& text) {
  WorkloadReader reader(test::memory_source(text), CleaningRules{});
  return {read_logged_jobs(reader), from_monday};
}

TEST(Resampling, MeansOfTheSetAreThoseOfTheLog) {
  const Resampler resampler = resampler_of(weekly_log());
  for (std::uint64_t set = 1; set <= 5; ++set) {
    const ResampledSet made = resampler.make_set(Seed{1}, set, 1000, 0.02);
    ASSERT_EQ(made.jobs.size(), 1000U);
    // Counted again from the jobs.
    Means means{};
    for (const ResampledJob& placed : made.jobs) {
      const SampledJob& job = resampler.jobs()[placed.logged];
      means[0] += job.size / 1000;
      means[1] += job.runtime / 1000;
      means[2] += job.estimate / 1000;
      means[3] += job.size * job.runtime / 1000;
    }
    means[4] = seconds(made.jobs.back().submit - made.jobs.front().submit) / 999;
    for (std::size_t i = 0; i < kFigures; ++i) {
      EXPECT_NEAR(means[i], made.means[i], 1e-9 * means[i]) << kFigureNames[i];
      EXPECT_NEAR(means[i], resampler.means()[i], 0.02 * resampler.means()[i]) << kFigureNames[i];
    }
  }
}

TEST(Resampling, EveryDayIsALoggedDayOfItsWeekdayWithItsBurst) {
  const Resampler resampler = resampler_of(weekly_log());
  const ResampledSet made = resampler.make_set(Seed{1}, 1, 800, 0.05);
  std::map<std::int64_t, std::vector<const ResampledJob*>> days;
  for (const ResampledJob& job : made.jobs) days[(from_monday(job.submit) - kDayCut) / kDay].push_back(&job);
  days.erase(std::prev(days.end()));  // cut off where the count was reached
  std::set<int> logged_days;
  for (const auto& [day, jobs] : days) {
    const int logged_day = resampler.jobs()[jobs.front()->logged].entry.record.user;
    logged_days.insert(logged_day);
    EXPECT_EQ(logged_day % 7, day % 7);
    EXPECT_EQ(jobs.size(), day % 7 >= 5 ? 1U : static_cast<std::size_t>(4 + logged_day % 5));
    for (const ResampledJob* job : jobs) {
      const SwfRecord& record = resampler.jobs()[job->logged].entry.record;
      EXPECT_EQ(record.user, logged_day);
      EXPECT_EQ(from_monday(job->submit) % kDay, from_monday(record.submit) % kDay);
    }
  }
  EXPECT_GT(logged_days.size(), 30U);
}

TEST(Resampling, SetsDependOnSeedAndNumberOnly) {
  const Resampler resampler = resampler_of(weekly_log());
  const auto submits = [&](std::uint64_t seed, std::uint64_t set) {
    std::vector<std::size_t> logged;
    for (const ResampledJob& job : resampler.make_set(Seed{seed}, set, 500, 0.05).jobs) logged.push_back(job.logged);
    return logged;
  };
  EXPECT_EQ(submits(1, 1), submits(1, 1));
  EXPECT_NE(submits(1, 1), submits(1, 2));
  EXPECT_NE(submits(1, 1), submits(2, 1));
}

TEST(Resampling, AFactorChangesSubmitTimesOnly) {
  SampledJob job;
  job.entry.record.job = 77;
  job.entry.record.submit = std::chrono::seconds{5};
  job.entry.record.wait = std::chrono::seconds{9};
  job.entry.record.run = std::chrono::seconds{100};
  job.entry.record.user = 12;
  job.entry.record.preceding = 70;
  job.entry.traits.cpu_use = 0.5;
  const TraceEntry same = resampled_entry(job, 3, std::chrono::milliseconds{1001'500}, 1);
  EXPECT_EQ(same.record.submit, std::chrono::milliseconds{1001'500});
  TraceEntry shrunk = resampled_entry(job, 3, std::chrono::milliseconds{1001'500}, 0.6);
  EXPECT_EQ(shrunk.record.submit, std::chrono::seconds{601});
  shrunk.record.submit = same.record.submit;
  EXPECT_EQ(shrunk.record, same.record);
  EXPECT_EQ(same.record.job, 3);
  EXPECT_EQ(same.record.wait, kUnknownTime);
  EXPECT_EQ(same.record.preceding, -1);
  EXPECT_EQ(same.record.user, 12);
  EXPECT_EQ(same.traits.cpu_use, 0.5);
}

TEST(Resampling, TheHeaderKeepsWhomToThankAndForgetsWhatIsNoLongerTrue) {
  const SwfHeader header = resampled_header(test::load(weekly_log()).header, 500, "replay generate from-log", "clock");
  EXPECT_EQ(header.find("Acknowledge"), "those who made it");
  EXPECT_EQ(header.max_jobs(), 500);
  EXPECT_EQ(header.max_procs(), 32);
  EXPECT_FALSE(header.unix_start_time());
}

TEST(Resampling, ALogWithoutWholeWeeksIsRefused) {
  const std::string three_jobs = test::job_line(1) + test::job_line(2) + test::job_line(3, {{2, "400000"}});
  EXPECT_NE(test::message_of<InputError>([&] { (void)resampler_of(three_jobs); }).find("too short"), std::string::npos);
}

TEST(Resampling, MeansThatNoDaysHaveAreRefusedWithWhatWasReached) {
  const Resampler resampler = resampler_of(weekly_log());
  EXPECT_NE(
      test::message_of<UsageError>([&] { (void)resampler.make_set(Seed{1}, 1, 2, 0.02); }).find("larger --tolerance"),
      std::string::npos);
}

// ---- the logs of the dynP paper ----

class DynpLogs : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT(test::archive_folder()); }
  // The zeros are Mon 14:00:31, Tue 07:01:12 and Fri 18:11:04 local time; CTC's file does not give one.
  static Resampler open(const std::string& name, std::int64_t zero) {
    WorkloadReader reader(test::archive_log(name), CleaningRules{});
    return {read_logged_jobs(reader), [zero](Duration t) { return zero + from_monday(t); }};
  }
  static constexpr std::int64_t kKthZero = 14 * kHour + 31;
};

TEST_F(DynpLogs, TenSetsOfEachHaveItsMeans) {
  const std::pair<const char*, std::int64_t> logs[] = {{"KTH-SP2-1996-2", kKthZero},
                                                       {"CTC-SP2-EASY-reference", 0},
                                                       {"SDSC-SP2-1998-4.2-cln", 4 * kDay + 18 * kHour + 664},
                                                       {"LANL-CM5-1994-4.1-cln", kDay + 7 * kHour + 72}};
  for (const auto& [name, zero] : logs) {
    const Resampler resampler = open(name, zero);
    for (std::uint64_t set = 1; set <= 10; ++set) {
      const ResampledSet made = resampler.make_set(Seed{1}, set, 10'000, 0.02);
      ASSERT_EQ(made.jobs.size(), 10'000U);
      for (std::size_t i = 0; i < kFigures; ++i)
        EXPECT_NEAR(made.means[i] / resampler.means()[i], 1, 0.05) << name << " " << set << " " << kFigureNames[i];
    }
  }
}

// Our CTC, LANL and SDSC logs are cleaned differently from the paper's; CTC's run time and estimate come close all the
// same.
TEST_F(DynpLogs, KthHasTheMeansOfTheDynpPapersTable2) {
  for (const auto& row : test::reference_rows("dynp_table2.csv")) {
    if (row.at(0) != "KTH") continue;
    const Resampler resampler = open("KTH-SP2-1996-2", kKthZero);
    const double size = std::stod(row.at(3));
    const double estimate = std::stod(row.at(7));
    const double runtime = std::stod(row.at(10));
    const double gap = std::stod(row.at(14));
    EXPECT_NEAR(resampler.means()[0], size, 0.01);  // allocated processors here, requested ones there
    EXPECT_NEAR(resampler.means()[1], runtime, 1.5);
    EXPECT_NEAR(resampler.means()[2], estimate, 1.5);
    EXPECT_NEAR(resampler.means()[4], gap, 0.5);
    for (std::uint64_t set = 1; set <= 10; ++set) {
      const Means means = resampler.make_set(Seed{1}, set, 10'000, 0.02).means;
      EXPECT_NEAR(means[0] / size, 1, 0.05);
      EXPECT_NEAR(means[1] / runtime, 1, 0.05);
      EXPECT_NEAR(means[2] / estimate, 1, 0.05);
      EXPECT_NEAR(means[4] / gap, 1, 0.05);
    }
    return;
  }
  FAIL() << "no row of KTH";
}

// Ten sets together have the log's daily cycle. Night hours depend on few bursts, so only hours with more than 3 % are
// compared.
TEST_F(DynpLogs, HoursAndWeekdaysOfKthAreKept) {
  const Resampler resampler = open("KTH-SP2-1996-2", kKthZero);
  std::array<double, 24> logged_hours{}, hours{};
  std::array<double, 7> logged_days{}, days{};
  for (const SampledJob& job : resampler.jobs()) {
    const std::int64_t at = kKthZero + from_monday(job.entry.record.submit);
    logged_hours[static_cast<std::size_t>(at / kHour % 24)] += 1.0 / static_cast<double>(resampler.jobs().size());
    logged_days[static_cast<std::size_t>(at / kDay % 7)] += 1.0 / static_cast<double>(resampler.jobs().size());
  }
  for (std::uint64_t set = 1; set <= 10; ++set)
    for (const ResampledJob& job : resampler.make_set(Seed{1}, set, 10'000, 0.02).jobs) {
      const std::int64_t at = from_monday(job.submit);
      hours[static_cast<std::size_t>(at / kHour % 24)] += 1e-5;
      days[static_cast<std::size_t>(at / kDay % 7)] += 1e-5;
    }
  for (std::size_t hour = 0; hour < 24; ++hour) {
    if (logged_hours[hour] > 0.03) {
      EXPECT_NEAR(hours[hour] / logged_hours[hour], 1, 0.15) << hour;
    }
  }
  for (std::size_t day = 0; day < 7; ++day) EXPECT_NEAR(days[day] / logged_days[day], 1, 0.1) << day;
}

}  // namespace
}  // namespace replay
