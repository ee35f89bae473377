// Runs with --keep-jobs whose daemon was killed, and what is wrong when they are to go on: a damaged turn log or that of
// another run, a trace or policy that has changed, two daemons, a lease that is over. What cannot go on is
// refused, and the run and its jobs stay as they are.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/hosts_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestStep{60};

// Two jobs that run until they may end, and one behind them.
constexpr const char* kTrace =
    "; MaxProcs: 2\n"
    "1 0 -1 600 1 600 -1 1 1000 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "2 0 -1 600 1 600 -1 1 1000 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "3 0 -1 600 2 600 -1 2 1000 -1 1 1 1 -1 -1 -1 -1 -1\n";

constexpr const char* kJobThatWaits = R"sh(#!/bin/sh
# job.sh FOLDER ID
[ "${PMI_RANK:-0}" = 0 ] && echo "$2 start" >>"$1/starts"
until [ -e "$1/go" ]; do sleep 0.05; done
)sh";

class ResumedRuns : public Hosts {
 protected:
  void SetUp() override {
    Hosts::SetUp();
    if (IsSkipped()) return;
    lease_ = "60s";
    write_text(folder_ / "t.swf", kTrace);
    write_text(folder_ / "job.sh", kJobThatWaits);
    fs::permissions(folder_ / "job.sh", fs::perms::owner_all);
  }
  void TearDown() override {
    write_text(folder_ / "go", "");
    Hosts::TearDown();
  }
  [[nodiscard]] std::vector<std::string> new_run(const fs::path& folder) const {
    return {"--trace",    (folder_ / "t.swf").string(),
            "--policy",   "fcfs",
            "--machine",  machine_,
            "--program",  fmt::format("{} {} {{id}}", (folder_ / "job.sh").string(), folder_.path().string()),
            "--out",      folder.string(),
            "--lease",    lease_,
            "--yes",      "--plain",
            "--keep-jobs"};
  }
  [[nodiscard]] std::vector<std::string> resumed(const fs::path& folder) const {
    return {"--resume", folder.string(), "--plain"};
  }
  [[nodiscard]] fs::path in_run(const char* name) const { return folder_ / "r" / name; }
  [[nodiscard]] std::string starts() const { return text_of(folder_ / "starts"); }
  [[nodiscard]] bool is_started(int job) const {
    return starts().find(fmt::format("{} start\n", job)) != std::string::npos;
  }
  /// The daemon of a run whose first two jobs run.
  [[nodiscard]] std::unique_ptr<Background> with_two_running_jobs() {
    auto running = daemon(new_run(folder_ / "r"));
    EXPECT_TRUE(comes_true(
        [this] { return is_started(1) && is_started(2) && events().find(" launch job=2") != std::string::npos; },
        kLongestStep))
        << running->out() << events();
    return running;
  }
  static void kill_daemon(Background& daemon) {
    daemon.send(SIGKILL);
    EXPECT_EQ(daemon.wait(), 128 + SIGKILL);
  }
  static int status_of(Background& daemon) {
    EXPECT_TRUE(comes_true([&] { return !daemon.is_running(); }, kLongestStep)) << daemon.out();
    if (daemon.is_running()) daemon.send(SIGKILL);
    return daemon.wait();
  }
  void expect_refused(const std::string& why) {
    const auto tried = daemon(resumed(folder_ / "r"), "refused");
    const int status = status_of(*tried);
    const std::string said = text_of(folder_ / "refused");
    EXPECT_EQ(status, 1) << said;
    EXPECT_TRUE(std::regex_search(said, std::regex{why})) << "expected " << why << ", found " << said;
    EXPECT_EQ(events(), log_) << "the event log has changed: " << why;
  }
  void expect_three_completed_jobs(Background& daemon) {
    write_text(folder_ / "go", "");
    const int status = status_of(daemon);
    EXPECT_EQ(status, 0) << daemon.out() << events();
    EXPECT_TRUE(events().starts_with(log_)) << events();
    for (int job = 1; job <= 3; ++job) {
      EXPECT_NE(events().find(fmt::format(" finish job={} outcome=completed", job)), std::string::npos) << events();
      EXPECT_EQ(starts().find(fmt::format("{} start\n", job)), starts().rfind(fmt::format("{} start\n", job)));
    }
    expect_nothing_left(std::chrono::seconds{5});
  }

  std::string log_;  // of the run, when its daemon was killed
};

TEST_F(ResumedRuns, OneThatCannotGoOnIsRefusedAndStaysAsItIs) {
  write_text(folder_ / "go", "");
  auto other = daemon(new_run(folder_ / "other"));
  ASSERT_EQ(status_of(*other), 0) << other->out();
  for (const char* name : {"go", "starts"}) fs::remove(folder_ / name);
  auto first = with_two_running_jobs();
  const auto stays = [this](const fs::path& file, const std::string& text, const std::string& why) {
    const std::string before = text_of(file);
    write_text(file, text);
    expect_refused(why);
    write_text(file, before);
  };
  kill_daemon(*first);
  log_ = events();

  const std::string turns = text_of(in_run("turns.log"));
  for (std::size_t size = 0; size < turns.size() / 2; size += 97)
    stays(in_run("turns.log"), turns.substr(0, size),
          "turns\\.log: says nothing of its run|events\\.log: does not come out");
  std::string flipped = turns;
  flipped[turns.size() / 2] = static_cast<char>(flipped[turns.size() / 2] ^ 1);
  stays(in_run("turns.log"), flipped, "turns\\.log: record [0-9]+ at byte [0-9]+ is damaged");
  stays(in_run("turns.log"), text_of(folder_ / "other/turns.log"), "r: is a copy of the folder in which the run began");
  stays(folder_ / "t.swf", std::string{kTrace} + "4 0 -1 1 1 1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n",
        "t\\.swf: has changed since the run: expected sha256");
  const std::string about = text_of(in_run("run.json"));
  stays(in_run("run.json"), std::regex_replace(about, std::regex{"\"fcfs\""}, "\"easy\""), "does not come out");
  fs::remove(in_run("turns.log"));
  expect_refused("turns\\.log: cannot be opened: No such file");
  write_text(in_run("turns.log"), turns);

  auto last = daemon(resumed(folder_ / "r"));
  EXPECT_TRUE(comes_true([this] { return events().find("the run goes on") != std::string::npos; }, kLongestStep))
      << last->out();
  expect_three_completed_jobs(*last);
}

TEST_F(ResumedRuns, OneDaemonHasIt) {
  auto first = with_two_running_jobs();
  log_ = events();
  expect_refused("turns\\.log: another process has it: its run goes on");
  kill_daemon(*first);
  log_ = events();
  auto one = daemon(resumed(folder_ / "r"), "one"), two = daemon(resumed(folder_ / "r"), "two");
  EXPECT_TRUE(comes_true([&] { return !one->is_running() || !two->is_running(); }, kLongestStep));
  if (!two->is_running()) std::swap(one, two);
  const std::string said = one->out();
  EXPECT_EQ(one->wait(), 1) << said;
  EXPECT_NE(said.find("another process has it"), std::string::npos) << said;
  EXPECT_TRUE(comes_true([this] { return events().find("the run goes on") != std::string::npos; }, kLongestStep))
      << two->out();
  expect_three_completed_jobs(*two);
}

TEST_F(ResumedRuns, EndsThatCameWhileNoDaemonWasThereSaySo) {
  auto first = with_two_running_jobs();
  kill_daemon(*first);
  log_ = events();
  write_text(folder_ / "go", "");
  ASSERT_TRUE(comes_true([this] { return named("job.sh").empty(); }, kLongestStep));
  auto last = daemon(resumed(folder_ / "r"));
  expect_three_completed_jobs(*last);
  EXPECT_TRUE(std::regex_search(events(), std::regex{"finish job=1 outcome=completed.* reason=\"it may have ended up "
                                                     "to [0-9.]+ s earlier, while no daemon was there\""}))
      << events();
  EXPECT_FALSE(std::regex_search(events(), std::regex{"finish job=3 .* reason="})) << events();
}

// The jobs of a run that is told to end do not heed that at once, and meanwhile its daemon is killed.
TEST_F(ResumedRuns, OneThatWasToldToEndHasTheExitStatusOfThat) {
  write_text(folder_ / "job.sh", std::string{kJobThatWaits}.replace(10, 0, "trap '' TERM\n"));
  auto first = with_two_running_jobs();
  first->send(SIGTERM);
  ASSERT_TRUE(
      comes_true([this] { return std::regex_search(events(), std::regex{"note text=\"?interrupted"}); }, kLongestStep))
      << events();
  kill_daemon(*first);
  log_ = events();
  auto last = daemon(resumed(folder_ / "r"));
  EXPECT_EQ(status_of(*last), 128 + SIGTERM) << last->out();
  for (const char* one :
       {"finish job=1 outcome=killed", "finish job=2 outcome=killed", "finish job=3 outcome=cancelled"})
    EXPECT_NE(events().find(one), std::string::npos) << one << events();
  expect_nothing_left(std::chrono::seconds{5});
}

TEST_F(ResumedRuns, AfterTheLeaseItsJobsAreLost) {
  lease_ = "2s";
  auto first = with_two_running_jobs();
  kill_daemon(*first);
  log_ = events();
  expect_nothing_left(kLongestStep);  // the agent has ended the jobs
  auto last = daemon(resumed(folder_ / "r"));
  EXPECT_EQ(status_of(*last), 1) << last->out();
  EXPECT_TRUE(events().starts_with(log_)) << events();
  for (int job = 1; job <= 2; ++job)
    EXPECT_TRUE(std::regex_search(
        events(),
        std::regex{fmt::format("finish job={} outcome=failed.*could not be mended within the lease of 2 s", job)}))
        << events() << text_of(folder_ / "out");
  EXPECT_TRUE(
      std::regex_search(text_of(folder_ / "out"), std::regex{"the run ended early: .* within the lease of 2 s"}))
      << text_of(folder_ / "out");
}

TEST_F(ResumedRuns, AnAgentThatIsGoneIsNotWaitedFor) {
  auto first = with_two_running_jobs();
  kill_daemon(*first);
  log_ = events();
  for (const pid_t agent : named("replay")) send_signal(agent, SIGKILL);
  expect_nothing_left(kLongestStep);
  auto last = daemon(resumed(folder_ / "r"));
  EXPECT_TRUE(comes_true([&] { return !last->is_running(); }, std::chrono::seconds{30})) << "it waits for its lease";
  EXPECT_EQ(status_of(*last), 1) << last->out();
  EXPECT_NE(events().find(" finish job=1 outcome=failed"), std::string::npos) << events();
}

TEST_F(ResumedRuns, ACopyIsRefusedAndAMovedFolderGoesOn) {
  auto first = with_two_running_jobs();
  kill_daemon(*first);
  log_ = events();
  fs::copy(folder_ / "r", folder_ / "copy", fs::copy_options::recursive);
  auto copied = daemon(resumed(folder_ / "copy"), "copied");
  EXPECT_EQ(status_of(*copied), 1);
  EXPECT_NE(copied->out().find("copy: is a copy of the folder in which the run began"), std::string::npos)
      << copied->out();
  fs::rename(folder_ / "r", folder_ / "moved");
  auto last = daemon(resumed(folder_ / "moved"));
  EXPECT_TRUE(comes_true(
      [this] { return text_of(folder_ / "moved/events.log").find("its jobs are found again") != std::string::npos; },
      kLongestStep))
      << last->out();
  write_text(folder_ / "go", "");
  EXPECT_EQ(status_of(*last), 0) << last->out();
  fs::rename(folder_ / "moved", folder_ / "r");
  expect_three_completed_jobs(*last);
}

TEST_F(ResumedRuns, OneThatWasKilledAsItWasPlayedBackGoesOn) {
  auto first = with_two_running_jobs();
  kill_daemon(*first);
  log_ = events();
  fs::rename(in_run("events.log"), in_run("events.log.before"));
  write_text(in_run("events.log"), log_.substr(0, log_.size() / 2));
  auto last = daemon(resumed(folder_ / "r"));
  EXPECT_TRUE(comes_true([this] { return events().find("the run goes on") != std::string::npos; }, kLongestStep))
      << last->out();
  expect_three_completed_jobs(*last);
  EXPECT_FALSE(fs::exists(in_run("events.log.before")));
}

void limit_files(pid_t pid, rlim_t bytes) {
  rlimit limit{};
  ASSERT_EQ(::prlimit(pid, RLIMIT_FSIZE, nullptr, &limit), 0);
  limit.rlim_cur = bytes;
  ASSERT_EQ(::prlimit(pid, RLIMIT_FSIZE, &limit, nullptr), 0);
}

// As on a full disk.
TEST_F(ResumedRuns, OneThatIsStoppedWhileItsTurnsCannotBeWrittenLeavesItsJobs) {
  auto first = with_two_running_jobs();
  log_ = events();
  limit_files(first->pid(), fs::file_size(in_run("turns.log")));
  first->send(SIGTERM);
  EXPECT_EQ(status_of(*first), 128 + SIGTERM) << first->out();
  EXPECT_NE(first->out().find("turns.log: cannot be written: File too large"), std::string::npos) << first->out();
  EXPECT_NE(first->out().find("stopped: the jobs go on for 1 min"), std::string::npos) << first->out();
  EXPECT_FALSE(fs::exists(in_run("jobs.csv"))) << "it is not over";
  auto last = daemon(resumed(folder_ / "r"));
  EXPECT_TRUE(
      comes_true([this] { return events().find("its jobs are found again") != std::string::npos; }, kLongestStep))
      << last->out();
  expect_three_completed_jobs(*last);
}

TEST_F(ResumedRuns, WithoutRoomOnTheDiskItStaysAsItIs) {
  auto first = with_two_running_jobs();
  kill_daemon(*first);
  log_ = events();
  const std::string again =
      fmt::format("ulimit -S -f {}; exec {} --resume {} --plain", fs::file_size(in_run("run.json")) / 512 + 1,
                  REPLAY_PROGRAM, (folder_ / "r").string());
  const ShellResult tried = shell("sh -c '" + again + "'");
  EXPECT_EQ(tried.status, 1) << tried.err;
  EXPECT_NE(
      tried.err.find("cannot be written: File too large; the run stays as it was: expected to go on with it when"),
      std::string::npos)
      << tried.err;
  EXPECT_EQ(events(), log_);
  auto last = daemon(resumed(folder_ / "r"));
  EXPECT_TRUE(
      comes_true([this] { return events().find("its jobs are found again") != std::string::npos; }, kLongestStep))
      << last->out();
  last->send(SIGINT);
  EXPECT_EQ(status_of(*last), 128 + SIGINT) << last->out();
}

TEST_F(ResumedRuns, ProgramsOfItsTraceNeedTheSameConsent) {
  const std::string trace = std::regex_replace(kTrace, std::regex{" 1 1 1 -1 "}, " 1 1 1 1 ");
  write_text(folder_ / "t.swf", fmt::format("; Program: 1 {} {} {{id}}\n{}", (folder_ / "job.sh").string(),
                                            folder_.path().string(), trace));
  std::vector<std::string> command = new_run(folder_ / "r");
  command.erase(command.begin() + 6, command.begin() + 8);  // --program
  command.emplace_back("--programs-from-trace");
  auto first = daemon(command);
  ASSERT_TRUE(comes_true([this] { return is_started(1) && is_started(2); }, kLongestStep)) << first->out();
  kill_daemon(*first);
  log_ = events();
  const std::string about = text_of(in_run("run.json"));
  write_text(in_run("run.json"), std::regex_replace(about, std::regex{",\\s*\"--programs-from-trace\""}, ""));
  auto asked = daemon(resumed(folder_ / "r"), "asked");
  EXPECT_EQ(status_of(*asked), 2) << asked->out();
  EXPECT_NE(asked->out().find("expected --programs-from-trace"), std::string::npos) << asked->out();
  std::vector<std::string> with_consent = resumed(folder_ / "r");
  with_consent.emplace_back("--programs-from-trace");
  auto last = daemon(with_consent);
  expect_three_completed_jobs(*last);
}

}  // namespace
}  // namespace replay::test
