// What a period has left, by its turn log, its event log and the journal: which jobs run, where, and how much time they have.
#include "scheduler/service/adoption.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::service {
namespace {

using namespace std::chrono_literals;
using Kind = live::TurnLog::Kind;

constexpr UnixTime kNoon{1'764'000'000s};

/// What was told to it is "ended 2": that job has failed.
class ToldExecutor final : public live::Executor {
 public:
  void attach(event_base* /*loop*/, live::ExecutorListener* listener) override { listener_ = listener; }
  void detach() override {}
  void launch(const live::LaunchOrder& /*order*/) override {}
  void resize(JobId /*job*/, const std::vector<CoreId>& /*cores*/) override {}
  void suspend(JobId /*job*/) override {}
  void resume(JobId /*job*/) override {}
  void end(JobId /*job*/, Outcome /*reason*/) override {}
  void play(const std::string& input) override {
    const JobId job{std::stoll(input.substr(input.find(' ')))};
    if (input.starts_with("ended"))
      listener_->on_ended(job, {Outcome::kFailed, 3, Verification::kNone, -1, "exit status 3"});
    if (input.starts_with("begun")) listener_->on_begun(job);
    if (input.starts_with("unstarted")) listener_->on_not_started(job, "no process");
    if (input.starts_with("lost")) listener_->on_lost("the agent has died");
  }

 private:
  live::ExecutorListener* listener_ = nullptr;
};

class LeftPeriods : public testing::Test {
 protected:
  void SetUp() override {
    NewJob job;
    job.request.processes = 2;
    job.request.time_limit = 60s;
    job.request.command = {"true"};
    job.request.directory = "/tmp";
    (void)journal_.submit(std::vector<NewJob>(4, job));
    for (int number = 1; number <= 3; ++number) journal_.start(JobId{number}, Instant{10s});
  }

  Adoption left(const std::string& log, const std::vector<live::TurnLog::Input>& inputs, Instant now = Instant{40s}) {
    std::ofstream{folder_.path() / "events.log", std::ios::trunc} << "#replay-events 1\n#machine 1x1x4\n" << log;
    std::filesystem::remove(folder_.path() / "turns.log");
    {
      live::TurnLog turns{folder_.path() / "turns.log", "about", [](const std::string&) {}};
      turns.add(Kind::kClock, "0");
      for (const auto& input : inputs) turns.add(input.kind, input.text);
      turns.secure();
    }
    ToldExecutor executor;
    return adopt_jobs_of(folder_.path(), executor, Machine::cluster(1, 1, 4), journal_, now);
  }
  static std::vector<live::AdoptedJob> adopted(const Adoption& adoption) {
    std::vector<live::AdoptedJob> jobs;
    for (const auto& input : adoption.before)
      if (input.kind == Kind::kAdopt) jobs.push_back(live::AdoptedJob::parse(input.text));
    return jobs;
  }

  static constexpr const char* kTwoJobs =
      "10 submit job=1 processes=2 estimate=60 runtime=0 flexibility=malleable\n"
      "10 submit job=2 processes=2 estimate=60 runtime=0 flexibility=malleable\n"
      "10 start job=1 cores=2 mpl=1 on=0-1:1\n"
      "10 launch job=1 cores=2 mpl=1 on=0-1:1\n"
      "10 start job=2 cores=2 mpl=1 on=2-3:1\n"
      "10 launch job=2 cores=2 mpl=1 on=2-3:1\n";
  const std::vector<live::TurnLog::Input> two_jobs_{{Kind::kOrder, "launch 1 0,1"}, {Kind::kOrder, "launch 2 2,3"}};
  TemporaryFolder folder_;
  Journal journal_{folder_.path() / "journal.db", kNoon};
};

TEST_F(LeftPeriods, HaveTheRestOfTheirJobsTime) {
  const std::string log = std::string{kTwoJobs} +
                          "20 resize job=1 cores=1 mpl=2 on=0:2\n"
                          "20 resized job=1 cores=1 mpl=2 on=0:2\n"
                          "25 suspend job=2\n"
                          "25 suspended job=2\n"
                          "30 extend job=1 estimate=90\n";
  auto inputs = two_jobs_;
  inputs.insert(inputs.end(), {{Kind::kOrder, "resize 1 0,0"}, {Kind::kOrder, "suspend 2"}});
  const std::vector<live::AdoptedJob> jobs = adopted(left(log, inputs));
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].estimate, 90s);
  EXPECT_EQ(jobs[0].rest, 90s - 10s - 20s / 2);
  EXPECT_EQ(jobs[0].started, Instant{10s});
  EXPECT_EQ(jobs[0].left.moving_to, (std::vector<CoreId>{CoreId{0}, CoreId{0}})) << "it has not answered";
  EXPECT_EQ(jobs[1].rest, 60s - 15s);
  EXPECT_TRUE(jobs[1].left.is_asleep);
}

TEST_F(LeftPeriods, ThatHaveAdoptedJobsKnowWhatTheseHadLeft) {
  live::AdoptedJob before{JobId{1}, {.core_of_rank = {CoreId{0}, CoreId{1}}}, Instant{}, 60s, 40s};
  std::vector<live::TurnLog::Input> inputs = two_jobs_;
  inputs.push_back({Kind::kAdopt, before.to_text()});
  const std::vector<live::AdoptedJob> jobs = adopted(left(kTwoJobs, inputs));
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].rest, 40s - 30s);
  EXPECT_EQ(jobs[1].rest, 60s - 30s);
}

TEST_F(LeftPeriods, OfWhichTheLogIsDamagedGiveTheirJobsAllTheirTime) {
  const std::vector<live::AdoptedJob> jobs = adopted(left("nonsense\n", two_jobs_));
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].rest, 60s);
}

TEST_F(LeftPeriods, TellWhatHasEndedAndWhatWasNeverStarted) {
  auto inputs = two_jobs_;
  inputs.insert(inputs.end(), {{Kind::kExecutor, "begun 1"}, {Kind::kExecutor, "ended 2"}});
  const Adoption adoption = left(kTwoJobs, inputs);
  EXPECT_EQ(adoption.running, 1U);
  EXPECT_EQ(adoption.jobs, (std::vector<JobId>{JobId{1}, JobId{2}}));
  EXPECT_EQ(adoption.unstarted, std::vector<JobId>{JobId{3}}) << "the order to start it had not gone out";
  const std::vector<live::AdoptedJob> jobs = adopted(adoption);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_TRUE(jobs[0].left.has_begun);
  ASSERT_TRUE(jobs[1].left.end.has_value());
  EXPECT_EQ(jobs[1].left.end->exit_code, 3);
  const std::string ended = std::string{kTwoJobs} + "30 finish job=2 outcome=failed exit_code=3\n";
  EXPECT_EQ(left(ended, inputs).jobs, std::vector<JobId>{JobId{1}}) << "the event log has told it";
}

TEST_F(LeftPeriods, WhoseJobsCannotAllRunAreRefused) {
  auto inputs = two_jobs_;
  inputs.push_back({Kind::kOrder, "launch 3 0,1"});
  EXPECT_TRUE(std::ranges::all_of(adopted(left(kTwoJobs, inputs)),
                                  [](const auto& job) { return job.is_shared == (job.job != JobId{2}); }));
  inputs.push_back({Kind::kOrder, "suspend 1"});
  EXPECT_THROW((void)left(kTwoJobs, inputs), InputError) << "another one has its cores";
  EXPECT_THROW((void)left(kTwoJobs, {{Kind::kOrder, "launch 4 0,7"}}), InputError) << "no such core";
  EXPECT_THROW((void)left(kTwoJobs, {{Kind::kOrder, "launch 9 0,1"}}), InputError) << "no such job";
  EXPECT_THROW((void)left(kTwoJobs, {{Kind::kExecutor, "lost 0"}}), InputError);
}

}  // namespace
}  // namespace replay::service
