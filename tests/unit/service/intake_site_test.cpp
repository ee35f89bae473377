// Jobs of users that the site cannot start: they wait, `replay jobs` gives the reason, and they start when it can.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/service/intake_fixture.hpp"

namespace replay::service {
namespace {

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

// Of a job whose folder has gone while it waited.
class AFolderThatHasGone : public IntakeTest {
 protected:
  std::filesystem::path directory() const { return folder().path() / "work"; }
  std::string submit_there(int processes) const {
    std::filesystem::create_directory(directory());
    std::string line = submit_line(processes);
    return line.replace(line.find("/tmp"), 4, directory().string());
  }
  Step remove() const {
    return [this] { return std::filesystem::remove(directory()); };
  }
};

TEST_F(AFolderThatHasGone, KeepsItsJobWaitingWithoutCoresAndNoOther) {
  const Period period =
      serve({{1, 0.3}, {2, 0.05}, {3, 0.05}},
            {send(submit_line(2) + submit_there(2) + submit_line(2)), answers(3), remove(), send(of_job("wait", 3)),
             ended(1), shows(2, "cannot start in " + directory().string() + ": No such file or directory"),
             [this] {
               return has(client_->last_line(), R"("state":"waiting")") && has(client_->last_line(), R"("cores":0)");
             },
             [this] { return std::filesystem::create_directory(directory()); }, send(of_job("wait", 2)), ended(2)});
  for (const int job : {1, 2, 3}) EXPECT_EQ(stored(job).outcome, Outcome::kCompleted) << stored(job).reason;
  ASSERT_TRUE(period.launched.contains(JobId{2}));
  EXPECT_EQ(period.launched.at(JobId{2}).size(), 1U);
  EXPECT_EQ(test::what_is_wrong(period.log, Machine::cluster(1, 1, 2)), "");
}

TEST_F(AFolderThatHasGone, IsNoReasonOfOtherJobsThoughItsJobIsCancelled) {
  (void)serve({{1, 0.3}, {2, 0.05}, {3, 100}},
              {send(submit_line(2) + submit_there(2) + submit_line(2) + submit_line(2)), answers(4), remove(),
               shows(2, "cannot start in"), shows(3, R"("state":"running")"), send(of_job("cancel", 2)),
               send(of_job("wait", 2)), ended(1), shows(4, R"("state":"waiting")"), [this] {
                 EXPECT_FALSE(has(client_->last_line(), "reason")) << client_->last_line();
                 return true;
               }});
  EXPECT_EQ(stored(2).outcome, Outcome::kCancelled);
}

TEST_F(AFolderThatHasGone, LeavesItsJobInTheJournalAtAStop) {
  (void)serve({{1, 0.3}, {2, 0.05}},
              {send(submit_line(2) + submit_there(2)), answers(2), remove(), shows(2, "cannot start in")});
  EXPECT_EQ(waiting(), std::vector<std::int64_t>{2});
  EXPECT_FALSE(stored(2).started);
}

// The folder goes, and the stop comes, as the job is started.
TEST_F(AFolderThatHasGone, LeavesItsJobInTheJournalAtAStopInTheSameTurn) {
  class StopsAtAStart final : public Policy {
   public:
    explicit StopsAtAStart(std::filesystem::path goes) : goes_(std::move(goes)) {}
    void decide(const ClusterView& view, Decisions& out) override {
      easy_.policy->decide(view, out);
      if (!out.empty() && std::filesystem::remove(goes_)) send_signal(::getpid(), SIGTERM);
    }

   private:
    NamedPolicy easy_ = make_policy("easy");
    std::filesystem::path goes_;
  };
  StopsAtAStart policy{directory()};
  policy_ = &policy;
  const Period period = serve({}, {send(submit_there(1)), [] { return false; }});
  EXPECT_EQ(period.log.outcome(JobId{1}), Outcome::kCancelled);
  EXPECT_EQ(waiting(), std::vector<std::int64_t>{1});
  EXPECT_FALSE(end_read_back(period, 1).has_value());
}

}  // namespace
}  // namespace replay::service
