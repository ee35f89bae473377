#include "traces/tools/clean.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/tools/trace_text.hpp"
#include "traces/tools/validate.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::ToolTest;
using Jobs = std::vector<std::int64_t>;

CleanResult clean(const ToolTest& tool, const CleanOptions& options = {}) {
  TraceWriter writer(tool.output(), {.force = true});
  CleanResult result = clean_trace(tool.trace(), writer, options, "replay trace clean");
  writer.close();
  return result;
}

// One record for each rule.
const std::string kDirty =
    "; MaxProcs: 8\n; MaxRecords: 99\n" + job_line(1) + job_line(2, {{4, "-1"}}) +
    job_line(3, {{4, "300"}, {6, "150"}}) + job_line(4, {{5, "-1"}, {8, "-1"}}) + job_line(5, {{5, "16"}}) +
    job_line(6, {{11, "5"}, {4, "0"}, {5, "-1"}}) + job_line(7, {{5, "-1"}, {8, "2"}}) + job_line(8, {{9, "-1"}}) +
    job_line(9, {{6, "101"}}) + "nonsense\n" + job_line(9) + job_line(10, {{2, "-1"}}) +
    job_line(11, {{3, "-7"}, {11, "9"}, {17, "2"}, {18, "3"}}) + job_line(12, {{2, "15"}}) + job_line(13, {{8, "64"}});

TEST(Clean, LeavesOutWhatTheSimulatorWouldSkipAndChangesWhatItWouldChange) {
  const ToolTest tool(kDirty);
  const CleanResult result = clean(tool);
  EXPECT_EQ(tool.jobs(), (Jobs{1, 12, 3, 7, 8, 9, 11, 13})) << "sorted: job 12 came late";
  EXPECT_TRUE(result.sorted);
  EXPECT_EQ(result.report.broken, 1U);
  EXPECT_EQ(result.report.kept, 8U);
  for (const char* rule : {"runtime-missing", "size-missing", "oversize", "cancelled-never-ran", "duplicate-number",
                           "submit-missing", "size-other-field", "request-missing", "over-request", "cpu-use-clamped",
                           "status-unknown", "negative-value", "preceding-missing", "out-of-order", "broken-line"})
    EXPECT_EQ(result.report.count(rule), 1U) << rule;
  const std::vector<TraceEntry> entries = tool.entries();
  EXPECT_EQ(entries[2].record.run, Duration{200s});
  EXPECT_EQ(entries[2].record.average_cpu, Duration{100s}) << "CPU use stays 0.5";
  EXPECT_EQ(entries[3].record.allocated, 2);
  EXPECT_EQ(entries[4].record.requested_time, Duration{100s});
  EXPECT_EQ(entries[5].record.average_cpu, Duration{100s});
  EXPECT_EQ(entries[6].record.preceding, -1);
  EXPECT_EQ(entries[7].record.requested, 8);
}

TEST(Clean, MeansTheSameJobsToASimulationAndNothingIsLeftToDo) {
  const ToolTest tool(kDirty);
  clean(tool);
  const LoadedWorkload before = read_workload(tool.input()), after = read_workload(tool.output());
  ASSERT_EQ(after.workload.jobs.size(), before.workload.jobs.size());
  for (std::size_t i = 0; i < after.workload.jobs.size(); ++i) {
    const TracedJob &a = before.workload.jobs[i], &b = after.workload.jobs[i];
    EXPECT_EQ(a.job.id, b.job.id);
    EXPECT_EQ(a.job.submitted, b.job.submitted);
    EXPECT_EQ(a.job.processes, b.job.processes);
    EXPECT_EQ(a.job.estimate, b.job.estimate);
    EXPECT_EQ(a.truth.runtime, b.truth.runtime);
    EXPECT_EQ(a.truth.behaviour, b.truth.behaviour);
  }
  EXPECT_EQ(after.report.skipped, 0U);
  TraceReader reader(tool.output());
  const Validation validation = validate_trace(reader);
  EXPECT_TRUE(validation.is_right());
  for (const char* rule : {"over-request", "request-missing", "size-missing", "runtime-missing", "oversize-request",
                           "cpu-use-clamped", "max-records"})
    EXPECT_EQ(validation.find(rule), nullptr) << rule;
}

TEST(Clean, RulesHaveTheirOptions) {
  const ToolTest tool("; MaxProcs: 8\n" + job_line(1, {{5, "16"}, {4, "300"}}) + job_line(2, {{4, "0"}}));
  CleanOptions options;
  set_rule(options.rules, "oversize", "clamp");
  set_rule(options.rules, "over-request", "keep");
  set_rule(options.rules, "zero-runtime", "clamp");
  set_rule(options.rules, "machine-size", "6");
  clean(tool, options);
  EXPECT_EQ(tool.entries()[0].record.allocated, 6);
  EXPECT_EQ(tool.entries()[0].record.run, Duration{300s});
  EXPECT_EQ(tool.entries()[1].record.run, Duration{1s});
  EXPECT_EQ(tool.header().max_procs(), 6);
}

// 20 jobs of one size from user 5, 1 min apart, among jobs of many users an hour apart.
std::string log_with_flurry(const std::string& size_of_every_second = "2") {
  std::string text = "; MaxProcs: 8\n";
  int number = 0;
  const auto add = [&](int at, int user, const std::string& size) {
    text += job_line(++number, {{2, std::to_string(at)}, {5, size}, {12, std::to_string(user)}});
  };
  for (int i = 0; i < 10; ++i) add(3600 * i, 10 + i, "4");
  for (int i = 0; i < 20; ++i) {
    add(36000 + 60 * i, 5, i % 2 == 0 ? "2" : size_of_every_second);
    if (i % 4 == 0) add(36000 + 60 * i, 30 + i, "1");
  }
  for (int i = 0; i < 5; ++i) add(50000 + 7200 * i, 5, "2");
  return text;
}

const FlurryRule kSmall{.jobs = 15, .gap = 10min, .share = 0.5, .alike = 0.6, .longest = 2h};

TEST(Flurries, ABurstOfOneUserThatDominatesIsRemovedAndNamed) {
  const ToolTest tool(log_with_flurry());
  const CleanResult result = clean(tool, {.rules = {}, .flurries = FlurryAction::kRemove, .flurry_rule = kSmall});
  ASSERT_EQ(result.flurries.size(), 1U);
  const Flurry& flurry = result.flurries[0];
  EXPECT_EQ(flurry.user, 5);
  EXPECT_EQ(flurry.jobs, 20U);
  EXPECT_EQ(flurry.first_job, 11);
  EXPECT_EQ(flurry.size, 2);
  EXPECT_DOUBLE_EQ(flurry.share, 20.0 / 25);
  EXPECT_DOUBLE_EQ(flurry.alike, 1);
  EXPECT_EQ(result.report.kept, 20U) << "10 before, 5 of others, 5 of the same user later";
  EXPECT_EQ(result.report.count("flurry"), 20U);
  for (const TraceEntry& entry : tool.entries())
    EXPECT_TRUE(entry.record.user != 5 || entry.record.submit >= Duration{50000s});
  const auto header = tool.header();
  EXPECT_EQ(header.find_all("Note").at(1), "flurry removed: user=5 and (job>=11 and job<=35) (20 jobs)");
}

TEST(Flurries, EachPartOfTheDefinitionCounts) {
  const auto found = [](const FlurryRule& rule, const std::string& size = "2") {
    const ToolTest tool(log_with_flurry(size));
    return clean(tool, {.rules = {}, .flurries = FlurryAction::kReport, .flurry_rule = rule}).flurries.size();
  };
  EXPECT_EQ(found(kSmall), 1U);
  EXPECT_EQ(found({.jobs = 21, .gap = 10min, .share = 0.5, .alike = 0.6, .longest = 2h}), 0U) << "too few jobs";
  EXPECT_EQ(found({.jobs = 15, .gap = 30s, .share = 0.5, .alike = 0.6, .longest = 2h}), 0U) << "it stops too often";
  EXPECT_EQ(found({.jobs = 15, .gap = 10min, .share = 0.9, .alike = 0.6, .longest = 2h}), 0U) << "others work too";
  EXPECT_EQ(found({.jobs = 15, .gap = 10min, .share = 0.5, .alike = 0.6, .longest = 10min}), 0U) << "it lasts";
  EXPECT_EQ(found(kSmall, "4"), 0U) << "half and half is not repetitive";
}

TEST(Flurries, AReportRemovesNothing) {
  const ToolTest tool(log_with_flurry());
  EXPECT_EQ(clean(tool, {.rules = {}, .flurries = FlurryAction::kReport, .flurry_rule = kSmall}).report.skipped, 0U);
  EXPECT_EQ(tool.entries().size(), 40U);
  EXPECT_TRUE(clean(tool, {.rules = {}, .flurries = FlurryAction::kIgnore, .flurry_rule = kSmall}).flurries.empty());
}

TEST(Clean, NothingLeftIsAnError) {
  const ToolTest tool(job_line(1, {{4, "-1"}}));
  EXPECT_THROW(clean(tool), InputError);
}

}  // namespace
}  // namespace replay
