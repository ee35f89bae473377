#include "traces/statistics/statistics.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "scheduler/base/error.hpp"
#include "scheduler/report/trace_text.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;

struct TemporaryFile {
  std::string path = (std::filesystem::temp_directory_path() / fmt::format("replay-info-{}.swf", ::getpid())).string();
  explicit TemporaryFile(const std::string& text) { std::ofstream(path) << text; }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path); }
};

TraceInfo info_of(const std::string& text, const CleaningRules& rules = {}, bool strict = false) {
  const TemporaryFile file(text);
  return analyse_trace({.file = file.path, .rules = rules, .strict = strict});
}

// Four jobs on a machine of 8: 4 x 100 s, 1 x 50 s, 2 x 0 s and 8 x 200 s, submitted at 0, 100, 200 and 400 s.
const std::string kLog = "; Computer: toy\n; MaxProcs: 8\n; StartTime: Mon Sep 23 23:58:20 CEST 1996\n" +
                         job_line(1, {{2, "0"}}) + job_line(2, {{2, "100"}, {4, "50"}, {5, "1"}}) +
                         job_line(3, {{2, "200"}, {4, "0"}, {5, "2"}, {12, "3"}}) +
                         job_line(4, {{2, "400"}, {4, "200"}, {5, "8"}, {9, "-1"}, {12, "3"}});

TEST(TraceInfo, CountsLoadAndShares) {
  const TraceInfo info = info_of(kLog);
  EXPECT_EQ(info.jobs, 4U);
  EXPECT_EQ(info.machine_size, 8);
  EXPECT_EQ(info.machine_source, "MaxProcs");
  EXPECT_DOUBLE_EQ(info.work_s, 2050);
  ASSERT_TRUE(info.offered_load.has_value());
  EXPECT_DOUBLE_EQ(*info.offered_load, 2050.0 / (8 * 400));
  EXPECT_DOUBLE_EQ(info.serial_share, 0.25);
  EXPECT_DOUBLE_EQ(info.power_of_two_share, 0.75);
  EXPECT_EQ(info.users, 2U);
  EXPECT_EQ(info.busiest_users.at(0).user, 3);
}

TEST(TraceInfo, SaysWhatJobsDeclareOfTheirSizes) {
  // Three points: N_opt = 4, where the job takes its 100 s. Downey: A = 3, sigma = 0 is linear up to 3, so
  // N_opt = 3, where the 100 s on 1 take 33.3 s. Job 3 is rigid, job 4 says nothing and counts as malleable.
  const test::ShellResult made = test::shell("mktemp -d");
  ASSERT_EQ(made.status, 0);
  const std::filesystem::path folder = made.out.substr(0, made.out.find('\n'));
  test::write_text(folder / "t.swf", "; MaxProcs: 8\n" + job_line(1, {{4, "100"}, {5, "4"}}) +
                                         job_line(2, {{4, "100"}, {5, "1"}}) + job_line(3, {{5, "2"}}) +
                                         job_line(4, {{5, "2"}}));
  test::write_text(folder / "t.jobs.csv",
                   "job,flexibility,least_processes,most_processes,speedup\n1,moldable,2,16,three-point:n=4\n"
                   "2,moldable,1,4,downey:a=3:sigma=0\n3,rigid,,,\n");
  const TraceInfo info = analyse_trace({.file = folder / "t.swf"});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(info.declared.moldable, 2U);
  EXPECT_EQ(info.declared.rigid, 1U);
  EXPECT_EQ(info.declared.malleable, 1U);
  EXPECT_EQ(info.declared.curves(), 2U);
  EXPECT_DOUBLE_EQ(info.declared.least.mean(), 1.5);
  EXPECT_DOUBLE_EQ(info.declared.most.mean(), 6);  // no more than the machine has
  EXPECT_EQ(info.declared.optimum[0].jobs, 1U);
  EXPECT_DOUBLE_EQ(info.declared.optimum[0].mean(), 3);
  EXPECT_DOUBLE_EQ(info.declared.optimum[1].mean(), 4);
  const std::string text = report::to_text(info);
  EXPECT_NE(text.find("50.0 % moldable, 25.0 % malleable, 25.0 % rigid"), std::string::npos) << text;
  EXPECT_NE(text.find("25.0 % three-point, mean n 4; 25.0 % downey, mean A 3, sigma 0"), std::string::npos) << text;
  EXPECT_NE(text.find("short 3 (25.0 % of jobs), medium 4 (25.0 % of jobs)"), std::string::npos) << text;
  EXPECT_EQ(report::to_json(info)["declared"]["optimum"]["medium"]["mean"], 4);
}

TEST(TraceInfo, WaitsAreFromWhenJobsCouldStart) {
  const test::ShellResult made = test::shell("mktemp -d");
  ASSERT_EQ(made.status, 0);
  const std::filesystem::path folder = made.out.substr(0, made.out.find('\n'));
  test::write_text(folder / "t.swf", "; MaxProcs: 8\n" + job_line(1, {{3, "100"}}) + job_line(2, {{3, "100"}}));
  test::write_text(folder / "t.jobs.csv", "job,eligible\n2,30\n");
  const TraceInfo info = analyse_trace({.file = folder / "t.swf"});
  const TraceInfo from_submit = analyse_trace({.file = folder / "t.swf", .rules = {.queue_from = QueueFrom::kSubmit}});
  std::filesystem::remove_all(folder);
  EXPECT_DOUBLE_EQ(info.wait_s.least, 70);
  EXPECT_DOUBLE_EQ(info.wait_s.most, 100);
  EXPECT_DOUBLE_EQ(from_submit.wait_s.least, 100);
  EXPECT_EQ(info.logged_peak, from_submit.logged_peak);
}

TEST(TraceInfo, ALogWithoutAnEndIsFromItsBegin) {
  const std::string text = report::to_text(info_of(kLog));
  EXPECT_NE(text.find("from Mon Sep 23 23:58:20 CEST 1996\n"), std::string::npos) << text;
}

TEST(TraceInfo, WithoutCurvesItSaysHowToDeclareThem) {
  const std::string text = report::to_text(info_of(kLog));
  EXPECT_NE(text.find("0.0 % moldable, 100.0 % malleable, 0.0 % rigid"), std::string::npos) << text;
  EXPECT_NE(text.find("replay trace declare"), std::string::npos) << text;
}

TEST(TraceInfo, PercentilesAreThoseOfMetrics) {
  const TraceInfo info = info_of(kLog);  // 1, 2, 4 and 8 processors: ranks 0.75, 1.5 and 2.25
  EXPECT_EQ(info.processors.least, 1);
  EXPECT_DOUBLE_EQ(info.processors.p25, 1.75);
  EXPECT_DOUBLE_EQ(info.processors.p50, 3);
  EXPECT_DOUBLE_EQ(info.processors.p75, 5);
  EXPECT_EQ(info.processors.most, 8);
  EXPECT_DOUBLE_EQ(info.runtime_s.mean, 87.5);
  EXPECT_EQ(info.interarrival_s.count, 3U);
  EXPECT_EQ(info.interarrival_s.most, 200);
}

TEST(TraceInfo, OverestimationLooksAtJobsWithARequestOnly) {
  const TraceInfo info = info_of(kLog);
  EXPECT_EQ(info.request_s.count, 3U);
  EXPECT_DOUBLE_EQ(info.mean_overestimation, 600.0 / 150.0);
  EXPECT_EQ(info.request_per_runtime.count, 2U) << "a run time of 0 has no ratio";
}

TEST(TraceInfo, HoursAndDaysAreLocalByStartTime) {
  const TraceInfo info = info_of(kLog);  // the zero is Monday, 23:58:20: jobs 2, 3 and 4 come on Tuesday
  ASSERT_TRUE(info.hour_shares.has_value());
  EXPECT_DOUBLE_EQ((*info.hour_shares)[23], 0.25);
  EXPECT_DOUBLE_EQ((*info.hour_shares)[0], 0.75);
  EXPECT_DOUBLE_EQ((*info.day_shares)[0], 0.25);
  EXPECT_DOUBLE_EQ((*info.day_shares)[1], 0.75);
  EXPECT_FALSE(info_of(job_line(1)).hour_shares.has_value());
}

TEST(TraceInfo, SaysWhenTheLoggedScheduleNeedsMoreThanTheMachine) {
  const TraceInfo fits = info_of("; MaxProcs: 8\n" + job_line(1, {{3, "0"}}) + job_line(2, {{3, "90"}, {5, "8"}}));
  EXPECT_EQ(fits.logged_peak, 8) << "one ends when the other starts";
  const TraceInfo peaks = info_of("; MaxProcs: 8\n" + job_line(1, {{3, "0"}}) + job_line(2, {{3, "89"}, {5, "8"}}));
  EXPECT_EQ(peaks.logged_peak, 12);
  EXPECT_NE(report::to_text(peaks).find("up to 12 processors in use, the machine has 8"), std::string::npos);
}

TEST(TraceInfo, TextStaysWithinAHundredColumns) {
  const std::string text = report::to_text(info_of(kLog));
  std::size_t columns = 0;
  for (const char c : text) {
    if (c == '\n')
      columns = 0;
    else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U)
      ++columns;  // counts characters: not for a continuation byte of UTF-8
    ASSERT_LE(columns, 100U) << text;
  }
  EXPECT_NE(text.find("offered load    0.641"), std::string::npos) << text;
}

TEST(TraceInfo, JsonHasTheSameNumbers) {
  const nlohmann::json json = report::to_json(info_of(kLog));
  EXPECT_EQ(json["jobs"], 4);
  EXPECT_EQ(json["machine_processors"], 8);
  EXPECT_EQ(json["runtime_s"]["p50"], 75);
  EXPECT_EQ(json["cleaning"]["findings"][0]["rule"], "size-fields-differ");
  EXPECT_TRUE(json["logged_peak_processors"].is_number());
  EXPECT_TRUE(info_of(job_line(1)).offered_load == std::nullopt) << "one job has no time span";
}

TEST(TraceInfo, ABrokenLineIsAQuirkOrAnErrorIfStrict) {
  EXPECT_NE(report::to_text(info_of(kLog + "broken\n")).find("expected 18 fields, found 1 in 'broken'"),
            std::string::npos);
  EXPECT_THROW(info_of(kLog + "broken\n", {}, true), InputError);
}

}  // namespace
}  // namespace replay
