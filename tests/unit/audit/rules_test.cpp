// Tests of the rules on schedules written by hand, each with one violation.

#include <gtest/gtest.h>

#include "tests/unit/audit/schedules.hpp"

namespace replay::test {
namespace {

using audit::Job;

// On 4 processors: job 1 runs on 3 until 100, job 2 wants 4 and waits for it, job 3 is small.
std::vector<Job> head_waits(Job third) { return {scheduled(1, 3, 0, 0, 100), scheduled(2, 4, 10, 100, 200), third}; }

TEST(AuditFcfs, SaysNothingOfAScheduleInArrivalOrder) {
  EXPECT_EQ(audited("fcfs", 4, head_waits(scheduled(3, 1, 20, 200, 230))), "");
}

TEST(AuditFcfs, FindsAJobThatOvertakesTheHead) {
  EXPECT_EQ(audited("fcfs", 4, head_waits(scheduled(3, 1, 20, 20, 50))),
            "20 s: job 3 against-rule: it overtakes job 2, which came before it and waits for 4 processors, 1 free\n");
}

TEST(AuditFcfs, FindsAHeadThatWaitsThoughItFitsAndSaysItOnce) {
  EXPECT_EQ(
      audited("fcfs", 4, {scheduled(1, 2, 0, 0, 100), scheduled(2, 2, 10, 60, 90), scheduled(3, 1, 20, 100, 110)}),
      "10 s: job 2 not-started: it needs 2 processors, 2 free, and no job is before it in the queue\n"
      "90 s: job 3 not-started: it needs 1 processor, 2 free, and no job is before it in the queue\n");
}

TEST(AuditEasy, LetsAJobPassThatEndsBeforeTheShadowTime) {
  EXPECT_EQ(audited("easy", 4, head_waits(scheduled(3, 1, 20, 20, 50, 80))), "");
}

TEST(AuditEasy, FindsAJobThatIsNotBackfilled) {
  EXPECT_EQ(audited("easy", 4, head_waits(scheduled(3, 1, 20, 200, 230))),
            "20 s: job 3 not-started: it needs 1 processor, 1 free, and it ends before the shadow time of head job 2 "
            "(shadow time 100 s)\n");
}

TEST(AuditEasy, FindsAJobThatWouldDelayTheHeadByItsEstimateThoughItDidNot) {
  EXPECT_EQ(audited("easy", 4, head_waits(scheduled(3, 1, 20, 20, 50, 81))),
            "20 s: job 3 against-rule: it would delay head job 2 (4 processors, shadow time 100 s, extra nodes 0): it "
            "needs 1 processor until 101 s\n");
}

TEST(AuditEasy, LetsAJobPassOnTheExtraNodesAndNoSecondOne) {
  EXPECT_EQ(audited("easy", 4,
                    {scheduled(1, 2, 0, 0, 100), scheduled(2, 3, 10, 100, 200), scheduled(3, 1, 20, 20, 500),
                     scheduled(4, 1, 30, 30, 600)}),
            "30 s: job 4 against-rule: it would delay head job 2 (3 processors, shadow time 100 s, extra nodes 0): it "
            "needs 1 processor until 600 s\n"
            "100 s: job 2 too-many-processors: it has 3 processors beside 2 in use, the machine has 4\n");
}

TEST(AuditEasy, AJobThatUsesItsWholeEstimateIsGoneForASubmissionOfThatInstant) {
  const std::vector<Job> jobs = {scheduled(1, 4, 0, 0, 100), scheduled(2, 4, 100, 100, 110)};
  EXPECT_EQ(audited("easy", 4, jobs), "");
  EXPECT_EQ(audited("easy:pass=instant", 4, jobs), "");
}

// At 100 job 3 comes and job 1 ends before its estimate. By event, job 3 is asked while job 1 still runs.
TEST(AuditEasy, TellsAPassForEachEventFromOneForAnInstant) {
  const Job first = scheduled(1, 3, 0, 0, 100, 150);
  const std::vector<Job> by_event = {first, scheduled(2, 4, 10, 140, 200), scheduled(3, 1, 100, 100, 140)};
  const std::vector<Job> by_instant = {first, scheduled(2, 4, 10, 100, 160), scheduled(3, 1, 100, 160, 200)};
  EXPECT_EQ(audited("easy", 4, by_event), "");
  EXPECT_EQ(audited("easy:pass=instant", 4, by_instant), "");
  EXPECT_EQ(audited("easy", 4, by_instant),
            "100 s: job 2 against-rule: it needs 4 processors, and the rule leaves 3 free\n"
            "100 s: job 3 not-started: it needs 1 processor, 1 free, and it ends before the shadow time of head job 2 "
            "(shadow time 150 s)\n");
  EXPECT_EQ(audited("easy:pass=instant", 4, by_event),
            "100 s: job 3 against-rule: it needs 1 processor, and the rule leaves 0 free\n"
            "100 s: job 2 not-started: it needs 4 processors, 4 free, and no job is before it in the queue\n");
}

// Both end at 100; job 1 started first, but is killed, so it ends after job 2: job 3, the head, starts before job 4 is
// asked.
TEST(AuditEasy, AKillComesAfterTheOtherEndsOfItsInstant) {
  Job killed = scheduled(1, 1, 0, 0, 100);
  const Job second = scheduled(2, 3, 1, 1, 100, 150);
  const std::vector<Job> rest = {scheduled(3, 4, 10, 100, 200), scheduled(4, 1, 20, 200, 210)};
  EXPECT_EQ(audited("easy", 4, {killed, second, rest[0], rest[1]}),
            "100 s: job 3 against-rule: it needs 4 processors, and the rule leaves 3 free\n"
            "100 s: job 4 not-started: it needs 1 processor, 1 free, and it ends before the shadow time of head job 3 "
            "(shadow time 151 s)\n");
  killed.killed = true;
  EXPECT_EQ(audited("easy", 4, {killed, second, rest[0], rest[1]}), "");
}

TEST(AuditConservative, FindsAJobThatDelaysOneBehindTheHead) {
  // Job 2 is planned for 100, job 3 for 200; job 4 would end at 250 on a processor that job 3 has from 200 on.
  const std::vector<Job> jobs = {scheduled(1, 3, 0, 0, 100), scheduled(2, 3, 10, 100, 200),
                                 scheduled(3, 4, 20, 250, 300), scheduled(4, 1, 30, 30, 250)};
  EXPECT_EQ(audited("easy", 4, jobs), "");
  EXPECT_EQ(audited("conservative", 4, jobs),
            "30 s: job 4 against-rule: its planned start is 250 s: now it would delay job 3 (4 processors from 200 s "
            "on): it needs 1 processor until 250 s\n");
}

TEST(AuditConservative, FindsAStartLaterThanTheGuarantee) {
  EXPECT_EQ(audited("conservative", 4, {scheduled(1, 4, 0, 0, 100), scheduled(2, 4, 10, 130, 200)}),
            "100 s: job 2 later-than-guarantee: its planned start has come; promised for 100 s\n");
}

TEST(AuditConservative, FindsAJobThatIsNotMovedUpAndStillKeepsItsGuarantee) {
  EXPECT_EQ(audited("conservative", 4, {scheduled(1, 4, 0, 0, 60, 100), scheduled(2, 4, 10, 100, 200)}),
            "60 s: job 2 not-started: its planned start has come; promised for 100 s\n");
}

// Job 2 was started at 40 s by another scheduler, which this one follows at 100 s. Job 1 is before it, and waits for all of the
// machine until 140 s.
TEST(Audit, AJobThatAnotherOneHasStartedIsThereAndEndsByItsEstimateFromThen) {
  audit::Job adopted = scheduled(2, 3, 100, 100, 140, 100);
  adopted.since = at(40s);
  const audit::Job head = scheduled(1, 4, 100, 140, 200);
  for (const char* name : {"fcfs", "easy", "conservative"}) EXPECT_EQ(audited(name, 4, {adopted, head}), "") << name;
  for (const char* name : {"easy", "conservative"})
    EXPECT_EQ(audited(name, 4, {adopted, head, scheduled(3, 1, 110, 110, 140)}), "") << name;
  EXPECT_EQ(audited("easy", 4, {adopted, head, scheduled(3, 1, 110, 110, 130, 35)}),
            "110 s: job 3 against-rule: it would delay head job 1 (4 processors, shadow time 140 s, extra nodes 0): it "
            "needs 1 processor until 145 s\n");
}

TEST(Audit, FindsAStartBeforeTheSubmission) {
  for (const char* name : {"fcfs", "easy", "conservative"})
    EXPECT_EQ(audited(name, 4, {scheduled(1, 1, 0, 0, 10), scheduled(2, 1, 30, 20, 40)}),
              "20 s: job 2 before-submission: it is submitted at 30 s\n")
        << name;
}

TEST(Audit, FindsMoreProcessorsThanTheMachineHas) {
  for (const char* name : {"fcfs", "easy", "conservative"}) {
    EXPECT_EQ(audited(name, 4, {scheduled(1, 3, 0, 0, 100), scheduled(2, 2, 10, 10, 50)}),
              "10 s: job 2 too-many-processors: it has 2 processors beside 3 in use, the machine has 4\n")
        << name;
    EXPECT_EQ(audited(name, 4, {scheduled(1, 5, 0, 0, 100), scheduled(2, 2, 10, 10, 50)}),
              "0 s: job 1 too-many-processors: it has 5 processors, the machine has 4\n")
        << name;
  }
}

// Job 3 needs no time: it ended before job 4 started.
TEST(Audit, AJobWithoutRunTimeIsNotBesideThoseThatStartAtItsInstant) {
  const std::vector<Job> jobs = {scheduled(1, 4, 0, 0, 50), scheduled(2, 2, 10, 50, 100),
                                 scheduled(3, 4, 20, 50, 50, 10), scheduled(4, 2, 30, 50, 100)};
  EXPECT_EQ(audited("fcfs", 4, jobs),
            "50 s: job 3 against-rule: it needs 4 processors, and the rule leaves 2 free\n"
            "50 s: job 4 against-rule: it overtakes job 3, which came before it and waits for 4 processors, 2 free\n");
}

TEST(Audit, AStartWithinTheToleranceIsRightAndOneBeyondItIsNot) {
  for (const char* name : {"fcfs", "easy", "conservative"}) {
    const audit::Schedule schedule{{scheduled(1, 4, 0, 0, 100), scheduled(2, 4, 10, 102, 200)}};
    audit::Options options = rule(name, 4);
    options.tolerance = 2s;
    EXPECT_EQ(audit::audit(schedule, options).total(), 0u) << name;
    options.tolerance = 1999ms;
    EXPECT_EQ(audit::audit(schedule, options).total(), 1u) << name;
  }
}

TEST(Audit, AJobWithoutRunTimeMayStartLateWithinTheTolerance) {
  for (const char* name : {"fcfs", "easy", "conservative"}) {
    const audit::Schedule schedule{{scheduled(1, 4, 0, 1, 1, 10), scheduled(2, 4, 20, 20, 30)}};
    audit::Options options = rule(name, 4);
    options.tolerance = 2s;
    const audit::Report report = audit::audit(schedule, options);
    EXPECT_EQ(lines(report, schedule), "") << name;
    EXPECT_EQ(report.jobs, 2u);
  }
}

TEST(Audit, AJobBeyondItsEstimateHoldsItsProcessors) {
  for (const char* name : {"fcfs", "easy", "conservative"}) {
    const audit::Schedule schedule{
        {scheduled(1, 4, 0, 0, 100, 50), scheduled(2, 4, 10, 100, 200), scheduled(3, 4, 60, 200, 210)}};
    const audit::Report report = audit::audit(schedule, rule(name, 4));
    EXPECT_EQ(lines(report, schedule), "") << name;
    EXPECT_EQ(report.overran, 1u);
  }
}

TEST(Audit, AJobThatLeftTheQueueStoodInItUntilThen) {
  Job left = scheduled(2, 4, 10, 0, 0, 50);
  left.started = left.ended = kNever;
  left.left = at(40s);
  const Job third = scheduled(3, 1, 20, 40, 50, 200);
  for (const char* name : {"fcfs", "easy", "conservative"})
    EXPECT_EQ(audited(name, 4, {scheduled(1, 3, 0, 0, 100), left, third}), "") << name;
  left.left = at(60s);
  EXPECT_EQ(audited("fcfs", 4, {scheduled(1, 3, 0, 0, 100), left, third}),
            "40 s: job 3 against-rule: it overtakes job 2, which came before it and waits for 4 processors, 1 free\n");
}

TEST(Audit, AJobLeavesTheQueueBeforeOthersAreSubmitted) {
  Job left = scheduled(2, 3, 1, 0, 0, 100);
  left.started = left.ended = kNever;
  left.left = at(50s);
  // In the plan that job 2 leaves, job 3 moves to 100 s, and job 4 finds no hole before its end.
  const std::vector<Job> jobs = {scheduled(1, 3, 0, 0, 100), left, scheduled(3, 4, 2, 100, 200),
                                 scheduled(4, 1, 50, 200, 350)};
  for (const char* name : {"conservative", "conservative:pass=instant"}) EXPECT_EQ(audited(name, 4, jobs), "") << name;
}

TEST(Audit, AJobThatLeavesTheQueueAsItComesNeverStoodInIt) {
  Job left = scheduled(2, 4, 10, 0, 0, 50);
  left.started = left.ended = kNever;
  left.left = at(10s);
  for (const char* name : {"fcfs", "easy", "conservative"})
    EXPECT_EQ(audited(name, 4, {scheduled(1, 3, 0, 0, 100), left, scheduled(3, 1, 10, 10, 200)}), "") << name;
}

TEST(Audit, AJobWithoutAnEndHoldsItsProcessorsToTheLast) {
  Job running = scheduled(1, 4, 0, 0, 0, 100);
  running.ended = kNever;
  Job waiting = scheduled(2, 4, 10, 0, 0, 50);
  waiting.started = waiting.ended = kNever;
  for (const char* name : {"fcfs", "easy", "conservative"}) EXPECT_EQ(audited(name, 4, {running, waiting}), "") << name;
}

// Job 1 was killed at the end of the schedule, so it proves nothing that job 2 did not start then. Job 3 starts while
// job 2 waits.
TEST(Audit, AJobThatWaitedToTheEndStoodInTheQueueAllTheTime) {
  Job waiting = scheduled(2, 4, 10, 0, 0, 50);
  waiting.started = waiting.ended = kNever;
  const Job first = scheduled(1, 3, 0, 0, 100, 200);
  for (const char* name : {"fcfs", "easy", "conservative"}) EXPECT_EQ(audited(name, 4, {first, waiting}), "") << name;
  EXPECT_EQ(audited("fcfs", 4, {first, waiting, scheduled(3, 1, 20, 20, 50)}),
            "20 s: job 3 against-rule: it overtakes job 2, which came before it and waits for 4 processors, 1 free\n");
  EXPECT_EQ(audited("fcfs", 4, {first, waiting, scheduled(3, 4, 120, 130, 150)}),
            "100 s: job 2 not-started: it needs 4 processors, 4 free, and no job is before it in the queue\n"
            "130 s: job 3 against-rule: it needs 4 processors, and the rule leaves 0 free\n");
}

TEST(Audit, KeepsAsManyFindingsAsAskedForAndCountsAll) {
  std::vector<Job> jobs;
  for (int i = 0; i < 10; ++i) jobs.push_back(scheduled(i, 1, 100 * i, 100 * i + 10, 100 * i + 50));
  audit::Options options = rule("easy", 4);
  options.most_findings = 3;
  const audit::Report report = audit::audit({jobs}, options);
  EXPECT_EQ(report.first.size(), 3u);
  EXPECT_EQ(report.total(), 10u);
  EXPECT_EQ(report.count(audit::FindingKind::kNotStarted), 10u);
  EXPECT_EQ(report.jobs, 10u);
  EXPECT_EQ(report.jobs_with_findings, 10u);
}

}  // namespace
}  // namespace replay::test
