#include "scheduler/compare/waiting_reasons.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "scheduler/compare/several_waits.hpp"
#include "scheduler/compare/waiting_report.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/unit/metrics/five_jobs.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::compare {
namespace {

using namespace std::chrono_literals;
using metrics::ended;
using metrics::JobRow;
using metrics::JobTable;
using metrics::Records;
using test::at;
using test::id;

WaitReport why(const test::MemoryLog& log, std::string_view machine, JobId job, WaitingReasonsOptions options = {}) {
  WaitingReasons reasons{job, options};
  test::feed(log, machine, reasons);
  return reasons.finish();
}

WaitReport why(const Records& records, std::int64_t job) {
  WaitingReasons reasons{JobId{job}};
  records.feed(reasons);
  return reasons.finish();
}

// The report in short form: "3-7 behind 1-1 free 0-0; ...".
std::string text_of(const WaitReport& report) {
  constexpr const char* kWords[] = {"behind", "cores", "held-back", "off-turn", "launch", "closed-nodes", "lost"};
  std::string text;
  for (const WaitSegment& segment : report.segments) {
    text += fmt::format("{}{}-{} {} ahead {}-{} free {}-{}", text.empty() ? "" : "; ", to_text(segment.from),
                        to_text(segment.to), kWords[static_cast<std::size_t>(segment.cause)], segment.ahead_first,
                        segment.ahead_last, segment.free_least, segment.free_most);
    if (segment.shadow_first)
      text += fmt::format(" shadow {}-{}", to_text(*segment.shadow_first), to_text(*segment.shadow_last));
    for (const Overtaker& other : segment.overtakers)
      text += fmt::format(" overtaken by {} at {}", static_cast<char>(other.job), to_text(other.at));
  }
  return text;
}

Records& start(Records& records, double time, int job, const std::vector<test::OnCore>& cores) {
  const Allocation on{CoreCount{static_cast<int>(cores.size())}, 1, test::core_loads(cores)};
  return records.add(time, log::StartDecided{JobId{job}, on}).add(time, log::Launched{JobId{job}, on});
}

// Job 1 needs both nodes. Node 1 is down at first; job 1 runs from 3 to 5, when node 0 goes down, and again from 8 on. Job 2
// comes at 4.
Records with_closed_nodes() {
  const std::vector<test::OnCore> all{{0, 1}, {1, 1}, {2, 1}, {3, 1}};
  Records records("2x1x2");
  records.submit(0, 1, 4, 10).node(0, 1, NodeState::kDown).node(3, 1, NodeState::kUp);
  start(records, 3, 1, all).submit(4, 2, 4, 10).node(5, 0, NodeState::kDown).requeued(5, 1).node(6, 0, NodeState::kUp);
  start(records, 8, 1, all).finish(18, 1);
  return start(records, 18, 2, all).finish(28, 2);
}

TEST(WaitingReasons, OfAJobThatClosedNodesHeldBackAndThatRanTwice) {
  const WaitReport report = why(with_closed_nodes(), 1);
  EXPECT_EQ(
      text_of(report),
      "0-3 closed-nodes ahead 0-0 free 2-2; 3-5 lost ahead 0-0 free 2-2; 5-6 closed-nodes ahead 0-0 free 2-2; 6-8 "
      "held-back ahead 0-0 free 4-4 shadow 6-6");
  EXPECT_EQ(report.launched, at(8s));
  const std::string text = to_text(report, {});
  EXPECT_NE(text.find("held back: needs 4 cores, 2 were there"), std::string::npos) << text;
  EXPECT_NE(text.find("ran, and was lost with a node"), std::string::npos) << text;
}

TEST(WaitingReasons, ARequeuedJobIsAheadAgain) {
  EXPECT_EQ(text_of(why(with_closed_nodes(), 2)),
            "4-5 cores ahead 0-0 free 0-0 shadow 13-13; 5-6 closed-nodes ahead 0-0 free 2-2; 6-8 held-back ahead 1-1 "
            "free 4-4; 8-18 cores ahead 0-0 free 0-0 shadow 18-18");
}

// Job 1 has node 0, job 2 needs both, job 3 node 1, which is down from 4 to 8 and drained to 12. Jobs 2 and 4 come at 1 and 5.
Records with_a_wide_job() {
  Records records("2x1x2");
  records.header("hosts", "fir oak");
  start(records.submit(0, 1, 2, 10), 0, 1, {{0, 1}, {1, 1}}).submit(1, 2, 4, 10);
  start(records.submit(2, 3, 2, 10), 2, 3, {{2, 1}, {3, 1}});
  records.node(4, 1, NodeState::kDown, "the fan").requeued(4, 3, "oak is down: the fan").submit(5, 4, 2, 5);
  records.node(8, 1, NodeState::kDrained, "the disk", Instant{12s});
  start(records.finish(10, 1), 10, 3, {{0, 1}, {1, 1}});
  records.node(12, 1, NodeState::kUp);
  start(records, 12, 4, {{2, 1}, {3, 1}}).finish(17, 4).finish(20, 3);
  return start(records, 20, 2, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}).finish(30, 2);
}

TEST(WaitingReasons, NoJobWaitsBehindOneThatIsHeldBack) {
  EXPECT_EQ(text_of(why(with_a_wide_job(), 3)),
            "2-4 lost ahead 0-0 free 0-0; 4-8 cores ahead 0-0 free 0-0 shadow 10-10; 8-10 behind ahead 1-1 free 0-0");
}

TEST(WaitingReasons, NameTheNodesThatAreClosed) {
  const auto text = [](int job) { return to_text(why(with_a_wide_job(), job), {results::TimeStyle::kSeconds}); };
  const auto expect_in = [&](int job, std::string_view part) {
    EXPECT_NE(text(job).find(part), std::string::npos) << part << " is not in\n" << text(job);
  };
  expect_in(2, "held back: needs 4 cores, 2 were there\n    oak is down: the fan\n8 s");
  expect_in(2, "    oak is drained until 12 s: the disk\n");
  expect_in(3, "ran, and was lost: oak is down: the fan\n4 s");
  expect_in(3, "    oak is down: the fan\n    by the estimates it could start at 10 s");
  EXPECT_EQ(text(1).find("oak"), std::string::npos) << text(1);
}

// Job 1 was started 4 s before the log begins, and job 2 waits for its cores.
TEST(WaitingReasons, TheEstimateOfAnAdoptedJobCountsFromItsStart) {
  Records records("flat:4");
  const Allocation on{4, 1, {}};
  records.submit(5, 1, 4, 10).add(5, log::StartDecided{JobId{1}, on}).add(5, log::Launched{JobId{1}, on, Instant{1s}});
  records.submit(6, 2, 4, 10).finish(9, 1).add(9, log::StartDecided{JobId{2}, on}).add(9, log::Launched{JobId{2}, on});
  EXPECT_EQ(text_of(why(records, 2)), "6-9 cores ahead 0-0 free 0-0 shadow 11-11");
}

// One of two nodes is down. The job was submitted with 4 processes, and offers 2 to 4.
TEST(WaitingReasons, WhereThePolicyChoosesSizesAJobIsHeldBackByTheLeastItOffers) {
  for (const bool chooses : {false, true}) {
    Records records("2x1x2");
    if (chooses) records.header("chooses-sizes", "yes");
    log::Submitted what;
    what.job.id = JobId{1};
    what.job.processes = 4;
    what.job.estimate = 10s;
    what.job.flexibility = Flexibility::kMoldable;
    what.job.declaration =
        std::make_shared<const Declaration>(Declaration{.least = 2, .most = 4, .speedup = SpeedupCurve{}});
    records.node(0, 1, NodeState::kDown).add(0, what).finish(8, 1, ended(Outcome::kCancelled));
    const WaitReport report = why(records, 1);
    EXPECT_EQ(text_of(report),
              chooses ? "0-8 held-back ahead 0-0 free 2-2 shadow 0-0" : "0-8 closed-nodes ahead 0-0 free 2-2");
    EXPECT_EQ(to_text(report, {}).find("needs 4 cores, 2 were there") != std::string::npos, !chooses);
  }
}

TEST(WaitingReasons, OneThatIsHeldBackIsSoForOneReason) {
  const WaitReport report = why(with_a_wide_job(), 2);
  ASSERT_EQ(report.segments.size(), 3U) << text_of(report);
  EXPECT_EQ(report.segments[1].cause, WaitCause::kClosedNodes);
  EXPECT_EQ(report.segments[1].holders, 0U) << "those that run are not in its way";
}

TEST(WaitingReasons, WithClosedNodesAreTheSameOfSeveralJobsAtOnce) {
  for (const Records& records : {with_closed_nodes(), with_a_wide_job()}) {
    const std::vector<JobId> jobs{JobId{1}, JobId{2}};
    SeveralWaits waits{jobs, {}};
    records.feed(waits);
    const std::vector<WaitReport> reports = waits.finish();
    for (std::size_t i = 0; i < jobs.size(); ++i)
      EXPECT_EQ(to_text(reports[i], {}), to_text(why(records, number(jobs[i])), {})) << i;
  }
}

// Its cores were still held by job 1 when their node was closed.
TEST(WaitingReasons, OfAJobThatWasNotLaunchedAsItsNodeWasClosed) {
  Records records("2x1x2");
  start(records.submit(0, 1, 2, 10), 0, 1, {{0, 1}, {1, 1}}).submit(1, 2, 2, 10);
  records.add(1, log::KillDecided{JobId{1}, {}});
  records.add(1, log::StartDecided{JobId{2}, {CoreCount{2}, 1, test::core_loads({{0, 1}, {1, 1}})}});
  records.node(2, 0, NodeState::kDrained);
  start(records, 4, 2, {{2, 1}, {3, 1}}).finish(14, 2);
  EXPECT_EQ(text_of(why(records, 2)), "1-2 launch ahead 0-0 free 2-2; 2-4 held-back ahead 0-0 free 2-2 shadow 2-2");
}

// By hand, from the schedule in five_jobs.hpp. B is the head at once: one core is free, and none from 2 on, when C is
// submitted and started; at 7 C ends. D waits behind B; from 7 to 10 the core that it needs is free, but reserved for
// B; from 10 on B runs, and D is the head until B ends at 20. E never has two free cores before that, and first B, then
// D before it.
TEST(WaitingReasons, AreThoseOfFiveJobsWorkedByHand) {
  const auto easy = test::simulate("easy", test::cores(4), test::five_jobs());
  EXPECT_EQ(text_of(why(easy, "flat:4", id('A'))), "");
  EXPECT_EQ(text_of(why(easy, "flat:4", id('B'))), "1-10 cores ahead 0-0 free 0-1 shadow 10-10 overtaken by C at 2");
  EXPECT_EQ(text_of(why(easy, "flat:4", id('C'))), "");
  EXPECT_EQ(text_of(why(easy, "flat:4", id('D'))),
            "3-7 behind ahead 1-1 free 0-0; 7-10 held-back ahead 1-1 free 1-1; 10-20 cores ahead 0-0 free 0-0 shadow "
            "20-20");
  EXPECT_EQ(text_of(why(easy, "flat:4", id('E'))), "4-20 behind ahead 2-1 free 0-1");
}

TEST(WaitingReasons, UnmergedThereIsASegmentForEachInstant) {
  const auto easy = test::simulate("easy", test::cores(4), test::five_jobs());
  EXPECT_EQ(text_of(why(easy, "flat:4", id('E'), {.merge = false})),
            "4-7 behind ahead 2-2 free 0-0; 7-10 behind ahead 2-2 free 1-1; 10-20 behind ahead 1-1 free 0-0");
}

TEST(WaitingReasons, SaysWhoHoldsTheCores) {
  const auto easy = test::simulate("easy", test::cores(4), test::five_jobs());
  const WaitReport report = why(easy, "flat:4", id('D'), {.most_holders = 1});
  ASSERT_EQ(report.segments.size(), 3u);
  EXPECT_EQ(report.segments[0].holders, 2u);
  ASSERT_EQ(report.segments[0].largest_holders.size(), 1u);
  EXPECT_EQ(report.segments[0].largest_holders[0].job, id('A'));
  EXPECT_EQ(report.segments[0].largest_holders[0].cores, 3);
  EXPECT_EQ(report.segments[0].largest_holders[0].estimated_end, at(10s));
}

TEST(WaitingReasons, FromDecisionToLaunchItWaitsForItsCores) {
  const WaitReport report = why(Records("flat:4")
                                    .submit(0, 1, 4, 9)
                                    .add(0, log::StartDecided{JobId{1}, {4, 1, {}}})
                                    .launch(0, 1, 4)
                                    .submit(1, 2, 4, 5)
                                    .add(3, log::ResizeDecided{JobId{1}, {2, 2, {}}})
                                    .add(3, log::StartDecided{JobId{2}, {2, 2, {}}})
                                    .resized(3.5, 1, 2, 2)
                                    .launch(3.5, 2, 2, 2),
                                2);
  EXPECT_EQ(text_of(report), "1-3 cores ahead 0-0 free 0-0 shadow 9-9; 3-3.5 launch ahead 0-0 free 0-0");
  EXPECT_EQ(report.total(WaitCause::kCores), Duration{2s});
  EXPECT_EQ(report.total(WaitCause::kLaunch), Duration{500ms});
  EXPECT_EQ(report.cores_at_launch, 2);
  EXPECT_EQ(report.mpl_at_launch, 2);
}

// Four processes, shrunk to two cores at 3 of 10 s: the 7 s that are left take 14 at half the speed.
TEST(WaitingReasons, TheEstimatesOfShrunkJobsLastLonger) {
  const Records records = Records("flat:4")
                              .submit(0, 1, 4, 10)
                              .add(0, log::StartDecided{JobId{1}, {4, 1, {}}})
                              .launch(0, 1, 4)
                              .add(3, log::ResizeDecided{JobId{1}, {2, 2, {}}})
                              .resized(3, 1, 2, 2)
                              .submit(4, 2, 3, 5)
                              .submit(6, 3, 1, 1);
  WaitingReasons reasons{JobId{2},
                         {.rate = [](const Job&, const Allocation& on, const Surroundings&) { return 1.0 / on.mpl; }}};
  records.feed(reasons);
  EXPECT_EQ(text_of(reasons.finish()), "4-6 cores ahead 0-0 free 2-2 shadow 17-17");
}

TEST(WaitingReasons, OvertakenAtTheInstantOfItsStartCounts) {
  const auto start = [](int job) { return log::StartDecided{JobId{job}, {1, 1, {}}}; };
  const WaitReport report = why(Records("flat:2")
                                    .submit(0, 'A', 2, 5)
                                    .submit(1, 'B', 1, 5)
                                    .add(5, start('B'))
                                    .add(5, start('A'))
                                    .launch(5, 'B', 1)
                                    .launch(5, 'A', 1),
                                'A');
  EXPECT_EQ(text_of(report), "0-5 held-back ahead 0-0 free 2-2 shadow 0-1 overtaken by B at 5");
}

TEST(WaitingReasons, AJobThatNeverStartsIsFollowedToItsEnd) {
  const WaitReport cancelled = why(Records("flat:1")
                                       .submit(0, 1, 1, 5)
                                       .submit(1, 2, 1, 5)
                                       .finish(3, 2, ended(Outcome::kCancelled))
                                       .submit(4, 3, 1, 1),
                                   2);
  EXPECT_EQ(cancelled.launched, kNever);
  EXPECT_EQ(cancelled.finished, at(3s));
  EXPECT_EQ(cancelled.segments.back().to, at(3s));
  const WaitReport open = why(Records("flat:1").submit(0, 1, 1, 5).submit(2, 2, 1, 5), 1);
  EXPECT_EQ(open.finished, kNever);
  EXPECT_EQ(open.segments.back().to, at(2s)) << "the end of the log";
}

TEST(WaitingReasons, AnUnknownJobIsNotFoundAndTheNumbersThereAreAreKnown) {
  const WaitReport report = why(Records("flat:1").submit(0, 7, 1, 5).submit(2, 3, 1, 5), 4);
  EXPECT_FALSE(report.found);
  EXPECT_EQ(report.jobs_in_log, 2u);
  EXPECT_EQ(report.lowest, JobId{3});
  EXPECT_EQ(report.highest, JobId{7});
}

void expect_no_gap(const WaitReport& report, const JobRow& row, const std::string& which) {
  const Instant end = row.has_started() ? row.launched : row.finished;
  Instant next = row.submitted;
  for (const WaitSegment& segment : report.segments) {
    ASSERT_EQ(segment.from, next) << which;
    ASSERT_LT(segment.from, segment.to) << which;
    ASSERT_EQ(segment.is_head, segment.ahead_first == 0) << which;
    next = segment.to;
  }
  ASSERT_EQ(next, end) << which;
}

TEST(WaitingReasons, CoverTheWaitOfEveryJobWithoutGapOrOverlap) {
  for (const char* policy : {"fcfs", "easy", "conservative", "fcfs-malleable", "slack"})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto log = test::simulate(policy, test::cores(8), test::random_jobs(seed, 50, 8));
      JobTable table;
      test::feed(log, "flat:8", table);
      for (const JobRow& row : table.rows()) {
        const std::string which = fmt::format("{}, seed {}, job {}", policy, seed, static_cast<std::int64_t>(row.job));
        const WaitReport merged = why(log, "flat:8", row.job);
        const WaitReport each = why(log, "flat:8", row.job, {.merge = false});
        expect_no_gap(merged, row, which);
        expect_no_gap(each, row, which);
        for (std::size_t i = 1; i < merged.segments.size(); ++i)
          ASSERT_TRUE(merged.segments[i].cause != merged.segments[i - 1].cause ||
                      merged.segments[i].is_head != merged.segments[i - 1].is_head)
              << which;
        for (const WaitCause cause :
             {WaitCause::kEarlierJobs, WaitCause::kCores, WaitCause::kHeldBack, WaitCause::kLaunch})
          ASSERT_EQ(merged.total(cause), each.total(cause)) << which;
      }
    }
}

// Under FCFS no job is passed over, and the head starts as soon as there is room.
TEST(WaitingReasons, UnderFcfsNobodyIsOvertakenAndNoHeadIsHeldBack) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto log = test::simulate("fcfs", test::cores(8), test::random_jobs(seed, 60, 8));
    for (int job = 1; job <= 60; ++job)
      for (const WaitSegment& segment : why(log, "flat:8", JobId{job}).segments) {
        ASSERT_TRUE(segment.overtakers.empty()) << seed << " " << job;
        ASSERT_FALSE(segment.is_head && segment.cause == WaitCause::kHeldBack) << seed << " " << job;
      }
  }
}

// One machine of four cores, slices of 40 s after 10 s of exchange. Job 1 is medium and comes in the slice of long jobs.
Records turns_of_two_jobs() {
  const auto second = [](int time) { return Instant{std::chrono::seconds{time}}; };
  Records records("1x2x2");
  records.add(0, SliceBegun{JobClass::kLong, second(10), second(50)})
      .submit(20, 1, 4, 60)
      .add(20, ClassAssigned{JobId{1}, JobClass::kMedium})
      .add(20, ResponseExpected{JobId{1}, 45s})
      .add(50, SliceBegun{JobClass::kMedium, second(60), second(100)})
      .add(60, MatchRefused{JobId{1}, {JobId{2}, JobId{3}}, 0.5, JobId{2}, 90s, 80s})
      .add(60, log::StartDecided{JobId{1}, {4, 1, {}}})
      .launch(60, 1, 4)
      .add(70, GroupFormed{JobId{1}, {JobId{4}}, 2, 1.25})
      .add(100, SliceBegun{JobClass::kLong, second(110), second(150)})
      .add(100, log::SuspendDecided{JobId{1}})
      .add(100, log::SuspendDone{JobId{1}})
      .add(160, log::ResumeDecided{JobId{1}})
      .resumed(160, 1)
      .finish(180, 1)
      .add(180, GroupEnded{JobId{1}});
  return records;
}

TEST(WaitingReasons, TellTheTurnOfOtherClassesFromAQueue) {
  EXPECT_EQ(text_of(why(turns_of_two_jobs(), 1)), "20-60 off-turn ahead 0-0 free 4-4");
}

TEST(WaitingReasons, SayWhatGroupsAndSlicesMeantForTheJob) {
  const std::string text = to_text(why(turns_of_two_jobs(), 1), {.style = results::TimeStyle::kSeconds});
  for (const char* part : {"it belongs to the virtual machine of medium jobs; response expected at submission: 45 s\n",
                           "it shared nodes: 70 s .. 180 s, job 1 with 4 (case 2, utilisation gain 1.25)\n",
                           "matches refused: 60 s, job 1 with 2, 3 (gain 0.50), as job 2 would have taken 1 min 30 s, "
                           "its limit is 1 min 20 s\n",
                           "suspended 1 time, 1 min in all: 100 s .. 160 s (slice of long jobs)\n",
                           "while the machine belonged to another class      40 s       40  100.0\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "is not in\n" << text;
}

}  // namespace
}  // namespace replay::compare
