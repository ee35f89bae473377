// Tests of declarations for a trace: which records they apply to, which depend on others, and that a job's draws do not
// depend on the jobs around it.
#include "traces/declare/declarer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/declare/options.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::memory_source;
using test::message_of;

std::vector<TraceEntry> declared(const std::string& text, const DeclareOptions& options,
                                 std::vector<Duration> estimates = {}) {
  const std::string log = "; MaxProcs: 128\n" + text;
  TraceReader reader(memory_source(log, "log.swf"));
  Declarer declarer(declarations_of(options), reader.header());
  declarer.use_estimates(std::move(estimates));
  std::vector<TraceEntry> entries;
  for (TraceEntry entry; reader.next(entry); entries.push_back(entry)) declarer.declare(entry);
  return entries;
}

DeclareOptions everything() {
  DeclareOptions given;
  given.speedup = "downey";
  given.constraint = "survey";
  given.moldable = "0.5";
  given.malleable = "0.3";
  given.cpu_util = "logged-else:uniform:0.2:1";
  given.ov = "uniform";
  given.contention = "table4";
  given.estimates = "factor:3";
  return given;
}

TEST(Declarer, WhatAJobDrawsDoesNotDependOnTheJobsAroundIt) {
  std::string all, some;
  for (int job = 1; job <= 60; ++job) {
    all += job_line(job);
    if (job % 3 == 0) some += job_line(job);
  }
  const auto of_all = declared(all, everything());
  const auto of_some = declared(some, everything());
  ASSERT_EQ(of_some.size(), 20U);
  for (std::size_t i = 0; i < of_some.size(); ++i) {
    EXPECT_EQ(of_some[i].record, of_all[3 * i + 2].record);
    EXPECT_EQ(of_some[i].traits, of_all[3 * i + 2].traits);
  }
}

TEST(Declarer, WhatIsDeclaredBesidesDoesNotChangeADraw) {
  const std::string text = job_line(1) + job_line(2) + job_line(3);
  DeclareOptions only_ov;
  only_ov.ov = "uniform";
  const auto alone = declared(text, only_ov), together = declared(text, everything());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(alone[i].traits.network_overhead, together[i].traits.network_overhead);
}

TEST(Declarer, AnotherSeedDrawsOtherwise) {
  DeclareOptions given = everything();
  const auto first = declared(job_line(1), given);
  given.seed = 2;
  const auto second = declared(job_line(1), given);
  EXPECT_NE(first[0].traits.network_overhead, second[0].traits.network_overhead);
  EXPECT_NE(first[0].traits.pair_key, second[0].traits.pair_key);
  EXPECT_NE(first[0].traits.same_cpu_slowdown, second[0].traits.same_cpu_slowdown);
}

TEST(Declarer, RecordsThatAreNoJobsStayAsTheyAre) {
  const std::string text = job_line(1) + job_line(2, {{4, "-1"}}) + job_line(3, {{5, "-1"}, {8, "-1"}}) +
                           job_line(4, {{11, "2"}}) + job_line(1) + job_line(-1);
  const auto before = test::read_records(text);
  const auto after = declared(text, everything());
  ASSERT_EQ(after.size(), 6U);
  EXPECT_FALSE(after[0].traits.empty());
  for (std::size_t i = 1; i < after.size(); ++i) {
    EXPECT_TRUE(after[i].traits.empty()) << i;
    EXPECT_EQ(after[i].record, before[i]) << i;
  }
}

TEST(Declarer, EstimatesArePerfectAMultipleOrThoseOfTheLog) {
  const auto estimate = [](const char* rule) {
    DeclareOptions given;
    given.estimates = rule;
    return declared(job_line(1, {{4, "100.5"}}), given)[0].record.requested_time;
  };
  EXPECT_EQ(estimate("perfect"), Duration{100'500ms});
  EXPECT_EQ(estimate("factor:2.5"), Duration{251'250ms});
  EXPECT_EQ(estimate("log"), Duration{200s});
}

TEST(Declarer, ModelledEstimatesGoToJobsOnly) {
  DeclareOptions given;
  given.estimates = "tsafrir";
  const std::string text = job_line(1) + job_line(2, {{4, "-1"}}) + job_line(3);
  const auto entries = declared(text, given, {1h, 2h});
  EXPECT_EQ(entries[0].record.requested_time, Duration{1h});
  EXPECT_EQ(entries[1].record.requested_time, Duration{200s});
  EXPECT_EQ(entries[2].record.requested_time, Duration{2h});
  EXPECT_NE(message_of<InputError>([&] { declared(text, given, {1h}); }).find("changed"), std::string::npos);
}

TEST(Declarer, CpuUseIsTheLogsWhereItHasOne) {
  DeclareOptions given;
  given.cpu_util = "logged-else:constant:0.6";
  const std::string text = job_line(1, {{6, "25"}}) + job_line(2) + job_line(3, {{5, "1"}}) +
                           job_line(4, {{6, "150"}}) + job_line(5, {{5, "1"}, {6, "40"}});
  const auto use = [&](const DeclareOptions& options) {
    std::vector<double> values;
    for (const TraceEntry& entry : declared(text, options)) values.push_back(entry.traits.cpu_use.value());
    return values;
  };
  EXPECT_EQ(use(given), (std::vector<double>{0.25, 0.6, 1, 1, 0.4}));
  given.serial_cpu_util = "constant:0.9";
  EXPECT_EQ(use(given), (std::vector<double>{0.25, 0.6, 0.9, 1, 0.4}));
  given.cpu_util = "constant:0.6";
  EXPECT_EQ(use(given), (std::vector<double>{0.6, 0.6, 0.9, 0.6, 0.9})) << "the log is not asked";
}

TEST(Declarer, NetworkOverheadsAreUniform) {
  std::string text;
  for (int job = 1; job <= 2000; ++job) text += job_line(job);
  DeclareOptions given;
  given.ov = "uniform";
  double sum = 0;
  for (const TraceEntry& entry : declared(text, given)) {
    EXPECT_GE(entry.traits.network_overhead.value(), 0);
    EXPECT_LT(*entry.traits.network_overhead, 1);
    sum += *entry.traits.network_overhead;
  }
  EXPECT_NEAR(sum / 2000, 0.5, 0.02);
}

TEST(Declarer, EachFifthJobHasThePrioritiesOfTheSlackPaper) {
  std::string text;
  for (int job = 101; job <= 111; ++job) text += job_line(job, {{4, job == 103 ? "-1" : "100"}});
  DeclareOptions given;
  given.priority = "every=5,user=1,political=1";
  std::vector<std::int64_t> preferred;
  for (const TraceEntry& entry : declared(text, given)) {
    if (entry.record.job == 103) continue;
    EXPECT_EQ(entry.traits.user_priority, entry.traits.political_priority);
    ASSERT_TRUE(entry.traits.user_priority == 1.0 || entry.traits.user_priority == 0.0);
    if (*entry.traits.user_priority == 1) preferred.push_back(entry.record.job);
  }
  EXPECT_EQ(preferred, (std::vector<std::int64_t>{106, 111})) << "the 5th and 10th that ran";
  given.priority = "every=1,political=-inf";
  EXPECT_EQ(declared(job_line(1), given)[0].traits.political_priority, -std::numeric_limits<double>::infinity());
}

TEST(Declarer, TheSizeRuleChangesBothSizesAndTheMachine) {
  DeclareOptions given;
  given.contention = "table4";
  given.size_rule = "glomarc:cores=4:round=integer";
  std::map<int, int> factors;
  std::string text;
  for (int job = 1; job <= 300; ++job) text += job_line(job, {{5, "10"}, {8, "20"}});
  for (const TraceEntry& entry : declared(text, given)) {
    const auto& [scr, sno] = std::pair(*entry.traits.same_cpu_slowdown, *entry.traits.same_node_slowdown);
    const SizeRule rule = parse_size_rule(given.size_rule);
    EXPECT_EQ(entry.record.allocated, size_on_nodes(10, scr, sno, rule, 128));
    EXPECT_EQ(entry.record.requested, size_on_nodes(20, scr, sno, rule, 128));
    ++factors[processes_per_node(10, scr, sno, rule)];
  }
  EXPECT_EQ(factors.size(), 3U);
  SwfHeader header("log.swf");
  header.add_line("; MaxProcs: 128");
  Declarer(declarations_of(given), header).declare(header);
  EXPECT_EQ(header.max_procs(), 512);
  EXPECT_EQ(header.max_nodes(), 128);
}

TEST(Declarer, SizesOfTheSpeedupAreThoseAfterTheSizeRule) {
  DeclareOptions given;
  given.contention = "table4";
  given.size_rule = "glomarc:cores=4";
  given.speedup = "three-point";
  for (const TraceEntry& entry : declared(job_line(1) + job_line(2) + job_line(3), given)) {
    EXPECT_EQ(to_text(entry.traits.speedup.value()), "three-point:n=" + std::to_string(entry.record.allocated));
    EXPECT_EQ(entry.traits.most, 2 * entry.record.allocated);
  }
}

TEST(Declarer, SaysWhatIsMissing) {
  DeclareOptions sizes;
  sizes.size_rule = "glomarc:cores=4";
  const std::string message = message_of<InputError>([&] { declared(job_line(7), sizes); });
  EXPECT_NE(message.find("job 7"), std::string::npos) << message;
  EXPECT_NE(message.find("--contention table4"), std::string::npos) << message;
  DeclareOptions speedup;
  speedup.speedup = "linear";
  EXPECT_NE(message_of<UsageError>([&] { Declarer(declarations_of(speedup), SwfHeader{}); }).find("--machine-size"),
            std::string::npos);
  speedup.machine_size = "64";
  EXPECT_NO_THROW(Declarer(declarations_of(speedup), SwfHeader{}));
}

TEST(Declarer, NotesHowTheTraceWasMade) {
  DeclareOptions given = everything();
  given.priority = "every=5";
  given.estimates = "tsafrir:emax=18h";
  SwfHeader header("log.swf");
  header.add_line("; MaxProcs: 128");
  header.add_line("; Acknowledge: somebody");
  Declarer(declarations_of(given), header).declare(header);
  EXPECT_EQ(header.find("Note"),
            "made by: replay trace declare --seed 1 --contention table4 --speedup downey --constraint survey "
            "--sigma-factor 1 --moldable 0.5 --malleable 0.3 --cpu-util logged-else:uniform:0.2:1 --serial-cpu-util "
            "constant:1 --ov uniform:0:1 --estimates tsafrir:parameters=pooled:emax=64800s --priority "
            "every=5,user=1,political=1");
  EXPECT_EQ(header.find("Acknowledge"), "somebody");
}

TEST(DeclareOptions, ThatMakeNoSenseAreRefused) {
  const auto refused = [](auto set, const char* word) {
    DeclareOptions given;
    given.ov = "uniform";
    set(given);
    const std::string message = message_of<UsageError>([&] { (void)declarations_of(given); });
    EXPECT_NE(message.find(word), std::string::npos) << message;
  };
  refused([](auto& g) { g.ov = ""; }, "nothing to declare");
  refused([](auto& g) { g.ov = "unifrom"; }, "--ov");
  refused([](auto& g) { g.speedup = "amdahl"; }, "three-point,downey,linear");
  refused([](auto& g) { g.moldable = "0.8"; }, "--speedup");
  refused([](auto& g) { g.speedup = "linear", g.moldable = "0.8", g.malleable = "0.3"; }, "sum to 1");
  refused([](auto& g) { g.speedup = "linear", g.constraint = "survey"; }, "downey");
  refused([](auto& g) { g.sigma_factor = "2"; }, "downey");
  refused([](auto& g) { g.speedup = "downey", g.sigma_factor = "-1"; }, "--sigma-factor");
  refused([](auto& g) { g.speedup = "downey", g.constraint = "odd"; }, "none,power-of-two,survey");
  refused([](auto& g) { g.estimates = "tsafrir:parameters=lanl"; }, "pooled, sdsc, ctc, kth, blue");
  refused([](auto& g) { g.estimates = "tsafrir:emax=30min"; }, "1h");
  refused([](auto& g) { g.estimates = "tsafrir:max=18h"; }, "emax");
  refused([](auto& g) { g.estimates = "factor:0"; }, "factor");
  refused([](auto& g) { g.estimates = "factor"; }, "--estimates");
  refused([](auto& g) { g.estimates = "guess"; }, "--estimates");
  refused([](auto& g) { g.cpu_util = "logged-else:"; }, "--cpu-util");
  refused([](auto& g) { g.serial_cpu_util = "constant:1"; }, "only with --cpu-util");
  refused([](auto& g) { g.contention = "table5"; }, "table4");
  refused([](auto& g) { g.size_rule = "double"; }, "--size-rule");
  refused([](auto& g) { g.priority = "every=0"; }, "--priority every");
  refused([](auto& g) { g.priority = "user=2"; }, "--priority");
  refused([](auto& g) { g.priority = "each=5"; }, "--priority");
  refused([](auto& g) { g.machine_size = "0"; }, "--machine-size");
  refused([](auto& g) { g.machine_size = "5000000000"; }, "--machine-size");
}

}  // namespace
}  // namespace replay
