// Scojo-PECT: schedules by hand. A row of the drawings is a core, a column ten minutes or what the test says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/policy/registry.hpp"
#include "tests/support/deciding_policies.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

// "60-960 0|1": start, end and nodes of a job, in seconds.
std::string course(const MemoryLog& log, char job, const Machine& machine) {
  std::string nodes;
  for (const log::Record& record : log.records())
    if (const auto* launched = std::get_if<log::Launched>(&record.what);
        launched != nullptr && launched->job == id(job))
      for_each_node(launched->allocation, machine, [&nodes](const NodeShare& share) {
        nodes += fmt::format("{}{}", nodes.empty() ? "" : "|", static_cast<int>(share.node));
      });
  return fmt::format("{}-{} {}", to_text(log.start(id(job))), to_text(log.end(id(job))), nodes);
}

// "0 medium 60-1080, ...": when slices were begun, for which class, and for what time.
std::string slices(const MemoryLog& log) {
  std::string text;
  for (const log::Record& record : log.records())
    if (const auto* slice = content<SliceBegun>(record))
      text += fmt::format("{}{} {} {}-{}", text.empty() ? "" : ", ", to_text(record.at), to_text(slice->job_class),
                          to_text(slice->begins), to_text(slice->ends));
  return text;
}

// When a job was suspended and resumed: "1080 3660".
std::string interruptions(const MemoryLog& log, char job) {
  std::string text;
  for (const log::Record& record : log.records()) {
    const auto* suspended = std::get_if<log::SuspendDone>(&record.what);
    const auto* resumed = std::get_if<log::ResumeDone>(&record.what);
    if ((suspended != nullptr && suspended->job == id(job)) || (resumed != nullptr && resumed->job == id(job)))
      text += fmt::format("{}{}", text.empty() ? "" : " ", to_text(record.at));
  }
  return text;
}

std::vector<TracedJob> jobs(std::initializer_list<JobBuilder> builders) { return {builders.begin(), builders.end()}; }

// ---- worked by hand, with the paper's parameters: slices of 1080 s and 2520 s, 60 s of overhead in each ----

TEST(ScojoPect, SuspendsAJobAndResumesItOnItsOwnNode) {
  const Machine machine = Machine::cluster(3, 2, 2);
  const auto log = simulate("scojo-pect", machine,
                            jobs({job('A').cores(8).runs(900s), job('B').cores(4).runs(1500s),
                                  job('C').cores(12).runs(12000s), job('D').cores(4).runs(700s).arrives(2000s)}));
  EXPECT_EQ(course(log, 'A', machine), "60-960 0|1");
  EXPECT_EQ(course(log, 'B', machine), "60-4140 2") << "although 0 and 1 are free when it comes back";
  EXPECT_EQ(interruptions(log, 'B'), "1080 3660");
  EXPECT_EQ(course(log, 'D', machine), "3660-4360 0");
  EXPECT_EQ(course(log, 'C', machine), "1140-14080 0|1|2");
  EXPECT_EQ(interruptions(log, 'C'), "3600 4360 4680 4740 7200 7260 10800 10860") << "a guest from 4360 to 4680";
  EXPECT_EQ(slices(log),
            "0 medium 60-1080, 1080 long 1140-3600, 3600 medium 3660-4680, 4680 long 4740-7200, 7200 long 7260-10800, "
            "10800 long 10860-14400");
}

TEST(ScojoPect, TakesAGuestThatDelaysNobody) {
  const Machine machine = Machine::cluster(2, 2, 2);
  const auto log =
      simulate("scojo-pect", machine, jobs({job('A').cores(4).runs(2000s), job('B').cores(4).runs(12000s)}));
  EXPECT_EQ(course(log, 'A', machine), "60-2120 0");
  EXPECT_EQ(interruptions(log, 'A'), "1080 1140") << "a guest of long jobs";
  EXPECT_EQ(course(log, 'B', machine), "60-12300 1") << "a guest of medium jobs, which had not run before";
}

TEST(ScojoPect, RefusesAGuestOfWhichTheOwnClassNeedsTheNodesInTheSlice) {
  const Machine machine = Machine::cluster(2, 2, 2);
  const auto log =
      simulate("scojo-pect", machine,
               jobs({job('A').cores(4).runs(700s), job('B').cores(8).runs(900s), job('C').cores(4).runs(12000s)}));
  EXPECT_EQ(course(log, 'A', machine), "60-760 0");
  EXPECT_EQ(course(log, 'B', machine), "760-4240 0|1");
  EXPECT_EQ(course(log, 'C', machine), "1140-13960 0");
}

// ---- small grids: intervals of a minute, no overhead where it does not matter; jobs up to 10 s are short, up to 100 s
// medium ----

std::string small(const std::string& overhead) {
  return "scojo-pect:interval=60s:short-slice=12s:short=10s:medium=100s:shares=1/2:" + overhead;
}
const std::string kSmall = small("overhead=0");

TEST(ScojoPect, GivesEachClassItsSlice) {
  // 12 s for short jobs, then 16 s and 32 s; the short job leaves 4 s to a guest.
  const auto log = simulate(
      kSmall, cores(2), jobs({job('L').cores(2).runs(200s), job('M').cores(2).runs(60s), job('S').cores(2).runs(8s)}));
  EXPECT_EQ(gantt(log, 2, 4s).substr(0, 30), "SSLMMMMLLLLLLLLMMMMMLLLLLLLLLL");
}

TEST(ScojoPect, GivesTheSliceOfAnEmptyClassAway) {
  EXPECT_EQ(gantt(simulate(kSmall, cores(1), jobs({job('L').cores(1).runs(120s)})), 1, 10s), "LLLLLLLLLLLL\n");
  EXPECT_EQ(gantt(simulate(kSmall, cores(1), jobs({job('S').cores(1).runs(8s), job('T').cores(1).runs(10s)})), 1, 2s),
            "SSSSTTTTT\n");
}

TEST(ScojoPect, MakesAShortJobThatComesDuringTheIntervalAGuestOrLetsItWait) {
  // The whole interval is the long job's, as it was alone at the begin.
  const auto log = simulate(kSmall, cores(2),
                            jobs({job('L').cores(1).runs(300s), job('S').cores(1).runs(5s).arrives(25s),
                                  job('T').cores(2).runs(5s).arrives(30s)}));
  EXPECT_EQ(log.start(id('S')), at(25s)) << "beside the long job";
  EXPECT_EQ(log.start(id('T')), at(60s)) << "in the first slice for short jobs";
}

TEST(ScojoPect, LetsArrivalsDuringTheOverheadWaitForItsEnd) {
  const auto log = simulate(small("overhead=5s"), cores(4),
                            jobs({job('L').cores(2).runs(120s), job('M').cores(1).runs(50s).arrives(62s)}));
  EXPECT_EQ(log.start(id('L')), at(5s));
  EXPECT_EQ(log.start(id('M')), at(65s)) << "as a guest or in its slice";
  EXPECT_EQ(interruptions(log, 'L').substr(0, 5), "60 65");
}

TEST(ScojoPect, ExchangesNothingWhereTheClassStaysIfThatIsWanted) {
  const auto every = simulate(small("overhead=5s"), cores(1), jobs({job('L').cores(1).runs(200s)}));
  EXPECT_EQ(interruptions(every, 'L'), "60 65 120 125 180 185");
  const auto only = simulate(small("overhead=5s:overhead-at=switch"), cores(1), jobs({job('L').cores(1).runs(200s)}));
  EXPECT_EQ(interruptions(only, 'L'), "");
  EXPECT_EQ(only.end(id('L')), at(205s));
}

TEST(ScojoPect, InvitesSuspendedJobsBeforeWaitingOnes) {
  // T came before M, but M ran in the slice of medium jobs, 0 to 20, and two cores are free in that of long ones.
  const auto log = simulate(kSmall, cores(3),
                            jobs({job('X').cores(2).runs(11s), job('L').cores(1).runs(200s),
                                  job('T').cores(2).runs(8s).arrives(1s), job('M').cores(2).runs(90s).arrives(2s)}));
  EXPECT_EQ(log.start(id('M')), at(11s));
  EXPECT_EQ(interruptions(log, 'M'), "60 68") << "it goes on as a guest from 20 to 60, and beside L from 68";
  EXPECT_EQ(log.start(id('T')), at(60s));
}

TEST(ScojoPect, InvitesWaitingJobsOfBothOtherClassesByArrival) {
  const auto log = simulate(kSmall, cores(2),
                            jobs({job('M').cores(1).runs(90s), job('X').cores(1).runs(15s),
                                  job('L').cores(1).runs(200s).arrives(3s), job('T').cores(1).runs(8s).arrives(5s)}));
  EXPECT_EQ(log.start(id('L')), at(15s))
      << "the whole interval is the medium jobs', as there were no others at its begin";
  EXPECT_EQ(log.start(id('T')), at(60s));
}

TEST(ScojoPect, LetsAnEmptyMachineSleepAndGoesOnInTheGrid) {
  const auto log = simulate(kSmall, cores(1),
                            jobs({job('M').cores(1).runs(15s), job('L').cores(1).runs(200s).arrives(610s),
                                  job('N').cores(1).runs(10s + 1us).arrives(1000s)}));
  EXPECT_EQ(slices(log).substr(0, 60), "0 medium 0-60, 610 medium 610-620, 620 long 620-660, 660 lon");
  EXPECT_EQ(log.start(id('L')), at(610s)) << "a guest in the medium jobs' slice";
  EXPECT_EQ(log.start(id('N')), at(1000s)) << "an empty machine keeps the slices of medium and long jobs";
}

TEST(ScojoPect, KillsAtTheEstimateInTheTimeThatAJobHasRun) {
  const auto log =
      simulate(kSmall, cores(1),
               jobs({job('L').cores(1).runs(200s).estimated(110s), job('M').cores(1).runs(80s).estimated(50s)}));
  EXPECT_EQ(log.outcome(id('M')), Outcome::kOverrun);
  EXPECT_EQ(log.outcome(id('L')), Outcome::kOverrun);
  EXPECT_EQ(log.end(id('M')), at(130s)) << "20 s in each of the first two intervals";
  EXPECT_EQ(log.end(id('L')), at(160s)) << "40, 40, and 30 of the 60 that it has alone";
}

TEST(ScojoPect, LetsUsersCancelWaitingRunningAndSuspendedJobs) {
  const auto log = simulate(
      kSmall, cores(1),
      jobs({job('L').cores(1).runs(200s).cancelled_after(70s), job('M').cores(1).runs(80s).cancelled_after(30s),
            job('N').cores(1).runs(90s), job('O').cores(1).runs(90s).cancelled_after(50s)}));
  EXPECT_EQ(log.outcome(id('L')), Outcome::kCancelled) << "suspended then";
  EXPECT_EQ(log.end(id('L')), at(70s));
  EXPECT_EQ(log.outcome(id('M')), Outcome::kCancelled) << "suspended, too";
  EXPECT_EQ(log.outcome(id('O')), Outcome::kCancelled) << "waiting";
  EXPECT_EQ(log.outcome(id('N')), Outcome::kCompleted);
  EXPECT_EQ(log.start(id('N')), at(60s)) << "the place of M is free in its next slice";
  EXPECT_EQ(log.end(id('N')), at(150s)) << "alone from 70 s on: a guest until 120 s, then all is its own";
}

// Outside its slice the inner policy sees no free core; it makes the pass that it has put off when its slice opens.
TEST(ScojoPect, StartsAJobOnAnIdleMachineAfterTheOverheadOfItsSliceWhateverSharesTheSpace) {
  for (const PolicyEntry& inner : deciding_policies()) {
    if (inner.name == "scojo-pect") continue;
    const Machine machine = inner.needs_nodes ? Machine::cluster(1, 2, 2) : cores(4);
    for (const Duration runs : {Duration{10s}, Duration{1000s}, Duration{20000s}}) {
      const auto log =
          simulate(fmt::format("scojo-pect:inner={}", inner.name), machine, jobs({job('A').cores(1).runs(runs)}));
      EXPECT_EQ(log.start(id('A')), at(60s)) << inner.name << " " << to_text(runs);
      EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted) << inner.name << " " << to_text(runs);
    }
  }
}

TEST(ScojoPect, HasTheOverheadOfAnotherClassAfterSlicesThatNoJobSaw) {
  const auto log = simulate("scojo-pect:overhead-at=switch", cores(1),
                            jobs({job('A').runs(1000s).arrives(7s), job('B').runs(3000s).arrives(7200s)}));
  EXPECT_EQ(log.start(id('A')), at(60s));
  EXPECT_EQ(log.start(id('B')), at(7260s)) << "long jobs had the machine until 7200";
}

TEST(ScojoPect, MovesAGroupThatLiesApartAsAUnit) {
  const Machine machine = Machine::cluster(5, 2, 2);
  auto traced = jobs({job('A').cores(8).runs(3000s), job('B').cores(8).runs(3000s), job('C').cores(2).runs(3000s),
                      job('D').cores(2).runs(20000s)});
  for (TracedJob& one : traced) {
    Declaration declaration;
    declaration.same_cpu_slowdown = 1.4;
    declaration.same_node_slowdown = 1;
    one.job.declaration = std::make_shared<const Declaration>(declaration);
  }
  const auto log = simulate("scojo-pect:inner={g-lomarc-ts:matched-larger=0.5}", machine, traced, "pairs");
  for (const char name : {'A', 'B', 'C'}) {
    EXPECT_EQ(log.start(id(name)), at(60s)) << name;
    EXPECT_EQ(log.end(id(name)), at(8220s)) << name << ": node 4 is free for C from 1140 on, those of A and B are not";
  }
}

TEST(ScojoPect, SaysWhichClassAJobBelongsTo) {
  const auto log =
      simulate("scojo-pect", cores(1),
               jobs({job('S').runs(600s), job('M').runs(600s + 1us), job('N').runs(3h), job('L').runs(3h + 1us)}));
  std::string classes;
  for (const log::Record& record : log.records())
    if (const auto* assigned = content<ClassAssigned>(record))
      classes += fmt::format("{} {} ", static_cast<char>(assigned->job), to_text(assigned->job_class));
  EXPECT_EQ(classes, "L long M medium N medium S short ");  // by number
}

TEST(ScojoPect, NamesItsInnerPolicyInFullAndRefusesWhatItCannotUse) {
  EXPECT_EQ(make_policy("scojo-pect:inner={plan:order=sjf}:overhead=5s").full_text,
            "scojo-pect:inner={plan:order=sjf:pass=instant}:interval=1h:shares=30/70:short-slice=10min:overhead=5s:"
            "overhead-at=slice:short=10min:medium=3h");
  EXPECT_EQ(make_policy(make_policy("scojo-pect:shares={8-18=1/1,3/7}").full_text).full_text,
            make_policy("scojo-pect:shares={8-18=1/1,3/7}").full_text);
  EXPECT_THROW((void)make_policy("scojo-pect:inner=nothing"), UsageError);
  EXPECT_THROW((void)make_policy("scojo-pect:inner={plan:order=x}"), UsageError);
  EXPECT_THROW((void)make_policy("scojo-pect:overhead=20min"), UsageError);
}

TEST(ScojoPect, RefusesAnInnerPolicyThatSuspendsByNameBeforeTheFirstJob) {
  std::string refusal;
  try {
    (void)make_policy("scojo-pect:inner={scojo-pect:interval=2h}");
  } catch (const UsageError& refused) {
    refusal = refused.what();
  }
  EXPECT_TRUE(refusal.starts_with("scojo-pect: the inner policy 'scojo-pect' suspends jobs")) << refusal;
}

}  // namespace
}  // namespace replay::test
