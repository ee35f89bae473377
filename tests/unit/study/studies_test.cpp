// Tests of the studies on made-up workloads: one job and two at a time give the same, and counts match the runs. If the
// KTH log is available, its months have the known jobs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/study/dynp/study.hpp"
#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "scheduler/study/fcfs_malleable/study.hpp"
#include "scheduler/study/page.hpp"
#include "scheduler/study/slack/study.hpp"
#include "scheduler/study/slack/watched_promises.hpp"
#include "tests/support/archive_logs.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"

namespace replay::study {
namespace {

std::vector<Month> made_up_months() {
  return {{"1996-10", {test::random_jobs(1, 80, 64)}}, {"1996-11", {test::random_jobs(2, 60, 64)}}};
}

Result slack_with(const Surroundings& surroundings) {
  return slack_result(run_slack_study(made_up_months(), true, surroundings), true, "made up");
}

TEST(SlackStudy, IsTheSameWithTwoJobs) {
  const Result one = slack_with({});
  EXPECT_EQ(to_html(one), to_html(slack_with({.jobs = 2})));
  EXPECT_EQ(to_csv(one), to_csv(slack_with({.jobs = 2})));
}

TEST(SlackStudy, CountsEveryJobOnceAndEveryFifthAsHigh) {
  const Findings found = run_slack_study(made_up_months(), true, {});
  const auto year = [&](const char* figure) { return found.mean("all/unequal ast/{}", figure); };
  EXPECT_EQ(year("jobs all"), 140);
  EXPECT_EQ(year("jobs high"), 28);
  EXPECT_EQ(year("jobs low"), 112);
  EXPECT_NEAR(year("wait all"), 0.2 * year("wait high") + 0.8 * year("wait low"), 1e-6);
  EXPECT_DOUBLE_EQ(year("gap"), year("wait low") - year("wait high"));
  EXPECT_GT(year("watched"), 0);
  EXPECT_EQ(year("broken"), 0);
  EXPECT_EQ(found.mean("all/conservative/watched"), 0);
}

TEST(SlackStudy, KthHasTheKnownJobsInEachMonth) {
  const std::string file = test::archive_log("KTH-SP2-1996-2");
  SKIP_WITHOUT(file);
  std::vector<std::size_t> counts;
  for (const Month& month : months_of(read_workload(file))) counts.push_back(month.workload.jobs.size());
  // By submit time, Stockholm; one of August's 1927 has no processors and is skipped.
  EXPECT_EQ(counts, (std::vector<std::size_t>{106, 2407, 1984, 2308, 2931, 2924, 2081, 2854, 4081, 2702, 2185, 1926}));
}

TEST(MalleableStudy, IsTheSameWithTwoJobs) {
  const std::vector<MalleableLog> logs{
      {.name = "SDSC", .file = "a", .processors = 32, .workload = {test::random_jobs(3, 90, 32)}, .with_cpu_use = 90},
      {.name = "CTC", .file = "b", .processors = 64, .workload = {test::random_jobs(4, 70, 64)}, .with_cpu_use = 0}};
  const auto page = [&](const Surroundings& surroundings) {
    return to_html(malleable_result(run_malleable_study(logs, false, surroundings), logs, false));
  };
  EXPECT_EQ(page({}), page({.jobs = 2}));
}

TEST(MalleableStudy, TakesTheRangesOfTable2WhereTheLogIsLongEnough) {
  const auto names = [](std::string_view log, std::size_t jobs, bool quick) {
    std::vector<std::string> result;
    for (const JobRange& range : ranges_of(log, jobs, quick)) result.push_back(range.name);
    return result;
  };
  EXPECT_EQ(names("SDSC", 54'044, false), (std::vector<std::string>{"whole log", "first 45000", "40000 to 45000"}));
  EXPECT_EQ(names("CTC", 77'199, true), (std::vector<std::string>{"20000 to 25000"}));
  EXPECT_EQ(names("CTC", 100, true), (std::vector<std::string>{"whole log"}));
}

TEST(MalleableStudy, Figure2IsThePapers) {
  const Findings found = run_malleable_study({}, false, {});
  for (int job = 1; job <= 6; ++job)
    for (const std::string time : {"start", "end"}) {
      const std::string name = fmt::format("{} J{}", time, job);
      EXPECT_EQ(found.mean("figure 2/fcfs-malleable/{}", name),
                malleable_printed().at("figure 2, starts and ends", "fcfs-malleable", name));
    }
  EXPECT_NEAR(found.mean("figure 2/fcfs-malleable/fragmentation"), 4.0 / 60, 1e-9);
}

DynpOptions small_dynp() { return {.sets = 4, .jobs = 60, .factors = {1.0, 0.5}}; }

std::vector<DynpLog> made_up_logs() {
  std::vector<DynpLog> logs{{.name = "KTH", .file = "a", .processors = 16, .sets = {}},
                            {.name = "CTC", .file = "b", .processors = 32, .sets = {}}};
  for (DynpLog& log : logs)
    for (std::uint64_t set = 0; set < small_dynp().sets; ++set)
      log.sets.push_back({test::random_jobs(10 + set, 60, log.processors)});
  return logs;
}

TEST(DynpStudy, IsTheSameWithTwoJobs) {
  const auto page = [](const Surroundings& surroundings) {
    const std::vector<DynpLog> logs = made_up_logs();
    return to_html(dynp_result(run_dynp_study(logs, small_dynp(), surroundings), logs, small_dynp()));
  };
  EXPECT_EQ(page({}), page({.jobs = 2}));
}

TEST(DynpStudy, SharesOfThePoliciesAddUpToOne) {
  const Findings found = run_dynp_study(made_up_logs(), small_dynp(), {});
  for (const char* decider : {"advanced", "SJF-preferred", "simple"}) {
    const auto share = [&](const char* of) { return found.average("KTH 0.5/{}/share {}", decider, of); };
    EXPECT_NEAR(share("FCFS") + share("SJF") + share("LJF"), 1, 1e-9) << decider;
  }
  EXPECT_EQ(found.mean("KTH 1/FCFS/switches"), 0);
}

TEST(PolicyShares, CountsChangesAndTheTimeBetween) {
  const auto at = [](int s) { return Instant{std::chrono::seconds{s}}; };
  PolicyShares shares;
  EXPECT_EQ(shares.switches(), 0u);
  shares.on_record({at(0), log::Note{"something else"}}, nullptr);
  shares.on_record({at(10), log::Note{"dynp fcfs"}}, nullptr);
  shares.on_record({at(40), log::Note{"dynp ljf"}}, nullptr);
  shares.on_record({at(50), log::Note{"dynp fcfs"}}, nullptr);
  shares.on_record({at(110), log::Note{"the end"}}, nullptr);
  EXPECT_EQ(shares.switches(), 2u);
  EXPECT_EQ(shares.shares(), (std::array<double, 3>{0.9, 0, 0.1}));
}

TEST(TrimmedMean, DropsTheSmallestAndTheLargestOfThreeOrMore) {
  EXPECT_EQ(trimmed_mean({5}), 5);
  EXPECT_EQ(trimmed_mean({5, 1}), 3);
  EXPECT_EQ(trimmed_mean({100, 2, 4, 1}), 3);
}

TEST(Shrunk, RoundsToSecondsAndLeavesFactorOneAlone) {
  Workload set{test::random_jobs(5, 3, 4)};
  set.jobs.change(2, [](TracedJob& job) { job.job.submitted = Instant{std::chrono::milliseconds{5500}}; });
  EXPECT_EQ(shrunk(set, 1).jobs[2].job.submitted, set.jobs[2].job.submitted);
  EXPECT_EQ(shrunk(set, 0.5).jobs[2].job.submitted, Instant{std::chrono::seconds{3}});
}

// Promises each job its submit time and starts all an hour late.
class Liar final : public Policy, public Hosting {
 public:
  void decide(const ClusterView& view, Decisions& out) override {
    for (const Job* job : view.waiting) {
      const Instant late = job->submitted + std::chrono::hours{1};
      if (view.now >= late)
        out.emplace_back(Start{job->id, {cores_needed(*job), 1, {}}});
      else
        out.emplace_back(WakeAt{late});
    }
  }
  std::optional<Instant> planned_start(const Job& job) const override { return job.submitted; }
};

TEST(WatchedPromises, SeesAStartBeyondPromiseAndSlack) {
  using namespace std::chrono_literals;
  const std::vector<TracedJob> jobs{test::job('A').cores(1).runs(1min)};
  // Without a wait p = 0, so the slack is SF x AWT.
  for (const auto& [average_wait_s, broken] : {std::pair{1000.0, 1u}, std::pair{1200.0, 0u}}) {
    Liar liar;
    WatchedPromises watched(liar, 3, average_wait_s);
    test::simulate(watched, test::cores(4), jobs);
    EXPECT_EQ(watched.watched(), 1u);
    EXPECT_EQ(watched.broken(), broken) << average_wait_s;
  }
}

TEST(ArchiveLogs, FindsPlainAndCompressedAndNamesWhatIsMissing) {
  const TemporaryFolder folder;
  test::write_text(folder / "CTC-SP2-EASY-reference.swf.gz", "");
  const ArchiveLog* const wanted[] = {&kCtcLog, &kKthLog};
  LogSearch search = find_logs(folder.path(), wanted);
  ASSERT_EQ(search.found.size(), 1u);
  EXPECT_EQ(search.found[0].file.filename(), "CTC-SP2-EASY-reference.swf.gz");
  ASSERT_EQ(search.missing.size(), 1u);
  EXPECT_NE(search.missing[0].find("KTH-SP2-1996-2.swf.gz"), std::string::npos);
  EXPECT_NE(search.missing[0].find("https://www.cs.huji.ac.il/labs/parallel/workload/l_kth_sp2/index.html"),
            std::string::npos);
  test::write_text(folder / "CTC-SP2-1996-3.1-cln.swf", "");
  EXPECT_EQ(find_logs(folder.path(), wanted).found[0].file.filename(), "CTC-SP2-1996-3.1-cln.swf");
}

TEST(Studies, EndWhenTheyAreInterrupted) {
  const StopSignals signals;
  const HeedStops heeding;
  ::raise(SIGINT);
  EXPECT_THROW(static_cast<void>(run_slack_study(made_up_months(), true, {})), sweep::Interrupted);
}

}  // namespace
}  // namespace replay::study
