// Tests of runs that adopt the jobs of another one, wherever that was broken off: nothing is played back but the executor.
#include "scheduler/live/adoption.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "scheduler/live/order_keeper.hpp"
#include "tests/support/kept_executor.hpp"
#include "tests/support/random_workload.hpp"

namespace replay::test {
namespace {

/// Jobs of a workload without those that have ended; those that run are asked for.
class LeftJobsSource final : public live::JobSource {
 public:
  LeftJobsSource(const Workload& workload, const live::LeftRun& left) {
    for (const TracedJob& traced : workload.jobs) {
      const JobId id = traced.job.id;
      jobs_[id] = traced;
      if (left.jobs.contains(id))
        jobs_[id].job.submitted = begin();
      else
        waiting_.push_back(&jobs_[id]);
    }
  }
  [[nodiscard]] Instant begin() const override { return Instant{}; }
  [[nodiscard]] Duration zero_time_of_day() const override { return {}; }
  [[nodiscard]] bool done() const override { return waiting_.empty(); }
  [[nodiscard]] bool is_open() const override { return false; }
  [[nodiscard]] Instant next() const override { return waiting_.empty() ? kNever : waiting_.front()->job.submitted; }
  const TracedJob* take(Instant now) override {
    if (next() > now) return nullptr;
    const TracedJob* const job = waiting_.front();
    waiting_.erase(waiting_.begin());
    return job;
  }
  const TracedJob* take_again(JobId job, Instant /*now*/) override {
    std::erase(waiting_, &jobs_.at(job));
    return &jobs_.at(job);
  }
  [[nodiscard]] Instant next_cancel() const override { return kNever; }
  std::optional<JobId> take_cancel(Instant /*now*/) override { return std::nullopt; }
  [[nodiscard]] const TracedJob& job(JobId job) override { return jobs_.at(job); }
  void on_end(JobId job, Instant /*now*/) override { ++ends[job]; }
  void forget_ended() override {}

  [[nodiscard]] const std::map<JobId, TracedJob>& jobs() const { return jobs_; }
  std::map<JobId, int> ends;

 private:
  std::map<JobId, TracedJob> jobs_;
  std::vector<const TracedJob*> waiting_;
};

class Adopting : public KeptRunsBase {
 protected:
  live::LeftRun left_after(std::size_t records) {
    cut(records);
    KeptExecutor executor{calls_, nullptr};
    return live::read_left_run(part_, executor);
  }

  static std::vector<live::TurnLog::Input> before_of(const live::LeftRun& left) {
    std::vector<live::TurnLog::Input> before = left.inputs;
    for (const auto& [id, job] : left.jobs)
      before.push_back({live::TurnLog::Kind::kAdopt, live::AdoptedJob{id, job, Instant{}, 1h, 1h}.to_text()});
    return before;
  }

  live::RunOptions adopting(live::TurnLog& turns, const MemoryLog& log) {
    live::RunOptions options = options_for(turns, log);
    options.adopts = "adopts";
    options.order_again = [](const TracedJob&) { return live::LaunchOrder{}; };
    return options;
  }
};

TEST_F(Adopting, LosesNoJobAndStartsNoneTwice) {
  using Pair = std::pair<std::string, std::string>;
  std::uint64_t seed = 1;
  std::size_t adopted = 0;
  for (const auto& [from, to] : {Pair{"easy", "fcfs-malleable"}, Pair{"fcfs-malleable", "conservative"},
                                 Pair{"fcfs-malleable", "slack"}, Pair{"scojo-p", "easy"}}) {
    std::filesystem::remove(file_);
    calls_.clear();
    const Workload workload{random_jobs(++seed, 30, 8)};
    (void)run_and_keep(from, workload, seed);
    const std::size_t records = RecordFile::read(file_).size();
    for (std::size_t kept = 4; kept <= records; kept += records / 3) {
      SCOPED_TRACE(from + " to " + to + ", " + std::to_string(kept) + " records");
      const live::LeftRun left = left_after(kept);
      adopted += left.jobs.size();
      std::map<JobId, Duration> runtimes;
      for (const TracedJob& traced : workload.jobs) runtimes[traced.job.id] = traced.truth.runtime / kFaster;
      FakeExecutor inner{runtimes};
      KeptExecutor executor{calls_, &inner};
      LeftJobsSource source{workload, left};
      MemoryLog log;
      const std::filesystem::path file = folder_.path() / "adopting";
      std::filesystem::remove(file);
      {
        live::TurnLog turns{file, "about", [](const std::string&) {}, before_of(left)};
        auto options = adopting(turns, log);
        options.tick = [&, steps = 0](Instant) mutable {  // the other run may have been broken off while it was silent
          if (++steps == 2) inner.change(machine_, {NodeId{1}, NodeState::kUp, kNever, "a word", ""});
        };
        const auto result = live::run(machine_, source, *make_policy(to).policy, *model_, executor, log, options);
        ASSERT_EQ(result.fault, "");
      }
      EXPECT_EQ(what_is_wrong(log, machine_), "");
      for (const auto& [id, traced] : source.jobs()) EXPECT_EQ(source.ends[id], 1) << "job " << number(id);
      for (const auto& [id, job] : left.jobs) EXPECT_EQ(log.start(id), log.records().front().at) << number(id);

      // It can be played back, too.
      KeptExecutor again{calls_, nullptr};
      LeftJobsSource same{workload, left};
      MemoryLog log_again;
      live::TurnLog turns{file, [](const std::string&) {}};
      auto options = adopting(turns, log_again);
      options.played_back = [] { throw PlayedBack{}; };
      EXPECT_THROW((void)live::run(machine_, same, *make_policy(to).policy, *model_, again, log_again, options),
                   PlayedBack);
      EXPECT_EQ(lines_of(log_again), lines_of(log));
      EXPECT_EQ(again.orders, executor.orders);
    }
  }
  EXPECT_GT(adopted, 10U);
}

TEST(KeptOrders, AreReadAsTheyWereWritten) {
  using live::KeptOrder;
  for (const std::string text :
       {"launch 17 0,1,1", "resize 17 3", "suspend 17", "resume 1", "end 2 overrun", "slow_down 3 1.5"})
    EXPECT_EQ(KeptOrder::parse(text).to_text(), text);
  for (const std::string text : {"", "launch", "launch 17", "launch 17 x", "launch 17 -1", "end 2", "end 2 well",
                                 "suspend 17 0", "stop 17", "slow_down 3 inf", "resize  0"})
    EXPECT_THROW((void)KeptOrder::parse(text), InputError) << text;
}

TEST(AdoptedJobTexts, AreReadAsTheyWereWritten) {
  live::AdoptedJob job{
      JobId{17},   {{CoreId{0}, CoreId{0}}, {CoreId{2}, CoreId{3}}, true, true, Outcome::kCancelled, {}},
      Instant{5s}, 1h,
      20min,       true};
  EXPECT_EQ(live::AdoptedJob::parse(job.to_text()).to_text(), job.to_text());
  job.left.end = JobEnd{Outcome::kFailed, 3, Verification::kNone, 0.5, "exit status 3, of a rank"};
  EXPECT_EQ(live::AdoptedJob::parse(job.to_text()).left.end, job.left.end);
  job.left.end->reason = "";
  EXPECT_EQ(live::AdoptedJob::parse(job.to_text()).left.end, job.left.end);
  EXPECT_THROW((void)live::AdoptedJob::parse("17 0"), InputError);
  EXPECT_THROW((void)live::AdoptedJob::parse("17 0 0 0 0 0 - 0 x -"), InputError);
}

}  // namespace
}  // namespace replay::test
