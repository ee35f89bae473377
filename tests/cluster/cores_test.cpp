// Tests of real MPI jobs that share cores, among their own ranks and with each other, while they are moved, stopped and
// ended.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launcher/agent/cores/busy_cores.hpp"
#include "launcher/daemon/agent_session.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "launcher/os/binding.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/busy_loop.hpp"
#include "tests/support/cores_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Cores : public SharedCores {
 protected:
  /// A command that exchanges messages for so long and then verifies its result.
  static std::vector<std::string> talk(const char* seconds) { return {REPLAY_RANK_PROGRAM, "talk", seconds}; }
  [[nodiscard]] CoreTime time_of(int core) const {
    return sample_cores({}).times[static_cast<std::uint32_t>(number(pu_of(core)))];
  }
  void need_two_cores() {
    if (local_.machine.size() < 2) GTEST_SKIP() << "needs two cores";
  }
};

/// Whether it goes back to sched_yield afterwards depends on what else this machine does.
TEST_F(Cores, WhereOthersComeToComputeARunningJobUsesTheToken) {
  options_.back_end = BackEnd::kAuto;
  start();
  launch_on(kFirst, talk("300"), {0, 0});
  ASSERT_TRUE(starts(kFirst));
  const CoreTime before = time_of(0);
  const test::BusyLoop loop{pu_of(0)};
  ASSERT_TRUE(loop.is_running());
  ASSERT_TRUE(until([&] { return loop.ran_ns() > 20'000'000; }, 60s));
  if (time_of(0) == before) GTEST_SKIP() << "/proc/stat does not tell the time that a core was busy";
  for (const std::uint32_t rank : {0U, 1U})
    EXPECT_TRUE(until([&] { return slot(kFirst, rank).orders.back_end == REPLAY_VM_TOKEN; }, 60s)) << rank;
  EXPECT_TRUE(hands_off(kFirst, 2));
  EXPECT_TRUE(until([&] { return token(0).handovers > 0; }));
  finish_verified(kFirst);
}

TEST_F(Cores, TwoJobsOnTheSameCoresHandThemToEachOtherByToken) {
  options_.back_end = BackEnd::kAuto;
  start();
  need_two_cores();
  launch_on(kFirst, talk("60"), {0, 1});
  ASSERT_TRUE(starts(kFirst));
  EXPECT_EQ(slot(kFirst, 0).orders.shared, 0U);
  launch_on(kSecond, talk("60"), {0, 1});
  ASSERT_TRUE(starts(kSecond));
  for (const JobId job : {kFirst, kSecond}) {
    for (const std::uint32_t rank : {0U, 1U}) {
      EXPECT_EQ(slot(job, rank).orders.shared, 1U);
      EXPECT_EQ(slot(job, rank).orders.back_end, static_cast<std::uint32_t>(REPLAY_VM_TOKEN));
      EXPECT_EQ(slot(job, rank).orders.mpl, 1U);
    }
    EXPECT_TRUE(hands_off(job, 2));
  }
  EXPECT_TRUE(until([&] { return token(0).handovers > 0 && token(1).handovers > 0; }));
  finish_verified(kSecond);
  EXPECT_EQ(slot(kFirst, 0).orders.shared, 0U) << "it is alone again";
  EXPECT_EQ(slot(kFirst, 1).orders.shared, 0U);
  finish_verified(kFirst);
}

TEST_F(Cores, ASharedCoreIsHandedOverByTheBackEndThatWasAskedFor) {
  for (const BackEnd back_end : {BackEnd::kYield, BackEnd::kToken}) {
    options_.back_end = back_end;
    seen_ = {};
    start();
    launch_on(kFirst, talk("60"), {0, 0});
    ASSERT_TRUE(starts(kFirst));
    EXPECT_EQ(slot(kFirst, 0).orders.back_end == REPLAY_VM_TOKEN, back_end == BackEnd::kToken);
    EXPECT_TRUE(hands_off(kFirst, 2));
    if (back_end == BackEnd::kToken)
      EXPECT_TRUE(until([&] { return token(0).handovers > 0; }));
    else
      EXPECT_EQ(token(0).handovers, 0U);
    finish_verified(kFirst);
    executor_.reset();
  }
}

TEST_F(Cores, UpToFourRanksShareACoreAndTheResultIsRight) {
  start();
  need_two_cores();
  launch_on(kFirst, talk("60"), {0, 1, 0, 1});
  ASSERT_TRUE(starts(kFirst));
  using Where = std::vector<int>;
  const Where three_and_one{0, 0, 0, 1};
  for (int round = 0; round < 10; ++round) {
    for (const auto& [cores, mpl] : std::vector<std::pair<Where, std::uint32_t>>{
             {{0, 0, 0, 0}, 4}, {three_and_one, 3}, {{1, 1, 1, 1}, 4}, {{1, 1, 0, 0}, 2}}) {
      ASSERT_TRUE(moves(kFirst, cores));
      EXPECT_EQ(slot(kFirst, 0).orders.mpl, mpl);
      EXPECT_EQ(slot(kFirst, 3).orders.shared, cores == three_and_one ? 0U : 1U);
      for (int number = 0; number < 4; ++number)
        EXPECT_TRUE(is_bound(slot(kFirst, static_cast<std::uint32_t>(number)).report.pid,
                             pu_of(cores[static_cast<std::size_t>(number)])));
    }
  }
  finish_verified(kFirst);
}

TEST_F(Cores, ThreeRanksFitOnTwoCores) {
  start();
  need_two_cores();
  launch_on(kFirst, talk("60"), {0, 0, 1});
  ASSERT_TRUE(starts(kFirst));
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(moves(kFirst, {1, 1, 1}));
    ASSERT_TRUE(moves(kFirst, {0, 1, 1}));
    EXPECT_EQ(slot(kFirst, 0).orders.shared, 0U);
    EXPECT_EQ(slot(kFirst, 2).orders.shared, 1U);
  }
  finish_verified(kFirst);
}

TEST_F(Cores, AJobThatMovesOntoAnothersCoreIsMarkedThereAndUnmarkedBehindIt) {
  start();
  need_two_cores();
  launch_on(kFirst, talk("3"), {0});
  launch_on(kSecond, talk("3"), {1});
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(moves(kSecond, {0}));
    EXPECT_EQ(slot(kFirst, 0).orders.shared, 1U);
    EXPECT_EQ(slot(kSecond, 0).orders.shared, 1U);
    ASSERT_TRUE(moves(kSecond, {1}));
    EXPECT_EQ(slot(kFirst, 0).orders.shared, 0U);
    EXPECT_EQ(slot(kSecond, 0).orders.shared, 0U);
  }
  executor_->end(kSecond, Outcome::kKilled);
  ASSERT_TRUE(ends(kSecond));
  expect_verified(kFirst);
}

TEST_F(Cores, AJobIsMeasuredOnlyWhileItIsAloneOnItsCores) {
  start();
  launch_on(kFirst, talk("30"), {0});
  ASSERT_TRUE(starts(kFirst));
  launch_on(kSecond, {REPLAY_RANK_PROGRAM, "compute", "2.5"}, {0});
  ASSERT_TRUE(starts(kSecond));
  const std::size_t before = seen_.measured.size();
  ASSERT_TRUE(ends(kSecond));
  // Without the rule there would be two for each job; one may come together with the end.
  EXPECT_LE(seen_.measured.size(), before + 1) << "they were measured while they shared a core";
  ASSERT_TRUE(until([&] { return seen_.measured.size() > before + 1; })) << "it is alone again";
  executor_->end(kFirst, Outcome::kKilled);
  ASSERT_TRUE(ends(kFirst));
}

TEST_F(Cores, ASuspendedJobIsReallyStoppedAndLeavesTheCoreToTheOther) {
  start();
  launch_on(kFirst, talk("60"), {0, 0});
  launch_on(kSecond, talk("60"), {0});
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  for (int round = 1; round <= 10; ++round) {
    executor_->suspend(kFirst);
    ASSERT_TRUE(until([&] { return seen_.suspended == round; }));
    for (const std::uint32_t number : {0U, 1U}) {
      const auto pid = slot(kFirst, number).report.pid;
      EXPECT_TRUE(is_stopped(pid)) << "rank " << number;
      EXPECT_NE(token(0).holder, static_cast<std::uint32_t>(pid));
    }
    EXPECT_EQ(slot(kSecond, 0).orders.shared, 0U);
    executor_->resume(kFirst);
    ASSERT_TRUE(until([&] { return seen_.resumed == round; }));
    EXPECT_EQ(slot(kSecond, 0).orders.shared, 1U);
    EXPECT_TRUE(hands_off(kFirst, 2));
  }
  for (const JobId job : {kFirst, kSecond}) {
    executor_->end(job, Outcome::kKilled);
    ASSERT_TRUE(ends(job));
  }
}

TEST_F(Cores, RanksThatNeverRegisterAreBoundByTheAgent) {
  options_.vmlib.clear();
  options_.mpiexec = directory_ / "mpiexec";  // a wrapper that ignores the binding
  const auto real = find_program("mpiexec").value();
  std::ofstream{options_.mpiexec} << "#!/bin/sh\nwhile [ \"$1\" != -bind-to ]; do shift; done\n"
                                  << "shift 2\nexec " << real.string()
                                  << " -launcher fork -rmk user -bind-to none \"$@\"\n";
  fs::permissions(options_.mpiexec, fs::perms::owner_all);
  start();
  need_two_cores();
  launch_on(kFirst, {REPLAY_RANK_PROGRAM, "compute", "60"}, {1, 0});
  ASSERT_TRUE(starts(kFirst));
  EXPECT_FALSE(seen_.started.at(kFirst));
  const auto is_where_it_should_be = [&](int number, int core) {
    const std::string note = "rank " + std::to_string(number) + " was not on its core";
    return output(kFirst, "notes").find(note) != std::string::npos && is_bound(rank(number), pu_of(core));
  };
  EXPECT_TRUE(until([&] { return is_where_it_should_be(0, 1) && is_where_it_should_be(1, 0); }))
      << output(kFirst, "notes");
  executor_->end(kFirst, Outcome::kKilled);
  ASSERT_TRUE(ends(kFirst));
}

/// As a threaded library does long after MPI_Init.
void take_all_cores(pid_t thread) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const PuId pu : affinity_mask()) CPU_SET(index_of(pu), &all);
  ASSERT_EQ(::sched_setaffinity(thread, sizeof all, &all), 0);
}

TEST_F(Cores, AThreadThatLeavesItsCoreIsPutBackAsLongAsTheJobRuns) {
  start();
  need_two_cores();
  launch_on(kFirst, talk("60"), {1, 0});
  ASSERT_TRUE(starts(kFirst));
  for (int times = 0; times < 7; ++times) {  // the last ones after the looks that belong to the start
    take_all_cores(threads_of(rank(1)).back());
    ASSERT_TRUE(until([&] { return is_bound(rank(1), pu_of(0)); })) << "time " << times;
    EXPECT_TRUE(is_bound(rank(0), pu_of(1)));
  }
  executor_->end(kFirst, Outcome::kKilled);
  ASSERT_TRUE(ends(kFirst));
  const std::string notes = output(kFirst, "notes"), its_core = std::to_string(number(pu_of(0)));
  EXPECT_EQ(notes.find("rank 0"), std::string::npos) << notes;
  EXPECT_NE(notes.find("rank 1 was not on its core " + its_core + " and was moved there: thread "), std::string::npos)
      << notes;
  EXPECT_NE(notes.find("rank 1 was put back 7 times"), std::string::npos) << notes;
  ASSERT_EQ(seen_.noted.size(), 2U);
  EXPECT_EQ(seen_.noted[0] + "\n" + seen_.noted[1] + "\n", notes);
}

/// Two processes that rank 0 starts by an mpiexec of its own; other ranks sleep.
class InnerMpiexec : public Cores {
 protected:
  void start_inner(const std::vector<int>& job_on, int first, int second) {
    options_.vmlib.clear();
    start();
    need_two_cores();
    if (IsSkipped()) return;
    const std::string bind = std::to_string(number(pu_of(first))) + "," + std::to_string(number(pu_of(second)));
    launch_on(
        kFirst,
        {"/bin/sh", "-c",
         "[ $PMI_RANK = 0 ] || exec sleep 60; exec mpiexec -n 2 -genv INNER yes -bind-to user:" + bind + " sleep 60"},
        job_on);
    ASSERT_TRUE(starts(kFirst));
    ASSERT_TRUE(until([&] { return inner(0) != 0 && inner(1) != 0; })) << output(kFirst, "stderr");
  }
  [[nodiscard]] pid_t inner(int rank) const {
    for (const pid_t pid : its_processes())
      if (environment_has(pid, "INNER=yes") && environment_has(pid, "PMI_RANK=" + std::to_string(rank))) return pid;
    return 0;
  }
  void end_it() {
    executor_->end(kFirst, Outcome::kKilled);
    ASSERT_TRUE(ends(kFirst));
  }
};

TEST_F(InnerMpiexec, ItsRanksStayWhereItHasPutThemOnTheJobsCores) {
  start_inner({0, 1}, 1, 0);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_FALSE(until([] { return false; }, 2500ms)) << "time for two measurements";
  EXPECT_TRUE(is_bound(inner(0), pu_of(1)));
  EXPECT_TRUE(is_bound(inner(1), pu_of(0)));
  end_it();
  EXPECT_EQ(output(kFirst, "notes"), "");
}

TEST_F(InnerMpiexec, ItsRanksComeBackFromCoresOfOtherJobs) {
  start_inner({0}, 0, 1);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(until([&] { return is_bound(inner(1), pu_of(0)); }));
  EXPECT_TRUE(is_bound(inner(0), pu_of(0)));
  end_it();
  const std::string its_core = std::to_string(number(pu_of(0)));
  const std::string expected = "a process outside the ranks was not on the job's cores " + its_core + " and was moved";
  EXPECT_NE(output(kFirst, "notes").find(expected), std::string::npos) << output(kFirst, "notes");
}

TEST_F(Cores, AProcessThatARankHasLeftBehindComesBackToo) {
  start();
  need_two_cores();
  const std::string other = std::to_string(number(pu_of(1)));
  launch_on(kFirst,
            {"/bin/sh", "-c", "(setsid taskset -c " + other + " sleep 60 &); exec " REPLAY_RANK_PROGRAM " talk 60"},
            {0});
  ASSERT_TRUE(starts(kFirst));
  EXPECT_TRUE(until([&] { return is_bound(process_named("sleep"), pu_of(0)); }));
  executor_->end(kFirst, Outcome::kKilled);
  ASSERT_TRUE(ends(kFirst));
}

TEST_F(Cores, AChildOfARankMovesWithIt) {
  start();
  need_two_cores();
  launch_on(kFirst, {"/bin/sh", "-c", "sleep 60 & exec " REPLAY_RANK_PROGRAM " talk 60"}, {0});
  ASSERT_TRUE(starts(kFirst));
  ASSERT_TRUE(until([&] { return process_named("sleep") != 0; }));
  for (const int core : {1, 0, 1}) {
    ASSERT_TRUE(moves(kFirst, {core}));
    EXPECT_TRUE(until([&] { return is_bound(process_named("sleep"), pu_of(core)); })) << "it follows after the answer";
  }
  executor_->end(kFirst, Outcome::kKilled);
  ASSERT_TRUE(ends(kFirst));
  EXPECT_EQ(output(kFirst, "notes"), "") << "we have moved it";
}

TEST_F(Cores, NothingIsLeftInTheAgentBehindJobsThatHaveEnded) {
  start();
  const auto descriptors = [&] {
    const fs::directory_iterator all{fs::path{"/proc"} / std::to_string(agent_pid_) / "fd"};
    return std::distance(fs::begin(all), fs::end(all));
  };
  launch_on(kFirst, talk("0"), {0, 0});
  expect_verified(kFirst);
  ASSERT_TRUE(until([&] { return its_processes().empty(); }));
  const auto before = descriptors();
  for (int job = 10; job < 20; ++job) {
    launch_on(JobId{job}, talk(job % 2 == 0 ? "0" : "60"), {0, number(core(1))});
    if (job % 2 == 0) continue;
    ASSERT_TRUE(starts(JobId{job}));
    executor_->end(JobId{job}, Outcome::kKilled);
  }
  for (int job = 10; job < 20; ++job) ASSERT_TRUE(ends(JobId{job}));
  EXPECT_TRUE(until([&] { return descriptors() <= before; })) << descriptors() << " instead of " << before;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator{agent_directory()}) files.push_back(entry.path().filename());
  std::ranges::sort(files);
  EXPECT_EQ(files, (std::vector<std::string>{"proxies", "replay-agent", "socket"}));
  for (const replay_vm_seat& seat : token(0).seats) EXPECT_EQ(seat.wanter, 0U);
  EXPECT_EQ(token(0).holder, 0U);
}

/// The agent as seen by the daemon's client.
class Line : public SharedCores {
 protected:
  void connect(std::chrono::milliseconds silence_limit) {
    agent_.emplace(start_agent(options_));
    agent_pid_ = agent_->pid();
    socket_mark_ = "REPLAY_VM_SOCKET=" + (agent_->directory() / "socket").string();
    loop_.reset(event_base_new());
    client_.emplace(
        loop_.get(), agent_->stream(), [this](const protocol::AgentReport& report) { reports_.push_back(report); },
        [this](const std::string& reason) { lost_ = reason; }, silence_limit);
  }
  void TearDown() override {
    client_.reset();
    agent_.reset();
    SharedCores::TearDown();
  }
  void launch_at(const std::vector<std::string>& command, const std::vector<std::int32_t>& core_of_rank) {
    client_->send(protocol::LaunchJob{kFirst, command, {}, directory_ / "job", core_of_rank, true, 0});
  }
  /// The last report of this type.
  template <typename Report>
  const Report* seen() const {
    for (auto report = reports_.rbegin(); report != reports_.rend(); ++report)
      if (const auto* found = std::get_if<Report>(&*report)) return found;
    return nullptr;
  }

  std::optional<AgentHandle> agent_;
  std::vector<protocol::AgentReport> reports_;
  std::string lost_;
  std::optional<AgentSession> client_;
};

TEST_F(Line, AnAgentThatIsStoppedIsMissedAndItsJobsAreEndedInItsPlace) {
  connect(2s);
  launch_at({REPLAY_RANK_PROGRAM, "compute", "60"}, {number(affinity_mask().front())});
  ASSERT_TRUE(until([&] { return seen<protocol::JobStarted>() != nullptr; }));
  EXPECT_EQ(lost_, "");
  send_signal(agent_->pid(), SIGSTOP);
  ASSERT_TRUE(until([&] { return !lost_.empty(); }));
  EXPECT_EQ(lost_, "the node agent has not been heard of for 2 s");
  agent_->stop();
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
  EXPECT_FALSE(fs::exists(agent_->directory()));
}

TEST_F(Line, AStartThatCannotBeTrueIsTheArrivalOfTheOrder) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  connect(AgentSession::kSilenceLimit);
  std::int64_t last_job = 0;
  for (const bool is_believed : {true, false, false, false}) {
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t given = std::vector{now - kSecondNs, std::uint64_t{0}, now + 3600 * kSecondNs,
                                            now - 61 * kSecondNs}[static_cast<std::size_t>(last_job)];
    const JobId job{++last_job};
    client_->send(protocol::LaunchJob{job,
                                      {REPLAY_RANK_PROGRAM, "compute", "60"},
                                      {},
                                      directory_ / "job",
                                      {number(affinity_mask().front())},
                                      true,
                                      given});
    ASSERT_TRUE(until([&] { return header(job).start_ns != 0; }));
    if (is_believed)
      EXPECT_EQ(header(job).start_ns, given);
    else
      EXPECT_TRUE(header(job).start_ns >= now && header(job).start_ns <= monotonic_ns()) << "job " << last_job;
  }
}

TEST_F(Line, StatisticsSayHowTheCoreIsGivenAwayAndHowOften) {
  for (const BackEnd back_end : {BackEnd::kYield, BackEnd::kToken}) {
    options_.back_end = back_end;
    connect(AgentSession::kSilenceLimit);
    const std::int32_t pu = number(affinity_mask().front());
    launch_at({REPLAY_RANK_PROGRAM, "talk", "60"}, {pu, pu});
    ASSERT_TRUE(until([&] { return seen<protocol::JobStarted>() != nullptr; }));
    ASSERT_TRUE(until([&] {
      client_->send(protocol::AskStatistics{kFirst});
      const auto* found = seen<protocol::JobStatistics>();
      return found != nullptr && found->ranks.at(0).handoffs > 0 && found->ranks.at(1).handoffs > 0;
    }));
    EXPECT_EQ(seen<protocol::JobStatistics>()->back_end, back_end == BackEnd::kToken ? "token" : "yield");
    EXPECT_EQ(seen<protocol::JobStatistics>()->mode, "progress");
    client_.reset();
    agent_.reset();
    reports_.clear();
  }
}

}  // namespace
}  // namespace replay::launcher
