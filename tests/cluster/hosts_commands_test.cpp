// Tests of the commands that use the hosts of a file beside `replay` itself: run, serve, validate.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/hosts_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

class ProgramOnHosts : public Hosts {
 protected:
  void SetUp() override {
    Hosts::SetUp();
    before_ = fs::current_path();
    fs::current_path(folder_.path());  // the program's output is written there
  }
  void TearDown() override {
    fs::current_path(before_);
    Hosts::TearDown();
  }
  int run_program(std::vector<std::string> words) {
    std::vector<std::string> all{"run", "--machine", "hosts:two.hosts", "--bootstrap", "./start.sh", "--lease", lease_};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  [[nodiscard]] bool has_said(const std::string& text) const { return output().find(text) != std::string::npos; }

  fs::path before_;
};

TEST_F(ProgramOnHosts, IsShrunkExpandedAndSuspendedOnBoth) {
  EXPECT_EQ(run_program({"-n", "4", "--shrink-at", "200ms", "--expand-at", "400ms", "--suspend-at", "600ms",
                         "--resume-at", "800ms", "phases", "--runtime", "1.5", "--cpu-use", "0.5", "--pattern", "bsp"}),
            0)
      << output();
  for (const char* text : {"VERIFICATION SUCCESSFUL", "4 ranks on cores 0,1 of 127.0.0.1, cores 0,1 of 127.0.0.2, ",
                           "shrunk to 2 cores, 2 ranks on each", "suspended, expanded on 4 cores", "malleable"})
    EXPECT_TRUE(has_said(text)) << text << "\n" << output();
  EXPECT_FALSE(has_said("refused")) << output();
  expect_nothing_left();
  for (const auto& entry : fs::directory_iterator{folder_.path()})
    EXPECT_FALSE(entry.is_directory() && entry.path() != run_) << entry.path();
}

TEST_F(ProgramOnHosts, KeepsACoreOnEachWhenItIsShrunk) {
  EXPECT_EQ(run_program({"-n", "4", "--to", "1", "phases"}), 2);
  EXPECT_TRUE(has_said("--to: expected 2 to 3, one on each host")) << output();
  EXPECT_EQ(run_program({"-n", "2", "--cores", "0", "phases"}), 2);
  EXPECT_TRUE(has_said("--cores 0: expected cores of this machine, found --machine hosts:two.hosts")) << output();
}

TEST_F(ProgramOnHosts, ItsExitStatusComesBack) {
  write_text(folder_ / "two.hosts", "127.0.0.1 slots=1\n127.0.0.2 slots=1\n");
  EXPECT_EQ(run_program({"-n", "1", "sh", "-c", "exit 7"}), 7) << output();
}

TEST_F(ProgramOnHosts, OneThatIsNotThereCannotBeStarted) {
  EXPECT_EQ(run_program({"-n", "1", "/no/such/program"}), 127) << output();
  EXPECT_TRUE(has_said("host 127.0.0.1: program /no/such/program: not found there")) << output();
  expect_nothing_left();
}

TEST_F(ProgramOnHosts, CtrlCLeavesNothing) {
  const auto running = daemon({"run", "--machine", "hosts:two.hosts", "--bootstrap", "./start.sh", "--lease", lease_,
                               "-n", "4", "phases", "--runtime", "600"});
  EXPECT_TRUE(comes_true([this] { return named("phases").size() == 4; })) << output();
  running->send(SIGINT);
  EXPECT_EQ(running->wait(), 130) << output();
  expect_nothing_left();
}

class ServiceOnHosts : public Hosts {
 protected:
  std::unique_ptr<Background> start(const std::string& output) {
    return daemon({"serve", "--service", home_.string(), "--policy", "fcfs-malleable", "--plain", "--machine",
                   "hosts:" + (folder_ / "two.hosts").string(), "--bootstrap", (folder_ / "start.sh").string(),
                   "--lease", lease_},
                  output);
  }
  std::unique_ptr<Background> serve(const std::string& output) {
    auto service = start(output);
    EXPECT_TRUE(comes_true([&] { return service->out().find("results in ") != std::string::npos; })) << service->out();
    return service;
  }
  ShellResult ask(const std::string& command, const std::string& words) const {
    return shell(fmt::format("{} {} --service {} {}", REPLAY_PROGRAM, command, home_.string(), words));
  }

  const fs::path home_ = folder_ / "service";
};

TEST_F(ServiceOnHosts, JobsOfUsersSpanThemAndAreCancelled) {
  const auto service = serve("out");
  EXPECT_NE(output().find("4 emulated cores of 2 hosts of two.hosts, policy fcfs-malleable"), std::string::npos)
      << output();
  const ShellResult first = ask("submit", "--wait -n 4 --time 1min phases --runtime 0.3");
  EXPECT_EQ(first.status, 0) << first.out << first.err << output();
  EXPECT_NE(text_of(home_ / "jobs/1/command").find("-hosts 127.0.0.1:2,127.0.0.2:2"), std::string::npos);
  EXPECT_NE(text_of(home_ / "jobs/1/stdout").find("VERIFICATION SUCCESSFUL"), std::string::npos);
  EXPECT_EQ(ask("submit", "-n 4 --time 10min phases --runtime 600").status, 0);
  ASSERT_TRUE(comes_true([this] { return named("phases").size() == 4; })) << ask("jobs", "").out;
  EXPECT_NE(ask("jobs", "").out.find("running"), std::string::npos);
  EXPECT_EQ(ask("cancel", "2").status, 0);
  EXPECT_TRUE(comes_true([this] { return named("phases").empty(); }));
  service->send(SIGTERM);
  EXPECT_EQ(service->wait(), 0) << output();
  expect_nothing_left();
}

TEST_F(ServiceOnHosts, OneThatIsLostLosesItsJobsUnlessTheyMayWaitAgainAndIsUsedAgain) {
  const auto service = serve("out");
  for (const char* const words : {"--requeue", ""}) {
    EXPECT_EQ(ask("submit", fmt::format("-n 4 --time 10min {} phases --runtime 600", words)).status, 0);
    ASSERT_TRUE(comes_true([this] { return named("phases").size() == 4; })) << output();
    ASSERT_EQ(named("replay-agent").size(), 2U);
    const std::vector<pid_t> first = named("phases");
    send_signal(named("replay-agent").back(), SIGKILL);
    if (*words == '\0') break;
    EXPECT_TRUE(comes_true([&] {
      const std::vector<pid_t> now = named("phases");
      return now.size() == 4 && std::ranges::find_first_of(now, first) == now.end();
    })) << output();
    EXPECT_EQ(ask("cancel", "1").status, 0);
    EXPECT_TRUE(comes_true([this] { return named("phases").empty(); })) << output();
  }
  EXPECT_EQ(ask("submit", "--wait -n 4 --time 1min phases --runtime 0.3").status, 0) << output();
  const std::string jobs = ask("jobs", "--all").out;
  EXPECT_TRUE(std::regex_search(jobs, std::regex{"\n *1 .*cancelled"})) << jobs;
  EXPECT_TRUE(std::regex_search(jobs, std::regex{"\n *2 .*lost"})) << jobs;
  service->send(SIGTERM);
  EXPECT_EQ(service->wait(), 0) << output();
  expect_nothing_left();
}

TEST_F(ServiceOnHosts, AfterKillNineTheNextOneWaitsForTheLease) {
  const auto killed = serve("killed");
  EXPECT_EQ(ask("submit", "-n 4 --time 10min phases --runtime 600").status, 0);
  ASSERT_TRUE(comes_true([this] { return named("phases").size() == 4; })) << killed->out();
  killed->send(SIGKILL);
  killed->wait();
  expect_nothing_left(std::chrono::seconds{8});
  const std::string waits = "waiting for the node agent of the last service to end\n";
  const auto stopped = start("stopped");
  ASSERT_TRUE(comes_true([&] { return stopped->out().find(waits) != std::string::npos; })) << stopped->out();
  stopped->send(SIGTERM);
  EXPECT_EQ(stopped->wait(), 0) << stopped->out();
  const auto began = std::chrono::steady_clock::now();
  const auto service = serve("out");
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::seconds{4}) << "the lease of 2 s, and 2 s";
  EXPECT_NE(output().find(waits), std::string::npos) << output();
  EXPECT_NE(output().find("1 job ran when the last service ended, and is recorded as failed"), std::string::npos)
      << output();
  EXPECT_NE(ask("jobs", "--all").out.find("failed"), std::string::npos);
  service->send(SIGTERM);
  EXPECT_EQ(service->wait(), 0) << output();
}

TEST_F(Hosts, AValidationRunsOnThemAndInTheSimulator) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 4\n"
             "1 0 -1 1 4 1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.5 -1 0.5 2 0.5 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto words = on_hosts("t.swf", "easy");
  words.insert(words.begin(), "validate");
  EXPECT_EQ(run(words), 0) << output();
  EXPECT_NE(output().find("1 cell on 4 emulated cores of 2 hosts of two.hosts, "), std::string::npos) << output();
  const std::string real = text_of(folder_ / "r/cells/easy/real/events.log");
  EXPECT_NE(real.find("#machine emulated:2x1x2\n"), std::string::npos) << real;
  EXPECT_NE(real.find("finish job=2 outcome=completed"), std::string::npos) << real;
  EXPECT_NE(text_of(folder_ / "r/cells/easy/result.json").find("\"hosts_sha256\""), std::string::npos);
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
