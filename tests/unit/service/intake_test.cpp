// Jobs of users through the real engine, journal and door: what a user is told, and what stays in the journal when a period of
// the service ends in one way or another. Those that the site cannot start: intake_site_test.cpp.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/sharing_policies.hpp"
#include "tests/unit/service/intake_fixture.hpp"

namespace replay::service {
namespace {

TEST_F(IntakeTest, AJobIsSubmittedRunsAndItsEndIsTold) {
  const Period period = serve({{1, 0.05}}, {send(submit_line(2) + of_job("wait", 1)), answers(2)});
  EXPECT_EQ(client_->take().find("{\"ok\":true,\"submitted\":1}\n"), 0U) << client_->take();
  EXPECT_TRUE(has(client_->last_line(), R"("state":"ended")")) << client_->last_line();
  EXPECT_TRUE(has(client_->last_line(), R"("outcome":"completed")"));
  EXPECT_EQ(stored(1).outcome, Outcome::kCompleted);
  EXPECT_EQ(period.log.outcome(JobId{1}), Outcome::kCompleted);
  EXPECT_TRUE(period.result.fault.empty()) << "an idle service has not failed: " << period.result.fault;
  EXPECT_TRUE(std::filesystem::is_directory(folder().job(JobId{1})));
}

TEST_F(IntakeTest, WhatAClientHasAskedThatHasHungUpIsNotCarriedOut) {
  const Step gives_up = [this] {
    const ServiceClient impatient{folder().socket()};
    impatient.send(submit_line(1));
    return true;
  };
  const Step cancels_and_gives_up = [this] {
    const ServiceClient impatient{folder().socket()};
    impatient.send(of_job("cancel", 1));
    return true;
  };
  const Step only_says_no_more = [this] {
    client_ = std::make_unique<ServiceClient>(folder().socket());
    client_->send(submit_line(1) + of_job("wait", 1));
    client_->say_no_more();
    return true;
  };
  const Step is_running = [this] {
    return Journal{folder().journal(), kStart}.find(JobId{1}).value().started.has_value();
  };
  const Step has_submitted = answers(1);
  (void)serve({{1, 0.3}, {2, 0.01}},
              {gives_up, only_says_no_more, has_submitted, is_running, cancels_and_gives_up, answers(2)});
  EXPECT_TRUE(has(client_->take(), R"("submitted":1)")) << "the first one's job was submitted: " << client_->take();
  EXPECT_EQ(stored(1).outcome, Outcome::kCompleted) << "it was cancelled";
  EXPECT_TRUE(waiting().empty());
}

TEST_F(IntakeTest, AtAStopRunningJobsAreEndedWaitingOnesStayAndComeBackInTheirOrder) {
  const Period first =
      serve({{1, 100}}, {send(submit_line(2) + submit_line(1) + submit_line(2) + of_job("job", 1)), answers(4)});
  EXPECT_TRUE(has(client_->last_line(), R"("state":"running","processes":2,"cores":2)")) << client_->last_line();
  client_.reset();
  EXPECT_EQ(stored(1).outcome, Outcome::kKilled);
  EXPECT_EQ(stored(1).reason, "the service was stopped while it ran");
  EXPECT_EQ(first.log.outcome(JobId{2}), Outcome::kCancelled) << "the event log has one end for each job";
  EXPECT_EQ(waiting(), (std::vector<std::int64_t>{2, 3}));

  const Period second = serve({{2, 0.1}, {3, 0.05}}, {send(of_job("wait", 3)), answers(1)});
  EXPECT_LT(second.log.start(JobId{2}), second.log.start(JobId{3}));
  EXPECT_EQ(stored(2).outcome, Outcome::kCompleted);
  EXPECT_EQ(stored(3).outcome, Outcome::kCompleted);
  EXPECT_TRUE(waiting().empty());
}

TEST_F(IntakeTest, AJobToBeQueuedAgainWaitsAfterAStopOrTheLossOfTheExecutorAndKeepsItsSubmission) {
  const std::string again = R"(,"requeue":true)";
  (void)serve({{1, 100}}, {send(submit_line(2, again) + of_job("job", 1)), answers(2)});
  client_.reset();
  EXPECT_EQ(waiting(), (std::vector<std::int64_t>{1}));
  const Instant submitted = stored(1).job.submitted;
  const Period second = serve({{1, 100}}, {[this] { return !executor_->placements.empty(); },
                                           [this] { return executor_->lose("the agent died"), true; }});
  EXPECT_EQ(second.result.lost, "the agent died");
  EXPECT_EQ(waiting(), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(stored(1).job.submitted, submitted);
}

TEST_F(IntakeTest, AJobThatIsLostWithANodeHasThatEndOrWaitsAgainAndTheJournalHasIt) {
  nodes_ = 2;
  const auto becomes = [this](NodeState state) {
    return Step{[this, state] {
      executor_->change(Machine::cluster(2, 1, 1), {NodeId{1}, state, kNever, "gone", ""});
      return true;
    }};
  };
  const auto has_been_launched = [this](int job, std::size_t times) {
    return Step{[this, job, times] { return executor_->placements[JobId{job}].size() == times; }};
  };
  const Step has_no_start = [this] {
    return !Journal{folder().journal(), kStart}.find(JobId{2}).value().started.has_value();
  };
  // Job 1 is on node 0; 2 and then 3 are lost with node 1.
  (void)serve({{1, 100}, {2, 100}, {3, 100}},
              {send(submit_line(1) + submit_line(1, R"(,"requeue":true)") + submit_line(1)), answers(3),
               has_been_launched(2, 1), becomes(NodeState::kDown), shows(2, R"("state":"waiting")"), has_no_start,
               becomes(NodeState::kUp), has_been_launched(2, 2), send(of_job("cancel", 2)), has_been_launched(3, 1),
               becomes(NodeState::kDown), shows(3, R"("state":"ended")")});
  EXPECT_EQ(stored(2).outcome, Outcome::kCancelled);
  EXPECT_EQ(stored(3).outcome, Outcome::kLost);
  EXPECT_EQ(stored(3).reason, "gone");
}

TEST_F(IntakeTest, AJobThatIsHeldBackSaysWhatItNeedsAndWhatIsLeft) {
  nodes_ = 2;
  const auto becomes = [this](NodeState state) {
    return Step{[this, state] {
      executor_->change(Machine::cluster(2, 1, 1), {NodeId{1}, state, kNever, "gone", ""});
      return true;
    }};
  };
  const Step gives_no_reason = [this] {
    client_->send(of_job("job", 2));
    return has(client_->last_line(), R"("state":"waiting")") && !has(client_->last_line(), "reason");
  };
  (void)serve({{1, 100}, {2, 100}},
              {send(submit_line(1) + submit_line(2)), answers(2), gives_no_reason, becomes(NodeState::kDown),
               shows(2, R"("reason":"held back, as nodes are closed: needs 2 cores, 1 is left")"),
               becomes(NodeState::kUp), gives_no_reason});
}

// It has its cores there, and nothing of it runs.
TEST_F(IntakeTest, AJobThatTheSiteCouldNotStartWaitsAgainWhenItsNodeGoesDown) {
  nodes_ = 2;
  const Step is_refused_and_loses_its_node = [this] {
    executor_->refuse(JobId{1}, "no process can be made");
    executor_->change(Machine::cluster(2, 1, 1), {NodeId{0}, NodeState::kDown, kNever, "gone", ""});
    return true;
  };
  const Period period = serve(
      {{1, 100}}, {send(submit_line(1)), answers(1), [this] { return executor_->placements[JobId{1}].size() == 1; },
                   is_refused_and_loses_its_node, [this] { return executor_->placements[JobId{1}].size() == 2; }});
  EXPECT_EQ(period.launched.at(JobId{1}).front(), std::vector<CoreId>{CoreId{0}});
  EXPECT_EQ(period.launched.at(JobId{1}).back(), std::vector<CoreId>{CoreId{1}});
  EXPECT_EQ(stored(1).outcome, Outcome::kKilled) << "with the service";
}

TEST_F(IntakeTest, ACancelledJobLeavesTheQueueOrIsEndedAndDoesNotComeBack) {
  const std::string again = R"(,"requeue":true)";
  (void)serve({{1, 100}}, {send(submit_line(2, again) + submit_line(2, again) + of_job("cancel", 2) +
                                of_job("cancel", 1) + of_job("wait", 2) + of_job("wait", 1) + of_job("cancel", 1)),
                           answers(7)});
  EXPECT_EQ(stored(1).outcome, Outcome::kCancelled);
  EXPECT_EQ(stored(2).outcome, Outcome::kCancelled);
  EXPECT_FALSE(stored(2).started.has_value());
  EXPECT_EQ(client_->last_line(), R"({"ok":false,"error":"job 1 has ended already: cancelled"})");
  EXPECT_TRUE(waiting().empty());
}

TEST_F(IntakeTest, AJobWiderThanTheMachineIsRefusedAndOneFromALargerMachineIsKept) {
  (void)serve({{1, 100}}, {send(submit_line(4) + submit_line(5)), answers(2)}, 4);
  EXPECT_EQ(client_->last_line(),
            R"({"ok":false,"error":"processes: expected at most 4, the cores of the machine, found 5"})");
  client_.reset();
  (void)serve({{2, 100}, {1, 100}}, {send(submit_line(4, R"(,"requeue":true)")), answers(1)}, 4);
  client_.reset();
  const Period small = serve({}, {send(of_job("job", 2)), answers(1)}, 2);
  EXPECT_EQ(small.held_back, 1U);
  EXPECT_TRUE(has(client_->last_line(), R"("state":"waiting")")) << client_->last_line();
  EXPECT_EQ(waiting(), (std::vector<std::int64_t>{2}));
  client_.reset();
  (void)serve({}, {send(of_job("cancel", 2) + of_job("wait", 2)), answers(2)}, 2);
  EXPECT_EQ(stored(2).outcome, Outcome::kCancelled);
}

// One that has gone later keeps its job waiting.
TEST_F(IntakeTest, AJobWhoseFolderIsNotThereAsItIsSubmittedIsRefused) {
  std::string line = submit_line(1);
  line.replace(line.find("/tmp"), 4, "/tmp/none-of-ours/here");
  (void)serve({{1, 0.05}}, {send(line + submit_line(1)), answers(2)});
  EXPECT_TRUE(
      has(client_->take(), R"({"ok":false,"error":"directory: expected a folder, found '/tmp/none-of-ours/here'"})"))
      << client_->take();
}

TEST_F(IntakeTest, AServiceThatStopsTakesNoJobsAndTellsThoseThatWait) {
  adjust_ = [this] { executor_->orders_to_end = 2; };  // the job goes on after the first stop signal
  auto late = std::make_shared<std::unique_ptr<ServiceClient>>();
  auto waiter = std::make_shared<std::unique_ptr<ServiceClient>>();
  after_stop_ = [this, late] {
    if (!*late) {
      *late = std::make_unique<ServiceClient>(folder().socket());
      (*late)->send(submit_line(1) + of_job("cancel", 1));
    }
    if ((*late)->lines() == 2) send_signal(::getpid(), SIGTERM);
  };
  const Step wait_for_second = [this, waiter] {
    *waiter = std::make_unique<ServiceClient>(folder().socket());
    return (*waiter)->send(of_job("wait", 2)) > 0;
  };
  (void)serve({{1, 100}}, {send(submit_line(2) + submit_line(2)), answers(2), wait_for_second});
  const std::string refusal =
      "{\"ok\":false,\"error\":\"the service is stopping: it takes no requests that change a job\"}\n";
  EXPECT_EQ((*late)->take(), refusal + refusal);
  EXPECT_EQ((*waiter)->take(),
            "{\"ok\":false,\"error\":\"the service has ended; job 2 stays in its journal for the next one: `replay "
            "jobs 2` says then how it goes "
            "on\"}\n");
  EXPECT_TRUE((*waiter)->is_closed());
}

class StartsNothing final : public Policy {
 public:
  void decide(const ClusterView&, Decisions&) override {}
};

TEST_F(IntakeTest, AServiceIsNotOverBecauseItsPolicyStartsNothing) {
  StartsNothing policy;
  policy_ = &policy;
  const Period period = serve({}, {send(submit_line(1)), answers(1), send(of_job("job", 1)), answers(2)});
  EXPECT_EQ(period.result.fault, "");
  EXPECT_TRUE(has(client_->last_line(), R"("state":"waiting")")) << client_->last_line();
}

TEST_F(IntakeTest, AJobHasEndedForItsClientsThoughItsEndCannotBeWrittenYet) {
  sqlite3* other =
      nullptr;  // another program that writes to the journal, as a full disk keeps the service from writing
  const auto run = [&other](const char* sql) {
    return sqlite3_exec(other, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  serve({{1, 1.0}},
        {send(submit_line(2)), answers(1), shows(1, R"("state":"running")"),
         [&] { return sqlite3_open(folder().journal().c_str(), &other) == SQLITE_OK && run("BEGIN IMMEDIATE"); },
         shows(1, R"("outcome":"completed")"),
         [&] {
           EXPECT_FALSE(stored(1).ended);
           return run("COMMIT");
         }});
  sqlite3_close(other);
  EXPECT_EQ(stored(1).outcome, Outcome::kCompleted);
  EXPECT_TRUE(stored(1).ended) << "written as soon as it can be";
}

// The journal stays locked to the end of the period: the event log has the end, and the next period reads it there.
TEST_F(IntakeTest, AnEndThatTheJournalNeverGotIsInTheEventLogOfThePeriod) {
  const Period period = serve({{1, 0.05}}, {send(submit_line(2) + of_job("wait", 1)), ended(1)});
  keep_log(period);
  std::filesystem::create_directories(folder().job(JobId{12}));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(folder().journal().c_str(), &other), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(other, "UPDATE jobs SET ended_us=NULL", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  const PastPeriod past = read_past_period(folder());
  EXPECT_EQ(past.unreadable_log, "");
  EXPECT_EQ(past.last_job, 12) << "by its folder";
  Journal journal{folder().journal(), kStart};
  EXPECT_EQ(journal.recover(journal.latest(), past.left).read_back, 1U);
  EXPECT_EQ(journal.find(JobId{1})->outcome, Outcome::kCompleted);
}

// The texts of an answer that a terminal would not only show.
std::string with_control_characters(const nlohmann::json& value) {
  if (value.is_structured()) {
    std::string found;
    for (const auto& part : value) found += with_control_characters(part);
    return found;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  const bool has_some = std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }) ||
                        has(text, "\xC2\x9B");  // CSI in one character
  return has_some ? text + "; " : "";
}

TEST_F(IntakeTest, TextsThatAnotherProgramHasPutIntoTheJournalAreAnsweredWithoutControlCharacters) {
  (void)serve({{1, 0.01}, {2, 100}}, {send(submit_line(1) + of_job("wait", 1)), answers(2),
                                      send(submit_line(1, R"(,"requeue":true)")), answers(3)});
  client_.reset();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(folder().journal().c_str(), &other), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(other,
                         "UPDATE jobs SET name='n'||char(27)||']0;title'||char(7), directory='/tmp/'||char(27)||'[2J',"
                         " reason=char(155)||'31m'||char(10)||char(127),"
                         " command='[\"a\\u001b[31m\",\"\\u0007\",\"\\u009b1m\"]'",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(other);
  std::vector<nlohmann::json> found;
  const Step keep = [&] { return found.push_back(nlohmann::json::parse(client_->last_line())), true; };
  (void)serve({{2, 100}}, {send("{\"request\":\"jobs\",\"ended\":true}\n"), answers(1), keep, send(of_job("job", 1)),
                           answers(2), keep, send(of_job("job", 2)), answers(3), keep});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].at("jobs").size(), 2U);
  for (const nlohmann::json& answer : found) EXPECT_EQ(with_control_characters(answer), "") << answer.dump();
  EXPECT_EQ(found[1].at("job").at("name"), "n");
}

TEST_F(IntakeTest, TheEventLogIsOnDiskBeforeAnEndIsInTheJournal) {
  std::vector<bool> had_ended;
  save_log_ = [&] { had_ended.push_back(stored(1).ended.has_value()); };
  (void)serve({{1, 0.05}}, {send(submit_line(2) + of_job("wait", 1)), ended(1)});
  EXPECT_EQ(had_ended, std::vector<bool>{false});
}

TEST_F(IntakeTest, TheListComesInPieces) {
  {
    Journal journal{folder().journal(), kStart};
    NewJob job;
    job.request.processes = 2;
    job.request.time_limit = 60s;
    job.request.command = {"true"};
    job.request.directory = "/tmp";
    (void)journal.submit(std::vector<NewJob>(1200, job));
  }
  (void)serve({{1, 100}}, {send("{\"request\":\"jobs\"}\n{\"request\":\"jobs\",\"after\":1000}\n"), answers(2)});
  const std::string text = client_->take();
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_TRUE(has(first, R"({"id":500,)") && !has(first, R"({"id":501,)") && has(first, R"("more":true)"));
  EXPECT_TRUE(has(client_->last_line(), R"({"id":1001,)") && has(client_->last_line(), R"("more":false)"));
}

}  // namespace
}  // namespace replay::service
