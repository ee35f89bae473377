#include "scheduler/report/page/run_data.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/report/page/run_names.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/report/page/small_logs.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;
using Ints = std::vector<std::int32_t>;
using Bytes = std::vector<std::uint8_t>;
using Lines = std::vector<std::string>;

// "0 2.5 -": a value each, "-" for NaN.
std::string text_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values)
    text += (text.empty() ? "" : " ") + (std::isnan(value) ? "-" : fmt::format("{:g}", value));
  return text;
}

// "job 0: 2.5-8 on 0-1, 4 processes, flags 4, mpl 2".
Lines lines_of(const StretchColumns& stretches) {
  Lines lines;
  for (std::size_t i = 0; i < stretches.size(); ++i)
    lines.push_back(fmt::format("job {}: {:g}-{:g} on {}-{}, {} processes, flags {}, mpl {}", stretches.job[i],
                                stretches.from[i], stretches.to[i], stretches.first[i], stretches.last[i],
                                stretches.processes[i], stretches.flags[i], stretches.mpl[i]));
  return lines;
}

// "failed 1 7.5: job 2 failed ...": kind, row, instant, text.
Lines lines_of(const std::vector<PageWarning>& warnings) {
  Lines lines;
  for (const PageWarning& warning : warnings)
    lines.push_back(fmt::format("{} {} {}: {}", warning.kind, warning.job, text_of({warning.at}), warning.text));
  return lines;
}

class ReadRun : public testing::Test {
 protected:
  fs::path write(const std::string& log, const std::string& name = "run") {
    fs::create_directory(folder_ / name);
    test::write_text(folder_ / name / "events.log", log);
    return folder_ / name / "events.log";
  }
  RunData read(const std::string& log, const PageLimits& limits = {}) { return read_run(write(log), limits); }
  TemporaryFolder folder_;
};

TEST_F(ReadRun, ItsJobsHaveEveryFigureOfTheLog) {
  const JobColumns jobs = read(test::kShrinking).jobs;
  EXPECT_EQ(jobs.id, (std::vector<JobId>{JobId{1}, JobId{2}, JobId{3}, JobId{4}}));
  EXPECT_EQ(text_of(jobs.submit), "0 2 3 3");
  EXPECT_EQ(text_of(jobs.start), "0 2.5 12 -");
  EXPECT_EQ(text_of(jobs.end), "12 7.5 - 3");
  EXPECT_EQ(text_of(jobs.estimate), "15 5 70 5");
  EXPECT_EQ(text_of(jobs.runtime), "10 5 60 4000");
  EXPECT_EQ(text_of(jobs.wait), "0 0.5 9 -");
  EXPECT_EQ(text_of(jobs.response), "12 5.5 - -");
  EXPECT_EQ(text_of(jobs.bounded_slowdown), "1.2 1 - -");
  EXPECT_EQ(text_of(jobs.shrunk_time), "5.5 0 0 0");
  EXPECT_EQ(text_of(jobs.suspended_time), "0 0 0 0");
  EXPECT_EQ(text_of(jobs.group_time), "0 0 0 0");
  EXPECT_EQ(jobs.user, (Ints{3, 4, -1, -1}));
  EXPECT_EQ(jobs.queue, (Ints{2, -1, -1, -1}));
  EXPECT_EQ(jobs.processes, (Ints{4, 2, 1, 8}));
  EXPECT_EQ(jobs.given, (Ints{4, 2, 1, -1}));
  EXPECT_EQ(jobs.optimal, (Ints{-1, -1, -1, -1}));
  EXPECT_EQ(jobs.cores, (Ints{4, 2, 1, -1}));
  EXPECT_EQ(jobs.max_mpl, (Ints{2, 1, 1, 1}));
  EXPECT_EQ(jobs.job_class, (Bytes{0, 0, 1, 2})) << "by run time: 10 s, 5 s, 1 min, more than an hour";
  EXPECT_EQ(jobs.outcome, (Bytes{0, 1, kAbsent, 5})) << "completed, failed, none, rejected";
  EXPECT_EQ(jobs.node_share, (Bytes{0, 0, 0, 0}));
  EXPECT_EQ(jobs.reason, (Lines{"", "residual", "", "it needs 8 cores"}));
}

TEST_F(ReadRun, ItsStretchesAreWhatEachJobHadOnTheMachine) {
  EXPECT_EQ(
      lines_of(read(test::kShrinking).stretches),
      (Lines{"job 0: 0-2.5 on 0-3, 4 processes, flags 0, mpl 1", "job 1: 2.5-7.5 on 2-3, 2 processes, flags 0, mpl 1",
             "job 0: 2.5-8 on 0-1, 4 processes, flags 4, mpl 2", "job 0: 8-12 on 0-3, 4 processes, flags 0, mpl 1",
             "job 2: 12-20 on 0-0, 1 processes, flags 0, mpl 1"}));
}

TEST_F(ReadRun, ItsChangesOfSizeSayForWhichJob) {
  const ResizeColumns resizes = read(test::kShrinking).resizes;
  EXPECT_EQ(resizes.job, (Ints{0, 0}));
  EXPECT_EQ(text_of(resizes.at), "2.5 8");
  EXPECT_EQ(resizes.from, (Ints{4, 2}));
  EXPECT_EQ(resizes.to, (Ints{2, 4}));
  EXPECT_EQ(resizes.in_favour_of, (Ints{1, -1}));
}

TEST_F(ReadRun, ItsLoadHasARowForEachChange) {
  const SeriesColumns series = read(test::kShrinking).series;
  EXPECT_EQ(text_of(series.time), "0 2 2.5 3 7.5 8 12");
  EXPECT_EQ(text_of(series.queued), "0 1 0 1 1 1 0");
  EXPECT_EQ(text_of(series.waiting_processors), "0 2 0 1 1 1 0");
  EXPECT_EQ(text_of(series.busy), "4 4 4 4 2 4 1");
  EXPECT_EQ(text_of(series.mpl), "1 1 1.5 1.5 2 1 1");
  EXPECT_EQ(text_of(series.free_while_queued), "0 0 0 0 2 0 0");
}

TEST_F(ReadRun, ItsWarningsNameWhatAReaderHasToKnow) {
  const RunData run = read(test::kShrinking);
  EXPECT_EQ(
      lines_of(run.warnings),
      (Lines{"cut -1 -: 1 job had not ended when the log did", "failed 1 7.5: job 2 failed with exit code 1: residual",
             "rejected 3 3: job 4 was rejected: it needs 8 cores", "note -1 20: the machine was slow"}));
  EXPECT_FALSE(run.is_complete);
}

TEST_F(ReadRun, ItsDistributionsAreThoseOfTheJobsThatRan) {
  Lines lines;
  for (const Distribution& curve : read(test::kShrinking).distributions)
    lines.push_back(fmt::format("{} by {} {}: {}: {} / {}", curve.of, curve.by, curve.name, curve.median,
                                text_of(curve.x), text_of(curve.y)));
  EXPECT_EQ(lines,
            (Lines{"wait by all all: 0.25: 0 0.5 / 0.5 1", "response by all all: 8.75: 5.5 12 / 0.5 1",
                   "slowdown by all all: 1.1: 1 1.2 / 0.5 1", "wait by class short: 0.25: 0 0.5 / 0.5 1",
                   "response by class short: 8.75: 5.5 12 / 0.5 1", "slowdown by class short: 1.1: 1 1.2 / 0.5 1",
                   "wait by size 2 to 8 processes: 0.25: 0 0.5 / 0.5 1",
                   "response by size 2 to 8 processes: 8.75: 5.5 12 / 0.5 1",
                   "slowdown by size 2 to 8 processes: 1.1: 1 1.2 / 0.5 1"}));
}

TEST_F(ReadRun, ItsDescriptionIsThatOfTheLog) {
  const RunData run = read(test::kShrinking);
  EXPECT_EQ(run.name, "run");
  EXPECT_EQ(run.path, (folder_ / "run").string());
  EXPECT_EQ(run.header.value("policy"), "fcfs-malleable");
  EXPECT_EQ(run.machine.to_text(), "1x2x2");
  EXPECT_EQ(run.begin, 0);
  EXPECT_EQ(run.end, 20);
  EXPECT_EQ(run.jobs_in_all, 4u);
  EXPECT_EQ(run.summary.value("jobs"), 4);
  EXPECT_EQ(run.summary.value("mean_wait"), 0.25);
  EXPECT_FALSE(run.has_classes);
  EXPECT_EQ(run.levels.size(), 0u);
  EXPECT_EQ(run.limits, Lines{});
}

TEST_F(ReadRun, EachJobHasTheWordsOfWhy) {
  const WaitTexts why = read(test::kShrinking).why;
  EXPECT_EQ(why.job, (Ints{0, 1, 2, 3}));
  const auto says = [&why](std::size_t row, const char* words) {
    EXPECT_NE(why.text.at(row).find(words), std::string::npos) << why.text.at(row);
  };
  says(0, "it started at once");
  says(1, "it started at 00:00:02.5 on 2 cores, after 0.5 s");
  says(2, "it started at 00:00:12 on 1 core, after 9 s");
  says(2, "cores held by job 1");
  says(3, "rejected");
}

TEST_F(ReadRun, LongTextsSayWhichCommandShowsTheRest) {
  std::string log =
      "#replay-events 1\n#body sim\n#machine flat:2\n"
      "0 submit job=1 processes=2 estimate=100 runtime=100 flexibility=rigid\n"
      "0 start job=1 cores=2 mpl=1\n0 launch job=1 cores=2 mpl=1\n"
      "1 submit job=2 processes=2 estimate=1 runtime=1 flexibility=rigid\n";
  // The one core that is free from time to time is not enough for it: each change is a segment of its own.
  for (int at = 2; at < 20; at += 2)
    log += fmt::format(
        "{0} submit job={2} processes=1 estimate=1 runtime=1 flexibility=rigid\n"
        "{0} resize job=1 cores=1 mpl=2\n{0} resized job=1 cores=1 mpl=2\n{0} start job={2} cores=1 mpl=1\n"
        "{0} launch job={2} cores=1 mpl=1\n{1} finish job={2} outcome=completed\n"
        "{1} suspend job=1\n{1} suspended job=1\n{1}.5 resume job=1\n{1}.5 resumed job=1\n",
        at, at + 1, at + 100);
  const RunData run = read(log);
  EXPECT_NE(run.why.text.at(1).find(fmt::format("(`replay why {} JOB` shows more)", run.path)), std::string::npos)
      << run.why.text.at(1);
}

TEST_F(ReadRun, GroupsSlicesSuspensionsAndClassesAreThoseOfTheLog) {
  const RunData run = read(test::kSharing);
  EXPECT_TRUE(run.has_classes);
  EXPECT_EQ(run.jobs.job_class, (Bytes{0, 2})) << "short and long, as the policy said";
  EXPECT_EQ(run.jobs.node_share, (Bytes{1, 1}));
  EXPECT_EQ(text_of(run.jobs.group_time), "30 30");
  EXPECT_EQ(text_of(run.jobs.suspended_time), "40 0");
  ASSERT_EQ(run.groups.size(), 1u);
  EXPECT_EQ(text_of({run.groups[0].from, run.groups[0].to}), "0 30");
  EXPECT_EQ(run.groups[0].primary, 0);
  EXPECT_EQ(run.groups[0].jobs, (Ints{0, 1}));
  ASSERT_EQ(run.slices.size(), 2u);
  EXPECT_EQ(run.slices[0].job_class, 0);
  EXPECT_EQ(text_of({run.slices[0].from, run.slices[0].to, run.slices[1].from, run.slices[1].to}), "0 50 60 90");
  EXPECT_EQ(run.slices[1].job_class, 2);
  constexpr int kGroup = kShareable | kInGroup, kAsleep = kShareable | kSuspended;
  EXPECT_EQ(lines_of(run.stretches),
            (Lines{fmt::format("job 1: 0-30 on 0-1, 2 processes, flags {}, mpl 1", kGroup),
                   fmt::format("job 0: 0-50 on 0-3, 4 processes, flags {}, mpl 1", kGroup),
                   fmt::format("job 0: 50-90 on 0-3, 4 processes, flags {}, mpl 1", kAsleep),
                   fmt::format("job 0: 90-100 on 0-3, 4 processes, flags {}, mpl 1", int{kShareable})}));
  EXPECT_EQ(run.warnings.size(), 0u);
  EXPECT_TRUE(run.is_complete);
}

TEST_F(ReadRun, ASuspensionAndAGroupThatAreOpenLastUntilTheEndOfTheLog) {
  std::string log = test::kSharing;
  log.resize(log.find("30 finish"));
  log += "20 suspend job=2\n20 suspended job=2\n45 note text=\"later\"\n";
  const RunData run = read(log);
  EXPECT_EQ(text_of(run.jobs.suspended_time), "0 25");
  ASSERT_EQ(run.groups.size(), 1u);
  EXPECT_EQ(run.groups[0].to, 45);
}

TEST_F(ReadRun, GivenAndOptimalSizesAreThoseThatThePolicyStated) {
  const RunData run = read(
      "#replay-events 1\n#body sim\n#machine flat:8\n#policy scojo-p\n"
      "0 submit job=1 processes=8 estimate=100 runtime=100 flexibility=moldable\n"
      "0 start job=1 cores=6 mpl=1 processes=6 optimal=7\n0 launch job=1 cores=6 mpl=1 processes=6\n"
      "50 finish job=1 outcome=completed\n");
  EXPECT_EQ(run.jobs.processes, Ints{8});
  EXPECT_EQ(run.jobs.given, Ints{6});
  EXPECT_EQ(run.jobs.optimal, Ints{7});
  EXPECT_EQ(lines_of(run.stretches), Lines{"job 0: 0-50 on 0-5, 6 processes, flags 0, mpl 1"}) << "not shrunk";
}

TEST_F(ReadRun, ARunWithoutJobsIsEmptyAndComplete) {
  const RunData run = read("#replay-events 1\n#body sim\n#machine flat:4\n#policy easy\n");
  EXPECT_EQ(run.jobs.size(), 0u);
  EXPECT_EQ(run.stretches.size(), 0u);
  EXPECT_EQ(run.begin, run.end);
  EXPECT_EQ(run.warnings.size(), 0u);
  EXPECT_EQ(run.distributions.size(), 0u);
  EXPECT_TRUE(run.is_complete);
}

TEST_F(ReadRun, ALogThatEndsInTheMiddleOfALineIsReadUpToThere) {
  std::string log = test::kShrinking;
  log.resize(log.find("12 finish") + 5);
  const RunData run = read(log);
  EXPECT_EQ(run.end, 8);
  EXPECT_FALSE(run.is_complete);
  ASSERT_GE(run.warnings.size(), 2u);
  EXPECT_EQ(run.warnings[0].text, "the event log was cut off; the page shows what there is");
  EXPECT_EQ(run.warnings[1].text, "2 jobs had not ended when the log did");
}

TEST_F(ReadRun, ALogThatCouldNotBeWrittenSaysWhy) {
  const RunData run = read(std::string{test::kSharing} + "#cut No space left on device\n");
  ASSERT_EQ(run.warnings.size(), 1u);
  EXPECT_EQ(run.warnings[0].text, "the event log was cut off: No space left on device; the page shows what there is");
}

void expect_error(const fs::path& log, std::initializer_list<const char*> words) {
  try {
    (void)read_run(log);
    ADD_FAILURE() << text_of({}) << log << " was read";
  } catch (const InputError& error) {
    for (const char* word : words)
      EXPECT_NE(std::string{error.what()}.find(word), std::string::npos) << error.what() << "\ndoes not say " << word;
  }
}

TEST_F(ReadRun, ADamagedLogIsAnErrorThatNamesFileAndLine) {
  const std::string head = "#replay-events 1\n#machine flat:4\n";
  const std::string submit = "0 submit job=1 processes=2 estimate=9 runtime=9 flexibility=rigid\n";
  expect_error(folder_ / "missing.log", {"missing.log", "No such file"});
  expect_error(write("1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"), {"events.log:1", "an event log"});
  expect_error(write("\x1f\x8b\x08\x00\n\x00"), {"events.log:1", "an event log"});
  expect_error(write(std::string(4096, '\0')), {"events.log:1", "no whole line"});
  expect_error(write(""), {"events.log:1", "no whole line"});
  expect_error(write("#replay-events 1\n"), {"events.log", "#machine"});
  expect_error(write("#replay-events 1\n#machine flat:none\n"), {"events.log", "flat:none"});
  expect_error(write(head + submit + "1 launch job=1 cores=two mpl=1\n"), {"events.log:4", "cores", "two"});
  expect_error(write(head + submit + "1 launch job=2 cores=2 mpl=1\n"), {"events.log:4", "job 2"});
  expect_error(write(head + submit + submit), {"events.log:4", "job 1"});
  expect_error(write(head + submit + "1 launch job=1 cores=5 mpl=1\n"),
               {"events.log:4", "5 cores", "the machine has 4"});
  expect_error(write(head + submit + "1 class job=7 class=long\n"), {"events.log:4", "job 7", "never submitted"});
  expect_error(write(head + "5 note text=\"a\"\n4 note text=\"b\"\n"), {"events.log:4", "time"});
  expect_error(folder_.path(), {"directory"});
}

TEST_F(ReadRun, OfTooManyJobsThoseWithTheLargestAreaAreShownAndTheOthersDrawnMerged) {
  std::string log = "#replay-events 1\n#body sim\n#machine flat:4\n";
  for (int job = 1; job <= 4; ++job)
    log += fmt::format(
        "{0} submit job={1} processes={1} estimate=9 runtime=9 flexibility=rigid\n"
        "{0} start job={1} cores={1} mpl=1\n{0} launch job={1} cores={1} mpl=1\n{2} finish job={1} outcome=completed\n",
        job * 10, job, job * 10 + 9);
  PageLimits limits;
  limits.jobs = 2;
  const RunData run = read(log, limits);
  EXPECT_EQ(run.jobs.id, (std::vector<JobId>{JobId{3}, JobId{4}}));
  EXPECT_EQ(run.jobs_in_all, 4u);
  const Lines lines = lines_of(run.stretches);
  // A cell is 39 s / 6144, so job 2 has a part only of its first and of its last one: three quarters and one at most.
  const auto flags = [](int quarters) { return kMerged | used_quarters(quarters); };
  EXPECT_EQ(lines, (Lines{fmt::format("job -1: 10-19.001 on 0-0, 0 processes, flags {}, mpl 1", flags(4)),
                          fmt::format("job -1: 19.9976-20.0039 on 0-1, 0 processes, flags {}, mpl 1", flags(3)),
                          fmt::format("job -1: 20.0039-28.9985 on 0-1, 0 processes, flags {}, mpl 1", flags(4)),
                          fmt::format("job -1: 28.9985-29.0049 on 0-1, 0 processes, flags {}, mpl 1", flags(1)),
                          "job 0: 30-39 on 0-2, 3 processes, flags 0, mpl 1",
                          "job 1: 40-49 on 0-3, 4 processes, flags 0, mpl 1"}));
  ASSERT_EQ(run.limits.size(), 2u);
  EXPECT_NE(run.limits[0].find("Of 4 jobs the 2 with the largest areas are shown"), std::string::npos) << run.limits[0];
  EXPECT_NE(run.limits[1].find("Why it waited is told of the 2 jobs"), std::string::npos) << run.limits[1];
  EXPECT_EQ(run.summary.value("jobs"), 4) << "figures are over all jobs";
}

TEST_F(ReadRun, OfTooManyWaitsTheLongestAreExplained) {
  PageLimits limits;
  limits.wait_texts = 2;
  const RunData run = read(test::kShrinking, limits);
  EXPECT_EQ(run.why.job, (Ints{2, 3})) << "9 s, and the one that never started";
  EXPECT_EQ(run.limits,
            Lines{fmt::format("Why it waited is told of the 2 jobs with the longest waits; `replay why {} JOB` "
                              "tells it of any.",
                              run.path)});
}

TEST_F(ReadRun, WaitsWithTooManyChangesTogetherAreNotExplained) {
  PageLimits limits;
  limits.wait_steps = 3;
  EXPECT_EQ(read(test::kShrinking, limits).why.job, (Ints{2, 3}))
      << "job 4 waited for no time, job 3 during the changes at 3, 7.5 and 8, job 2 during the one at 2";
  limits.wait_steps = 2;
  EXPECT_EQ(read(test::kShrinking, limits).why.job, Ints{3});
}

TEST_F(ReadRun, OfJobsWithTooManyStretchesThoseWithTheLargestAreaAreShown) {
  PageLimits limits;
  limits.stretches = 4;
  EXPECT_EQ(read(test::kShrinking, limits).jobs.id, (std::vector<JobId>{JobId{1}, JobId{2}}))
      << "three stretches and one; job 3 has not ended, its area is not known";
  limits.stretches = 3;
  EXPECT_EQ(read(test::kShrinking, limits).jobs.id, (std::vector<JobId>{JobId{1}}));
}

TEST_F(ReadRun, OfTooManyMergedStretchesTheCellsAreLarger) {
  std::string log = "#replay-events 1\n#body sim\n#machine flat:1\n";
  for (int job = 0; job < 3000; ++job)
    log += fmt::format(
        "{0} submit job={1} processes=1 estimate=1 runtime=1 flexibility=rigid\n{0} start job={1} cores=1 mpl=1\n"
        "{0} launch job={1} cores=1 mpl=1\n{0}.5 finish job={1} outcome=completed\n",
        2 * job, job + 1);
  PageLimits limits;
  limits.jobs = 1;
  const RunData fine = read(log, limits);
  EXPECT_GT(fine.stretches.size(), 1000u);
  EXPECT_NE(fine.limits.at(0).find("merged, in cells of 0.97"), std::string::npos) << fine.limits.at(0);
  limits.merged = 1000;
  const RunData coarse = read(log, limits);
  EXPECT_LE(coarse.stretches.size(), 1001u);
  EXPECT_NE(coarse.limits.at(0).find("merged, in cells of 1.95 s"), std::string::npos) << coarse.limits.at(0);
}

TEST_F(ReadRun, OfTooManyChangesTheLoadIsMeansOverEqualSpans) {
  PageLimits limits;
  limits.points = 3;
  limits.spans = 6;
  const RunData run = read(test::kShrinking, limits);
  EXPECT_EQ(text_of(run.series.time), "0 2 4 6 8 10 12") << "to the last change";
  EXPECT_EQ(text_of(run.series.busy), "4 4 4 3.5 4 4 1") << "two cores are free from 7.5 to 8";
  EXPECT_EQ(text_of(run.series.queued), "0 0.75 1 1 1 1 0");
  EXPECT_EQ(text_of(run.series.free_while_queued), "0 0 0 0.5 0 0 0");
  EXPECT_EQ(run.limits, Lines{"The curves over time have 7 changes; they are drawn as means over 2 s."});
}

TEST_F(ReadRun, OfTooManyWarningsOfAKindTheFirstAreShownAndTheOthersCounted) {
  std::string log = "#replay-events 1\n#machine flat:4\n";
  for (int i = 0; i < 5; ++i) log += fmt::format("{} note text=\"note {}\"\n", i, i);
  PageLimits limits;
  limits.warnings = 2;
  EXPECT_EQ(lines_of(read(log, limits).warnings),
            (Lines{"note -1 0: note 0", "note -1 1: note 1", "note -1 -: and 3 more of this kind"}));
}

TEST_F(ReadRun, TooManyGroupsAndSlicesAreCutAndSaidSo) {
  PageLimits limits;
  limits.groups = 1;
  const RunData run = read(test::kSharing, limits);
  EXPECT_EQ(run.groups.size(), 1u);
  EXPECT_EQ(run.slices.size(), 1u);
  EXPECT_EQ(run.limits, Lines{"Of 2 slices the first 1 are shown."});
}

// ---- what stands beside the log ----

TEST_F(ReadRun, RunJsonAddsWhatTheLogCannotSay) {
  const fs::path log = write(test::kSharing);
  test::write_text(folder_ / "run/run.json",
                   R"({"disturbed": true, "load_of_others": {"before": 0.31, "after": null}, "interrupted": true,
                       "ended": "2026-11-21T04:00:12Z", "lost": null, "fault": "asked for 9 cores", "broken_off": null,
                       "unwritten": ["jobs.csv: No space left"], "notes": ["seed 7"]})");
  EXPECT_EQ(lines_of(read_run(log).warnings),
            (Lines{"disturbed -1 -: other programs used the machine: 31 % of its time before the run, ? after it",
                   "cut -1 -: the run was interrupted", "cut -1 -: asked for 9 cores",
                   "note -1 -: not written: jobs.csv: No space left", "note -1 -: seed 7"}));
  EXPECT_FALSE(read_run(log).is_complete);
}

TEST_F(ReadRun, ARunWhoseRunJsonHasNoEndIsNotComplete) {
  const fs::path log = write(test::kSharing);
  test::write_text(folder_ / "run/run.json",
                   R"({"disturbed": false, "interrupted": false, "ended": null, "notes": []})");
  EXPECT_EQ(lines_of(read_run(log).warnings),
            Lines{"cut -1 -: run.json tells of no end: the run was killed, or still goes on"});
}

TEST_F(ReadRun, ADamagedRunJsonIsANote) {
  const fs::path log = write(test::kSharing);
  for (const char* json : {"{", "[]", R"({"disturbed": "yes"})", R"({"notes": [7]})"}) {
    test::write_text(folder_ / "run/run.json", json);
    const RunData run = read_run(log);
    if (std::string{json} == "[]") continue;  // says nothing
    ASSERT_EQ(run.warnings.size(), 1u) << json;
    EXPECT_EQ(run.warnings[0].kind, "note");
    EXPECT_NE(run.warnings[0].text.find("run.json"), std::string::npos) << run.warnings[0].text;
  }
}

class ReadSeeds : public ReadRun {
 protected:
  ReadSeeds() {
    fs::create_directories(folder_ / "study/seed-2");
    log_ = write(test::kSharing, "study/seed-2/easy,pass=instant");
  }
  fs::path log_;
};

TEST_F(ReadSeeds, ARunOfSeveralSeedsHasTheIntervalsOfItsPolicy) {
  test::write_text(folder_ / "study/seeds.json",
                   R"({"seeds": [2, 5, 7], "policies": [
                        {"policy": "fcfs", "metrics": {"mean_wait": {"mean": 9, "low": 8, "high": 10}}},
                        {"policy": "easy:pass=instant", "metrics": {"mean_wait": {"mean": 4, "low": 3.5, "high": 4.5},
                                                                   "mean_slowdown": {"mean": 2, "low": null, "high": null}}}]})");
  const RunData run = read_run(log_);
  ASSERT_EQ(run.intervals.size(), 2u);
  EXPECT_EQ(run.intervals[0].metric, "mean_wait");
  EXPECT_EQ(text_of({run.intervals[0].mean, run.intervals[0].low, run.intervals[0].high}), "4 3.5 4.5");
  EXPECT_EQ(text_of({run.intervals[1].mean, run.intervals[1].low, run.intervals[1].high}), "2 - -");
  EXPECT_EQ(lines_of(run.warnings), Lines{"note -1 -: the run is one of 3 seeds (seed-2): the intervals beside its "
                                          "figures are of the means over all of them"});
  EXPECT_TRUE(run.is_complete);
  EXPECT_EQ(run_mark(log_, true), " (one of 3 seeds)");
  EXPECT_EQ(run_mark(log_, false), " (incomplete, one of 3 seeds)");
}

TEST_F(ReadSeeds, SeedsWithoutThePolicyAreIgnoredAndADamagedFileIsANote) {
  test::write_text(folder_ / "study/seeds.json",
                   R"({"seeds": [2, 5], "policies": [{"policy": "fcfs", "metrics": {}}]})");
  EXPECT_EQ(read_run(log_).intervals.size(), 0u);
  EXPECT_EQ(read_run(log_).warnings.size(), 0u);
  for (const char* json : {"{", R"({"policies": [{"policy": "easy:pass=instant"}]})",
                           R"({"policies": [{"policy": "easy:pass=instant", "metrics": [1]}]})"}) {
    test::write_text(folder_ / "study/seeds.json", json);
    const RunData run = read_run(log_);
    ASSERT_EQ(run.warnings.size(), 1u) << json;
    EXPECT_NE(run.warnings[0].text.find("what seeds.json says is left out"), std::string::npos) << run.warnings[0].text;
  }
}

}  // namespace
}  // namespace replay::report
