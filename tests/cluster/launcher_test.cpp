// The launcher with real processes: LocalExecutor, its agent, Hydra, vmlib and small MPI programs. Each test waits for
// what should happen, with a deadline; nothing sleeps for a while and hopes.
#include <event2/event.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "launcher/agent.hpp"
#include "launcher/binding.hpp"
#include "launcher/local_executor.hpp"
#include "launcher/loop_event.hpp"
#include "launcher/mpiexec.hpp"
#include "launcher/process.hpp"
#include "launcher/topology.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr JobId kJob{7};

class Recorder : public live::ExecutorListener {
 public:
  void on_started(JobId job, bool is_malleable, const std::string& why) override {
    started[job] = is_malleable;
    reason[job] = why;
  }
  void on_resized(JobId) override { ++resized; }
  void on_suspended(JobId) override { ++suspended; }
  void on_resumed(JobId) override { ++resumed; }
  void on_measured(JobId, double use) override { measured.push_back(use); }
  void on_ended(JobId job, const JobEnd& end) override {
    EXPECT_FALSE(ended.contains(job)) << "the second end of a job";
    ended[job] = end;
  }
  void on_action_failed(JobId, const std::string& action, const std::string& why) override {
    failed.push_back(action + ": " + why);
  }
  void on_lost(const std::string& why) override { lost = why; }

  std::map<JobId, bool> started;
  std::map<JobId, std::string> reason;
  std::map<JobId, JobEnd> ended;
  int resized = 0, suspended = 0, resumed = 0;
  std::vector<double> measured;
  std::vector<std::string> failed;
  std::optional<std::string> lost;
};

/// A directory of the test's own, and an agent whose private directory lies in it.
class Launcher : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec", std::getenv("PATH") != nullptr ? std::getenv("PATH") : ""))
      GTEST_SKIP() << "mpiexec is not on PATH: install MPICH to run this test";
    std::string name = "/tmp/launcher-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    fs::create_directories(directory_ / "job");
    fs::create_directories(directory_ / "run");
    options_.runtime_directory = directory_ / "run";
    options_.vmlib = REPLAY_VMLIB;
  }
  void TearDown() override {
    executor_.reset();
    if (directory_.empty()) return;
    EXPECT_TRUE(HasFailure() || fs::is_empty(directory_ / "run")) << "the agent left something behind";
    fs::remove_all(directory_);
  }

  void start() {
    local_ = discover_local("local");
    AgentHandle agent = start_agent(options_);
    agent_pid_ = agent.pid();
    socket_mark_ = "REPLAY_VM_SOCKET=" + (agent.directory() / "socket").string();
    executor_ = make_local_executor(std::move(agent), local_);
    loop_.reset(event_base_new());
    executor_->attach(loop_.get(), &seen_);
  }

  [[nodiscard]] CoreId core(std::size_t number) const {
    return static_cast<CoreId>(number % static_cast<std::size_t>(local_.machine.size()));
  }
  [[nodiscard]] live::LaunchOrder order(std::vector<std::string> command, std::size_t ranks, JobId job = kJob) const {
    live::LaunchOrder result{.job = job,
                             .command = std::move(command),
                             .environment = {},
                             .directory = directory_ / "job",
                             .core_of_rank = {},
                             .malleable = true};
    for (std::size_t rank = 0; rank < ranks; ++rank) result.core_of_rank.push_back(core(rank));
    return result;
  }
  void launch(std::vector<std::string> command, std::size_t ranks) {
    executor_->launch(order(std::move(command), ranks));
  }

  /// Runs the loop until `happened`. False: not within `limit`.
  template <typename Condition>
  bool until(Condition happened, std::chrono::milliseconds limit = 15s) {
    const auto deadline = Clock::now() + limit;
    while (!happened()) {
      if (Clock::now() > deadline) return false;
      // The timer only lets conditions be looked at that no event announces.
      LoopEvent tick{loop_.get(), -1, 0, [] {}};
      tick.arm_after(5ms);
      event_base_loop(loop_.get(), EVLOOP_ONCE);
    }
    return true;
  }
  [[nodiscard]] bool has_ended() const { return seen_.ended.contains(kJob); }
  [[nodiscard]] bool has_started() const { return seen_.started.contains(kJob); }
  [[nodiscard]] const JobEnd& its_end() const { return seen_.ended.at(kJob); }
  [[nodiscard]] std::vector<pid_t> its_processes() const { return processes_with(socket_mark_); }
  [[nodiscard]] pid_t process_named(std::string_view name) const {
    for (const pid_t pid : its_processes())
      if (const auto stat = read_stat(pid); stat && stat->name == name) return pid;
    return 0;
  }
  [[nodiscard]] pid_t rank(int number) const {
    for (const pid_t pid : its_processes())
      if (environment_has(pid, "PMI_RANK=" + std::to_string(number))) return pid;
    return 0;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream{directory_ / "job" / name}.rdbuf();
    return text.str();
  }

  AgentOptions options_;
  fs::path directory_;
  LocalMachine local_;
  EventBase loop_;
  Recorder seen_;
  pid_t agent_pid_ = 0;
  std::string socket_mark_;
  std::unique_ptr<live::Executor> executor_;
};

TEST_F(Launcher, AJobRunsAndItsResultIsVerified) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "0.3"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason << file("stderr");
  EXPECT_EQ(its_end().exit_code, 0);
  EXPECT_EQ(its_end().verification, Verification::kPassed);
  EXPECT_GE(its_end().cpu_use, 0.0);
  EXPECT_LE(its_end().cpu_use, 1.0);
  EXPECT_TRUE(seen_.started.at(kJob)) << seen_.reason.at(kJob);
  EXPECT_EQ(seen_.reason.at(kJob), "");
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, TheJobsDirectoryKeepsWhatWasStarted) {
  start();
  auto job = order({"/bin/sh", "-c", "echo \"$GREETING\"; echo oops >&2; read x || echo no stdin"}, 1);
  job.environment = {{"GREETING", "hello 'there'\n  all"}};
  executor_->launch(job);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(file("stdout"), "hello 'there'\n  all\nno stdin\n");
  EXPECT_EQ(file("stderr"), "oops\n");
  EXPECT_NE(file("command").find("/bin/sh -c"), std::string::npos);
  EXPECT_EQ(file("environment"), "GREETING='hello '\\''there'\\''\n  all'\n");
}

TEST_F(Launcher, TheKeyIsOnNoCommandLine) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "20"}, 1);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_EQ(file("command").find("REPLAY_VM_KEY"), std::string::npos);
  EXPECT_EQ(file("environment").find("REPLAY_VM_KEY"), std::string::npos);
}

TEST_F(Launcher, AnExitCodeIsReportedAsFailure) {
  start();
  launch({REPLAY_RANK_PROGRAM, "return"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_EQ(its_end().exit_code, 4);
  EXPECT_NE(its_end().reason.find("exit code 4"), std::string::npos) << its_end().reason;
}

TEST_F(Launcher, AWrongResultIsNotedButTheJobCompleted) {
  start();
  launch({REPLAY_RANK_PROGRAM, "wrong"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_end().verification, Verification::kFailed);
}

TEST_F(Launcher, RanksThatNeverFinalizeMakeAFailureWhateverTheExitCode) {
  start();
  launch({REPLAY_RANK_PROGRAM, "leave"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason, "");
}

TEST_F(Launcher, ACrashNamesRankAndSignal) {
  start();
  launch({REPLAY_RANK_PROGRAM, "crash", "20"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("rank 1"), std::string::npos) << its_end().reason;
  EXPECT_NE(its_end().reason.find("signal 11"), std::string::npos) << its_end().reason;
}

TEST_F(Launcher, AMissingProgramIsNamed) {
  start();
  launch({"no-such-program-anywhere"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }, 2s));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_EQ(its_end().reason, "program no-such-program-anywhere: not found, or not executable");
}

TEST_F(Launcher, AMissingMpiexecIsNamed) {
  options_.mpiexec = "/nowhere/mpiexec";
  start();
  launch({"/bin/true"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }, 2s));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("/nowhere/mpiexec"), std::string::npos) << its_end().reason;
}

TEST_F(Launcher, AProgramWithoutMpiRunsAsRigid) {
  start();
  launch({"/bin/sleep", "6"}, 1);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_FALSE(seen_.started.at(kJob));
  EXPECT_NE(seen_.reason.at(kJob).find("sleep uses no MPI"), std::string::npos) << seen_.reason.at(kJob);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_end().cpu_use, -1);
}

TEST_F(Launcher, AProgramWithoutMpiThatIsShortJustEnds) {
  start();
  launch({"/bin/true"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_FALSE(has_started());
}

TEST_F(Launcher, WithoutVmlibAJobIsRigidAndRefusesToMove) {
  options_.vmlib = "/nowhere/libreplay-vm.so";
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "1"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_FALSE(seen_.started.at(kJob));
  EXPECT_NE(seen_.reason.at(kJob).find("/nowhere/libreplay-vm.so"), std::string::npos) << seen_.reason.at(kJob);
  executor_->resize(kJob, {core(1), core(1)});
  ASSERT_TRUE(until([&] { return !seen_.failed.empty() || seen_.resized > 0; }));
  EXPECT_EQ(seen_.resized, 0);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
}

TEST_F(Launcher, EndingAJobGivesTheOutcomeThatWasAskedFor) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  executor_->end(kJob, Outcome::kOverrun);
  ASSERT_TRUE(until([&] { return has_ended(); }, 3s));
  EXPECT_EQ(its_end().outcome, Outcome::kOverrun);
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, ASuspendedJobCanBeEnded) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  executor_->suspend(kJob);
  executor_->end(kJob, Outcome::kKilled);
  ASSERT_TRUE(until([&] { return has_ended(); }, 4s));
  EXPECT_EQ(its_end().outcome, Outcome::kKilled);
}

TEST_F(Launcher, SuspendStopsEveryRankAndResumeGoesOn) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "1"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  executor_->suspend(kJob);
  ASSERT_TRUE(until([&] { return seen_.suspended == 1; }));
  for (const int number : {0, 1}) {
    const pid_t pid = rank(number);
    EXPECT_TRUE(until([&] { return read_stat(pid).value_or(ProcessStat{}).state == 'T'; }, 1s)) << "rank " << number;
  }
  executor_->resume(kJob);
  ASSERT_TRUE(until([&] { return seen_.resumed == 1; }));
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
}

TEST_F(Launcher, AKilledRankEndsTheJobAsFailed) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  ::kill(rank(1), SIGKILL);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_EQ(its_end().reason, "rank 1: Killed (signal 9)");
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, AKilledMpiexecLeavesNoRankBehind) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  ::kill(process_named("mpiexec"), SIGKILL);
  ASSERT_TRUE(until([&] { return has_ended(); }, 2s));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("mpiexec was killed"), std::string::npos) << its_end().reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, AKilledProxyEndsTheJobWithinBounds) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  ::kill(process_named("hydra_pmi_proxy"), SIGKILL);
  ASSERT_TRUE(until([&] { return has_ended(); }, 6s));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("proxy"), std::string::npos) << its_end().reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, EveryThreadOfEveryRankMovesAndTheResultIsRight) {
  start();
  if (local_.machine.size() < 2) GTEST_SKIP() << "needs two cores";
  launch({REPLAY_RANK_PROGRAM, "talk", "4"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  ASSERT_TRUE(seen_.started.at(kJob)) << seen_.reason.at(kJob);
  const pid_t first = rank(0), second = rank(1);
  EXPECT_TRUE(is_bound(first, local_.pu_of_core[0]));
  EXPECT_TRUE(is_bound(second, local_.pu_of_core[1]));
  EXPECT_GE(threads_of(first).size(), 2U) << "UCX has a thread of its own, or this test proves little";
  std::vector<double> latencies_us;
  for (int moves = 0; moves < 100; ++moves) {
    const std::size_t other = moves % 2 == 0 ? 0 : 1;  // shrink to the first core, expand again
    const auto begin = Clock::now();
    executor_->resize(kJob, {core(0), core(other)});
    ASSERT_TRUE(until([&] { return seen_.resized == moves + 1; })) << "move " << moves;
    latencies_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    ASSERT_TRUE(is_bound(first, local_.pu_of_core[0])) << "move " << moves;
    ASSERT_TRUE(is_bound(second, local_.pu_of_core[other])) << "move " << moves;
  }
  std::ranges::sort(latencies_us);
  std::cout << "resize to answer: median " << latencies_us[50] << " us, p99 " << latencies_us[98] << " us\n";
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_end().verification, Verification::kPassed);
  EXPECT_EQ(seen_.failed, std::vector<std::string>{});
}

TEST_F(Launcher, AResizeGivenBeforeTheStartWaitsForIt) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "1"}, 2);
  executor_->resize(kJob, {core(0), core(0)});
  ASSERT_TRUE(until([&] { return seen_.resized == 1; }));
  EXPECT_TRUE(has_started());
  EXPECT_TRUE(is_bound(rank(1), local_.pu_of_core[0]));
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().verification, Verification::kPassed);
}

TEST_F(Launcher, RanksThatStartOnOneCoreGetThroughQuickly) {
  start();
  auto job = order({REPLAY_RANK_PROGRAM, "talk", "0.2"}, 4);
  std::ranges::fill(job.core_of_rank, core(0));
  executor_->launch(job);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
}

TEST_F(Launcher, ARunningExpandedJobIsMeasured) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "2.5"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  ASSERT_FALSE(seen_.measured.empty());
  EXPECT_GT(seen_.measured.back(), 0.9);
  EXPECT_GT(its_end().cpu_use, 0.9);
}

TEST_F(Launcher, JobsRunSideBySide) {
  start();
  for (int number = 1; number <= 3; ++number) {
    fs::create_directories(directory_ / std::to_string(number));
    auto job = order({REPLAY_RANK_PROGRAM, "talk", "0.3"}, 2, JobId{number});
    job.directory = directory_ / std::to_string(number);
    executor_->launch(job);
  }
  ASSERT_TRUE(until([&] { return seen_.ended.size() == 3; }));
  for (const auto& [id, end] : seen_.ended) EXPECT_EQ(end.outcome, Outcome::kCompleted) << end.reason;
}

TEST_F(Launcher, AStrayBackgroundProcessEndsWithItsJob) {
  start();
  launch({REPLAY_RANK_PROGRAM, "stray"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, AnOrderForAnUnknownJobIsAnsweredByNothing) {
  start();
  executor_->suspend(JobId{99});
  launch({"/bin/true"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_TRUE(seen_.failed.empty());
}

TEST_F(Launcher, TheAgentsDeathIsReportedAndCleanedUp) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  ::kill(agent_pid_, SIGKILL);
  ASSERT_TRUE(until([&] { return seen_.lost.has_value(); }, 3s));
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
  EXPECT_FALSE(has_ended());
}

TEST_F(Launcher, DestroyingTheExecutorEndsTheJobs) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  const auto begin = Clock::now();
  executor_->detach();
  executor_.reset();
  EXPECT_LT(Clock::now() - begin, 3s);
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, KillingTheDaemonLeavesNothingWithinTwoSeconds) {
  for (const bool is_suspended : {false, true}) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t daemon = ::fork();
    if (daemon == 0) {  // plays the daemon until it is killed
      start();
      launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
      bool is_ready = until([&] { return has_started(); });
      if (is_suspended) {
        executor_->suspend(kJob);
        is_ready = is_ready && until([&] { return seen_.suspended == 1; });
      }
      const char answer = is_ready ? 'y' : 'n';
      (void)!::write(told[1], &answer, 1);
      while (true) ::pause();
    }
    ::close(told[1]);
    char answer = 0;
    ASSERT_EQ(::read(told[0], &answer, 1), 1);
    ::close(told[0]);
    EXPECT_EQ(answer, 'y');
    socket_mark_.clear();
    for (const auto& entry : fs::directory_iterator{directory_ / "run"})
      socket_mark_ = "REPLAY_VM_SOCKET=" + (entry.path() / "socket").string();
    EXPECT_GE(its_processes().size(), 4U);  // mpiexec, its proxy, two ranks
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    const auto begin = Clock::now();
    loop_.reset(event_base_new());
    EXPECT_TRUE(until([&] { return fs::is_empty(directory_ / "run") && its_processes().empty(); }, 2s));
    std::cout << "all gone after "
              << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count() << " ms\n";
  }
}

}  // namespace
}  // namespace replay::launcher
