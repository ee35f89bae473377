// Jobs of users through the real engine, journal and door, with an executor without processes: what a user is told, and
// what stays in the journal when a period of the service ends in one way or another.
#include "scheduler/service/intake.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/history/follower.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/service/past_period.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/service_client.hpp"
#include "tests/support/sharing_policies.hpp"
#include "tests/support/shell.hpp"

namespace replay::service {
namespace {

using namespace std::chrono_literals;
using test::ServiceClient;

constexpr UnixTime kStart{1'764'000'000s};

std::string submit_line(int processes, const std::string& more = "") {
  return R"({"request":"submit","job":{"processes":)" + std::to_string(processes) +
         R"(,"time_limit_s":600,"command":["true"],"directory":"/tmp")" + more + "}}\n";
}
std::string of_job(const std::string& request, int job) {
  return R"({"request":")" + request + R"(","job":)" + std::to_string(job) + "}\n";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// One step of a test: what it waits for, and then the next one is taken.
using Step = std::function<bool()>;

class IntakeTest : public testing::Test {
 protected:
  struct Period {
    live::RunResult result;
    test::MemoryLog log;
    std::map<JobId, std::vector<std::vector<CoreId>>> launched;
    std::size_t held_back = 0;
  };
  /// A period of the service: takes the steps one after the other, as each comes true, then sends SIGTERM.
  /// `runtimes` of the jobs in seconds.
  Period serve(const std::map<int, double>& runtimes, std::vector<Step> steps, CoreCount cores = 2) {
    const StopSignals owner;
    const HeedStops heeding;
    std::map<JobId, Duration> durations;
    for (const auto& [job, seconds] : runtimes) durations[JobId{job}] = from_seconds(seconds);
    executor_ = std::make_unique<test::FakeExecutor>(durations);
    if (adjust_) adjust_();
    Journal journal{folder().journal(), kStart};
    Board board;
    const UniqueFd socket = listen_at(folder().socket());
    const Instant begin = journal.latest();
    (void)journal.recover(begin);
    const ServiceFolder home = folder();
    IntakeOptions options;
    options.cores = cores;
    options.save_log = save_log_;
    Intake intake{journal, board, home, socket.get(), begin, options};
    Period period;
    period.held_back = intake.held_back();
    history::Follower follower{{&board}};
    log::Header header;
    header.set("machine", fmt::format("1x1x{}", cores));
    follower.header(header);
    log::Tee tee{{&follower, &period.log}};
    live::RunOptions run;
    run.stop_reason = "stopped";
    run.between_tries = 50ms;
    run.order = [&](const TracedJob& traced, ProcessCount) { return intake.order(traced); };
    std::size_t next = 0;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    run.tick = [&](Instant) {
      while (next < steps.size() && steps[next]()) ++next;
      const bool is_late = std::chrono::steady_clock::now() > deadline;
      EXPECT_FALSE(is_late) << "step " << next << " does not come true";
      if ((next == steps.size() || is_late) && stops_asked() == 0) send_signal(::getpid(), SIGTERM);
      if (stops_asked() == 1 && after_stop_) after_stop_();
    };
    const Machine machine = Machine::cluster(1, 1, cores);
    const auto easy = make_policy("easy");
    Policy& policy = policy_ != nullptr ? *policy_ : *easy.policy;
    period.result = live::run(machine, intake, policy, *make_runtime_model("isolated"), *executor_, tee, run);
    period.launched = executor_->placements;
    return period;
  }
  /// A step that connects, if there is no client yet, and sends.
  Step send(const std::string& line) {
    return [this, line] {
      if (!client_) client_ = std::make_unique<ServiceClient>(folder().socket());
      client_->send(line);
      return true;
    };
  }
  Step answers(std::size_t count) {
    return [this, count] { return client_->lines() >= count; };
  }
  /// Asks for a job until the answer has this.
  Step shows(int job, const std::string& part) {
    return [this, job, part] {
      client_->send(of_job("job", job));
      return has(client_->last_line(), part);
    };
  }
  /// The last of so many answers to `wait` have come.
  Step ended(std::size_t count) {
    return [this, count] {
      const std::string text = client_->take();
      std::size_t found = 0;
      for (std::size_t at = text.find("\"state\":\"ended\""); at != std::string::npos;
           at = text.find("\"state\":\"ended\"", at + 1))
        ++found;
      return found >= count;
    };
  }
  void TearDown() override { client_.reset(); }
  /// The reasons of its ends in the event log.
  static std::vector<std::string> ends_of(const Period& period, int job) {
    std::vector<std::string> reasons;
    for (const log::Record& record : period.log.records())
      if (const auto* const end = std::get_if<log::Finished>(&record.what); end != nullptr && end->job == JobId{job})
        reasons.push_back(end->end.reason);
    return reasons;
  }
  /// Leaves the period's event log where the next period looks for it.
  void keep_log(const Period& period) const {
    const std::filesystem::path run = folder().runs() / "20261125T064500Z";
    std::filesystem::create_directories(run);
    log::TextWriter writer{run / "events.log"};
    log::Header header;
    header.set("machine", "1x1x2");
    writer.header(header);
    for (const log::Record& record : period.log.records()) writer.record(record);
    writer.close();
  }
  /// The end that the next period reads in the log, if the journal has got nothing but the job's start.
  std::optional<Outcome> end_read_back(const Period& period, int job) {
    keep_log(period);
    Journal journal{folder().journal(), kStart};
    journal.start(JobId{job}, Instant{});
    (void)journal.recover(journal.latest(), read_past_period(folder()).left);
    const StoredJob found = journal.find(JobId{job}).value();
    return found.ended ? std::optional{found.outcome} : std::nullopt;
  }
  ServiceFolder folder() const { return ServiceFolder{folder_.path().string()}; }
  StoredJob stored(int job) {
    const Journal journal{folder().journal(), kStart};
    return journal.find(JobId{job}).value();
  }
  std::vector<std::int64_t> waiting() {
    std::vector<std::int64_t> jobs;
    for (const WaitingJob& job : Journal{folder().journal(), kStart}.waiting()) jobs.push_back(number(job.id));
    return jobs;
  }

  TemporaryFolder folder_;
  std::unique_ptr<test::FakeExecutor> executor_;
  std::unique_ptr<ServiceClient> client_;
  Policy* policy_ = nullptr;      // null: easy
  std::function<void()> adjust_;  // of the executor, before the period
  std::function<void()> save_log_;
  std::function<void()> after_stop_;  // at each tick after the first stop signal
};

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

TEST_F(IntakeTest, JobsThatTheSiteCannotStartWaitAndSayWhyAndStartWhenItCan) {
  const std::filesystem::path in_the_way = folder().path() / "jobs";
  test::write_text(in_the_way, "where the folders of the jobs would be");
  const Period period =
      serve({{1, 0.05}, {2, 0.05}, {3, 0.05}},
            {send(submit_line(1) + submit_line(1) + submit_line(2)), answers(3), shows(1, "no job can be started now"),
             shows(3, R"("state":"waiting")"), [&] { return std::filesystem::remove(in_the_way); },
             send(of_job("wait", 1) + of_job("wait", 2) + of_job("wait", 3)), ended(3)});
  EXPECT_EQ(period.result.broken_off, "") << "the service goes on";
  for (const int job : {1, 2, 3}) EXPECT_EQ(stored(job).outcome, Outcome::kCompleted) << job;
  EXPECT_TRUE(has(client_->last_line(), "completed")) << client_->last_line();
  EXPECT_EQ(test::what_is_wrong(period.log, Machine::cluster(1, 1, 2)), "");
  const auto tells_of = [&period](int job) {
    return std::ranges::count_if(period.log.records(), [job](const log::Record& record) {
      const auto* const failed = std::get_if<log::Failed>(&record.what);
      return failed != nullptr && failed->job == JobId{job} && failed->action == "start";
    });
  };
  EXPECT_EQ(tells_of(1), 1) << "once, though it was tried again and again";
  EXPECT_EQ(tells_of(3), 0) << "it was not launched";
}

TEST_F(IntakeTest, AJobThatTheAgentCannotStartForWantOfProcessesRunsLaterWithItsWholeTimeLimit) {
  adjust_ = [this] { executor_->not_started[JobId{1}] = "fork: Resource temporarily unavailable"; };
  const Period period = serve({{1, 0.05}}, {send(submit_line(2) + of_job("wait", 1)), ended(1)});
  EXPECT_EQ(stored(1).outcome, Outcome::kCompleted);
  EXPECT_TRUE(stored(1).started);
  const auto extended = std::ranges::find_if(period.log.records(), [](const log::Record& record) {
    return std::holds_alternative<log::Extended>(record.what);
  });
  ASSERT_NE(extended, period.log.records().end());
  EXPECT_GE(std::get<log::Extended>(extended->what).estimate, 600s + 50ms);
  EXPECT_EQ(test::what_is_wrong(period.log, Machine::cluster(1, 1, 2)), "");
}

// The refusal comes when the limit and its grace are over.
TEST_F(IntakeTest, AJobIsNotEndedByATimeLimitOfASecondBeforeTheSiteHasStartedIt) {
  adjust_ = [this] {
    executor_->not_started[JobId{1}] = "Hydra's proxy has started 0 of 1 ranks, and no process can be made";
    executor_->answer_after = 3'700ms;
  };
  std::string submission = submit_line(1);
  submission.replace(submission.find("600"), 3, "1");
  (void)serve({{1, 0.01}}, {send(submission + of_job("wait", 1)), ended(1)});
  EXPECT_EQ(stored(1).outcome, Outcome::kCompleted) << "it was started later";
}

TEST_F(IntakeTest, AJobWhoseRanksHaveNotBeenStartedIsKeptAtAStop) {
  adjust_ = [this] { executor_->begins_after[JobId{1}] = 1h; };
  const Period period = serve({{1, 100}}, {send(submit_line(1)), shows(1, R"("state":"running")")});
  EXPECT_EQ(period.log.outcome(JobId{1}), Outcome::kCancelled);
  EXPECT_EQ(ends_of(period, 1), std::vector<std::string>{"stopped"});
  EXPECT_EQ(waiting(), std::vector<std::int64_t>{1});
}

TEST_F(IntakeTest, AJobThatTheSiteCannotStartIsKeptAtAStopAndCanBeCancelled) {
  test::write_text(folder().path() / "jobs", "where the folders of the jobs would be");
  (void)serve({}, {send(submit_line(1) + submit_line(1)), answers(2), shows(2, "no job can be started now"),
                   send(of_job("cancel", 2) + of_job("wait", 2)), ended(1)});
  EXPECT_EQ(stored(2).outcome, Outcome::kCancelled);
  EXPECT_EQ(waiting(), std::vector<std::int64_t>{1});
  EXPECT_FALSE(stored(1).started);
}

// Its log calls it cancelled, as every job that waits: in the next period it comes anew.
TEST_F(IntakeTest, AJobThatTheSiteHoldsBackLeavesAPeriodAsOneThatWaits) {
  const std::filesystem::path in_the_way = folder().path() / "jobs";
  test::write_text(in_the_way, "where the folders of the jobs would be");
  const auto expect_waits = [this](const Period& period, const char* when) {
    EXPECT_GE(period.log.start(JobId{1}), Instant{}) << "the policy has started it";
    EXPECT_EQ(period.log.outcome(JobId{1}), Outcome::kCancelled) << when;
    EXPECT_EQ(ends_of(period, 1), std::vector<std::string>{"stopped"}) << when;
    EXPECT_EQ(waiting(), std::vector<std::int64_t>{1}) << when;
    EXPECT_FALSE(end_read_back(period, 1).has_value()) << when;
    client_.reset();
  };
  const Step agent_dies = [this] { return executor_->lose("the node agent has died"), true; };
  expect_waits(serve({}, {send(submit_line(1)), answers(1), shows(1, "no job can be started now"), agent_dies}),
               "the agent has died");
  expect_waits(serve({}, {send(of_job("job", 1)), shows(1, "no job can be started now")}), "a stop");

  // The stop comes between the order to start it and the answer, which comes when the loop has turned after the stop.
  std::filesystem::remove(in_the_way);
  const std::string why = "fork: Resource temporarily unavailable";
  adjust_ = [&] {
    executor_->answer_after = 1h;
    executor_->not_started[JobId{1}] = why;
  };
  after_stop_ = [&, has_turned = false]() mutable {
    if (std::exchange(has_turned, true)) executor_->refuse(JobId{1}, why);
  };
  expect_waits(serve({{1, 1}}, {send(of_job("job", 1)), shows(1, R"("state":"running")")}), "a stop during the start");

  adjust_ = {};
  after_stop_ = {};
  (void)serve({{1, 0.01}}, {send(of_job("wait", 1)), ended(1)});
  EXPECT_EQ(stored(1).outcome, Outcome::kCompleted);
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
  EXPECT_EQ((*waiter)->take(), "{\"ok\":false,\"error\":\"the service has ended; job 2 stays in its journal\"}\n");
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
