// Tests of runs whose inputs are kept: what is played back makes the same event log and gives the same orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/kept_executor.hpp"
#include "tests/support/random_workload.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
class KeptRuns : public KeptRunsBase {};

bool begins_with(const std::vector<std::string>& whole, const std::vector<std::string>& part) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

TEST_F(KeptRuns, ComeOutTheSameWhereverTheyWereBrokenOff) {
  std::uint64_t seed = 1;
  for (const std::string policy :
       {"fcfs-malleable", "easy", "conservative", "slack", "dynp", "scojo-p", "scojo-pect"}) {
    fs::remove(file_);
    calls_.clear();
    const Workload workload{random_jobs(++seed, 30, 8)};
    const Made whole = run_and_keep(policy, workload, seed);
    const std::size_t records = RecordFile::read(file_).size();
    ASSERT_GT(records, 4U) << policy;
    for (std::size_t kept = 2; kept <= records; kept += kept + 7 < records ? 7 : 1) {
      const Made again = play_back(policy, workload, kept);
      EXPECT_TRUE(begins_with(whole.log, again.log)) << policy << ", the first " << kept << " records";
      EXPECT_TRUE(begins_with(whole.orders, again.orders)) << policy << ", the first " << kept << " records";
      if (kept < records) continue;
      EXPECT_EQ(whole.log, again.log) << policy;
      EXPECT_EQ(whole.orders, again.orders) << policy;
    }
  }
}

TEST_F(KeptRuns, HaveATurnOnDiskBeforeTheEventLogHasItsStop) {
  const Workload workload{random_jobs(3, 30, 8)};
  until_ = workload.jobs.back().job.submitted;
  EXPECT_NE(run_and_keep("easy", workload, 3).log.size(), 0U);
}

TEST_F(KeptRuns, OfAnotherTraceOrPolicyAreRefused) {
  std::vector<TracedJob> jobs = random_jobs(5, 20, 8);
  const Workload workload{jobs};
  (void)run_and_keep("easy", workload, 5);
  jobs.erase(jobs.begin());
  const Workload other{jobs};
  KeptExecutor executor{calls_, nullptr};
  live::TurnLog turns{file_, [](const std::string&) {}};
  MemoryLog log;
  const live::RunOptions options = options_for(turns, log);
  live::TraceSource source{other};
  try {
    (void)live::run(machine_, source, *make_policy("easy").policy, *model_, executor, log, options);
    FAIL() << "it is another trace";
  } catch (const live::TurnLogDiffers& error) {
    EXPECT_NE(std::string{error.what()}.find("turns.log"), std::string::npos) << error.what();
  }
}

/// As a program: starts the only job, and may decide otherwise when it is asked again, without effect.
class Asked final : public Policy {
 public:
  explicit Asked(std::string answer) : answer_(std::move(answer)) {}
  void keep_answers(AnswerKeeper& keeper) override { keeper_ = &keeper; }
  void decide(const ClusterView& view, Decisions& out) override {
    const std::string kept = keeper_->kept(answer_);
    if (kept != answer_) keeper_->note_other_decisions(kept, answer_);
    for (const Job* job : view.waiting) out.emplace_back(Start{job->id, {cores_needed(*job), 1, {}}});
  }

 private:
  std::string answer_;
  AnswerKeeper* keeper_ = nullptr;
};

TEST_F(KeptRuns, OfAProgramThatDecidesOtherwiseHaveItsAnswersOrCannotGoOn) {
  const Workload workload{{job('A').cores(2).runs(1min)}};
  std::map<JobId, Duration> runtimes{{workload.jobs.front().job.id, Duration{1min} / kFaster}};
  FakeExecutor inner{runtimes};
  const auto run = [&](const std::string& answer, live::Executor* jobs, bool answers_stand, bool is_again) {
    KeptExecutor executor{calls_, jobs};
    std::optional<live::TurnLog> turns;
    const auto warn = [](const std::string&) {};
    is_again ? turns.emplace(file_, warn) : turns.emplace(file_, "about", warn);
    MemoryLog log;
    live::RunOptions options = options_for(*turns, log);
    options.answers_stand = answers_stand;
    Asked policy{answer};
    live::TraceSource source{workload};
    (void)live::run(machine_, source, policy, *model_, executor, log, options);
    return lines_of(log);
  };
  (void)run("this", &inner, false, false);
  const std::vector<std::string> stands = run("that\x1b", nullptr, true, true);
  EXPECT_TRUE(std::ranges::any_of(stands, [](const std::string& line) {
    return line.find("asked again, the policy has decided otherwise in 2 passes") != std::string::npos;
  })) << stands.back();
  (void)run("this", nullptr, false, true);
  try {
    (void)run("that\x1b", nullptr, false, true);
    FAIL() << "it decides otherwise";
  } catch (const live::TurnLogDiffers& error) {
    EXPECT_NE(
        std::string{error.what()}.find("expected the answer this of the policy, which was asked again, found that"),
        std::string::npos)
        << error.what();
    EXPECT_EQ(std::string{error.what()}.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace replay::test
