// Tests of `--machine hosts:FILE`, as programs: agents are started on the hosts of a file, here this machine under two
// addresses, and jobs span them. Whatever is killed, the run ends with a reason that names the host, and nothing is left.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/live/engine.hpp"
#include "tests/support/remote_agent_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

class Hosts : public RemoteAgent {
 protected:
  void SetUp() override {
    RemoteAgent::SetUp();
    write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x2\n127.0.0.2 emulated=1x2\n");
    write_text(folder_ / "start.sh", "#!/bin/sh\nshift\nexec \"$@\"\n");
    fs::permissions(folder_ / "start.sh", fs::perms::owner_all);
    write_text(folder_ / "long.swf", "; MaxProcs: 4\n1 0 -1 600 4 300 -1 4 1000 -1 1 1 1 -1 -1 -1 -1 -1\n");
    lease_ = "2s";
    shape_ = "2x1x2";
  }
  std::vector<std::string> on_hosts(const std::string& trace, const std::string& policy = "fcfs-malleable") const {
    return {"--trace",     (folder_ / trace).string(),
            "--policy",    policy,
            "--machine",   "hosts:" + (folder_ / "two.hosts").string(),
            "--bootstrap", (folder_ / "start.sh").string(),
            "--lease",     lease_,
            "--out",       (folder_ / "r").string(),
            "--force",     "--yes"};
  }
  /// As inside a job of Slurm with these two hosts, which ends `left` from now, and a stand-in for srun.
  void be_in_a_job_of_slurm(std::chrono::seconds left) {
    write_text(folder_ / "srun", "#!/bin/sh\necho \"$@\" >>" + (folder_ / "words").string() +
                                     "\nwhile [ \"$1\" != --nodelist ]; do shift; done\nshift 2\nexec \"$@\"\n");
    fs::permissions(folder_ / "srun", fs::perms::owner_all);
    set("PATH", folder_.path().string() + ":" + std::getenv("PATH"));
    set("SLURM_JOB_ID", "17");
    set("SLURM_JOB_NODELIST", "127.0.0.[1-2]");
    set("SLURM_JOB_CPUS_PER_NODE", "2(x2)");
    set("SLURM_JOB_END_TIME", fmt::format("{}", std::time(nullptr) + left.count()));
  }
  void TearDown() override {
    for (const auto& [name, value] : before_)
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
  }
  std::vector<std::string> on_slurm(const std::string& trace, const std::string& machine) const {
    return {"--trace", (folder_ / trace).string(), "--policy", "easy",  "--machine", machine,
            "--out",   (folder_ / "r").string(),   "--force",  "--yes", "--lease",   lease_};
  }
  /// A run whose one job has two ranks on each host.
  std::unique_ptr<Background> with_a_spanning_job() {
    auto running = daemon(on_hosts("long.swf"));
    EXPECT_TRUE(comes_true([this] { return events().find(" ranks job=1") != std::string::npos; })) << running->out();
    return running;
  }
  void set(const char* name, const std::string& value) {
    const char* const was = std::getenv(name);
    before_.emplace(name, was == nullptr ? std::nullopt : std::optional<std::string>{was});
    ::setenv(name, value.c_str(), 1);
  }
  /// Of this test's processes, those for which it holds.
  [[nodiscard]] std::vector<pid_t> those(const std::function<bool(pid_t, const ProcessStat&)>& holds) const {
    std::vector<pid_t> found;
    for (const pid_t pid : processes_with("REPLAY_TEST_RUN=" + folder_.path().string()))
      if (const auto stat = read_stat(pid); stat && stat->state != 'Z' && holds(pid, *stat)) found.push_back(pid);
    return found;
  }
  [[nodiscard]] std::vector<pid_t> named(const std::string& name) const {
    auto found = those([&name](pid_t, const ProcessStat& stat) { return stat.name == name; });
    std::ranges::sort(found);
    return found;
  }
  [[nodiscard]] pid_t rank(int number) const {
    const auto found = those([number](pid_t pid, const ProcessStat& stat) {
      return stat.name == "phases" && environment_has(pid, fmt::format("PMI_RANK={}", number));
    });
    return found.empty() ? 0 : found.front();
  }
  std::map<std::string, std::optional<std::string>> before_;  // variables
  /// Ports of this machine's network on which processes of this test with that name listen.
  [[nodiscard]] std::vector<int> ports_of(const std::string& name) const {
    std::set<std::string> sockets;
    for (const pid_t pid : named(name))
      for (const fs::directory_entry& file : fs::directory_iterator{fmt::format("/proc/{}/fd", pid)}) {
        std::error_code error;
        sockets.insert(fs::read_symlink(file, error).string());
      }
    std::vector<int> ports;
    std::istringstream table{text_of("/proc/net/tcp")};
    for (std::string line; std::getline(table, line);) {
      std::istringstream fields{line};
      std::vector<std::string> field{std::istream_iterator<std::string>{fields}, {}};
      constexpr std::size_t kLocal = 1, kState = 3, kInode = 9;
      if (field.size() > kInode && field[kState] == "0A" && sockets.contains(fmt::format("socket:[{}]", field[kInode])))
        ports.push_back(std::stoi(field[kLocal].substr(field[kLocal].find(':') + 1), nullptr, 16));
    }
    return ports;
  }
  /// Kills it, and expects the job's and the run's end, for a reason that matches the expression.
  void expect_failure_of_killed(const Background& running, pid_t victim, const std::string& reason) {
    ASSERT_GT(victim, 0) << events();
    send_signal(victim, SIGKILL);
    EXPECT_EQ(const_cast<Background&>(running).wait(), 1);
    EXPECT_TRUE(std::regex_search(events(), std::regex{"finish job=1 outcome=failed.* reason=\"" + reason}))
        << events();
    expect_nothing_left();
  }
};

TEST_F(Hosts, AJobSpansThemAndIsShrunkAndExpandedOnBoth) {
  write_text(folder_ / "t.swf",
             "; MaxProcs: 4\n"
             "1 0 -1 3 4 1.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.5 -1 1 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(run(on_hosts("t.swf")), 0) << output();
  expect_all_verified(2);
  EXPECT_NE(events().find("#machine emulated:2x1x2\n"), std::string::npos) << events();
  EXPECT_NE(events().find("resized job=1 cores=2"), std::string::npos) << events();
  EXPECT_NE(events().find("resized job=1 cores=4"), std::string::npos) << events();
  expect_nothing_left();
}

TEST_F(Hosts, AreThoseOfAJobOfSlurmAndTheirAgentsAreItsSteps) {
  be_in_a_job_of_slurm(std::chrono::minutes{10});
  write_text(folder_ / "t.swf", "; MaxProcs: 4\n1 0 -1 0.3 4 0.3 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(run(on_slurm("t.swf", "slurm:emulated=1x2")), 0) << output();
  EXPECT_NE(output().find("4 emulated cores of 2 hosts of Slurm job 17"), std::string::npos) << output();
  expect_all_verified(1);
  const std::string words = text_of(folder_ / "words");
  EXPECT_NE(words.find("--overlap --whole --nodes=1 --ntasks=1"), std::string::npos) << words;
  EXPECT_NE(words.find("--nodelist 127.0.0.2 " REPLAY_PROGRAM " agent --key - "), std::string::npos) << words;
  expect_nothing_left();
}

TEST_F(Hosts, OfAJobOfSlurmAreLeftBeforeItsTimeLimit) {
  be_in_a_job_of_slurm(live::kBeforeMachineEnd + std::chrono::seconds{4});
  EXPECT_EQ(run(on_slurm("long.swf", "slurm:emulated=1x2")), 1);
  EXPECT_NE(output().find("no further job was started: the time limit of Slurm job 17 is 30 s away"), std::string::npos)
      << output();
  EXPECT_NE(events().find("finish job=1 outcome=killed"), std::string::npos) << events();
  expect_nothing_left();
}

TEST_F(Hosts, OfAJobOfSlurmThatIsNearlyOverAreNotUsed) {
  be_in_a_job_of_slurm(std::chrono::seconds{20});
  EXPECT_EQ(run(on_slurm("long.swf", "slurm")), 1);
  EXPECT_NE(output().find("s left: expected more than 30 s"), std::string::npos) << output();
  EXPECT_EQ(text_of(folder_ / "words"), "") << "an agent was started";
}

TEST_F(Hosts, OutsideOfAJobOfSlurmThereAreNone) {
  EXPECT_EQ(run(on_slurm("long.swf", "slurm")), 2);
  EXPECT_NE(output().find("--machine slurm: expected to run inside a job of Slurm"), std::string::npos) << output();
}

TEST_F(Hosts, KernelsVerifyOnRealCoresOfBoth) {
  write_text(folder_ / "two.hosts", "127.0.0.1 slots=1\n127.0.0.2 slots=1\n");
  shape_ = "2x1x1";
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 3 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  for (const char* kernel : {"cg --class S", "is --class S", "ep --class S"}) {
    auto all = on_hosts("t.swf");
    all.insert(all.end(), {"--program", kernel});
    EXPECT_EQ(run(all), 0) << kernel << output();
    expect_all_verified(1);
  }
}

TEST_F(Hosts, TheRanksUseTheDeviceOfTheirHostAndPortsThatCanBeClosed) {
  write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x2 iface=lo\n127.0.0.2 emulated=1x2\n");
  const auto running = with_a_spanning_job();
  EXPECT_TRUE(environment_has(rank(0), "UCX_NET_DEVICES=lo"));
  EXPECT_FALSE(environment_has(rank(3), "UCX_NET_DEVICES=lo"));
  for (const int number : {0, 3})
    EXPECT_TRUE(environment_has(rank(number), "UCX_TCP_PORT_RANGE=26000-29999")) << number;
  running->send(SIGINT);
  EXPECT_EQ(running->wait(), 130);
}

// Hydra kills the other ranks at once, and whose end is seen first is chance.
TEST_F(Hosts, ARankThatIsKilledAwayFromHomeIsNamedWithItsHost) {
  for (int times = 0; times < 3; ++times) {
    fs::remove_all(folder_ / "r");
    const auto running = with_a_spanning_job();
    expect_failure_of_killed(*running, rank(3), "127.0.0.2: (rank 3|ranks 2-3) died without MPI_Finalize");
  }
}

TEST_F(Hosts, ARankThatIsKilledAtHomeIsNamedWithItsHost) {
  const auto running = with_a_spanning_job();
  expect_failure_of_killed(*running, rank(1), "127.0.0.1: (rank 1|ranks 0-1): Killed");
}

TEST_F(Hosts, AProxyThatIsKilledEndsTheJobOnBoth) {
  const auto running = with_a_spanning_job();
  ASSERT_EQ(named("hydra_pmi_proxy").size(), 2U);
  expect_failure_of_killed(*running, named("hydra_pmi_proxy").front(),
                           "127.0.0.[12]: Hydra's proxy was killed by signal 9");
}

TEST_F(Hosts, AnAgentThatIsKilledEndsTheRunWithItsHostsName) {
  const auto running = with_a_spanning_job();
  ASSERT_EQ(named("replay-agent").size(), 2U);
  expect_failure_of_killed(*running, named("replay-agent").back(), "127.0.0.[12] [(]agent .*the connection has ended");
  EXPECT_NE(output().find("the run ended early: 127.0.0."), std::string::npos) << output();
}

TEST_F(Hosts, StrangersEndNoJobThatSpansThem) {
  write_text(folder_ / "t.swf", "; MaxProcs: 4\n1 0 -1 3 4 1.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const auto running = daemon(on_hosts("t.swf"));
  ASSERT_TRUE(comes_true([this] { return events().find(" ranks job=1") != std::string::npos; })) << running->out();
  std::vector<UniqueFd> strangers;
  std::size_t doors = 0;
  for (const char* name : {"replay", "replay-agent", "mpiexec", "hydra_pmi_proxy", "replay-proxy"})
    for (const int port : ports_of(name)) {
      ++doors;
      address_ = fmt::format("127.0.0.1:{}", port);
      for (const std::string& said :
           {std::string{}, std::string{"RPLAY-LK"}, std::string(48, '\1'), std::string(100'000, 'x'),
            std::string{"cmd=init pmi_version=1 pmi_subversion=1\n"}}) {
        strangers.push_back(knock());
        (void)::send(strangers.back().get(), said.data(), said.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      }
    }
  EXPECT_GE(doors, 2U) << "each agent has one";
  EXPECT_EQ(running->wait(), 0) << output();
  expect_all_verified(1);
  expect_nothing_left();
}

TEST_F(Hosts, CtrlCLeavesNothing) {
  const auto running = with_a_spanning_job();
  running->send(SIGINT);
  EXPECT_EQ(running->wait(), 130);
  expect_nothing_left();
}

TEST_F(Hosts, KillNineOfTheDaemonLeavesNothing) {
  const auto running = with_a_spanning_job();
  running->send(SIGKILL);
  running->wait();
  expect_nothing_left(std::chrono::seconds{8});
}

TEST_F(Hosts, WhatIsNotAlikeOnThemIsNamedBeforeTheFirstJob) {
  const std::string hidden = "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none " +
                             (folder_ / "hidden").string() + " && exec \"$@\"' sh ";
  fs::create_directory(folder_ / "hidden");
  if (shell(hidden + "true").status != 0) GTEST_SKIP() << "needs user namespaces";
  fs::create_directory(folder_ / "bin");
  write_text(folder_ / "bin/mpiexec", "#!/bin/sh\necho ' Version: 9.9'\n");
  fs::permissions(folder_ / "bin/mpiexec", fs::perms::owner_all);
  write_text(folder_ / "hidden/program", "#!/bin/sh\n");
  fs::permissions(folder_ / "hidden/program", fs::perms::owner_all);
  write_text(folder_ / "start.sh", "#!/bin/sh\nhost=$1\nshift\n[ $host = 127.0.0.1 ] && exec \"$@\"\nPATH=" +
                                       (folder_ / "bin").string() + ":$PATH\nexec " + hidden + "\"$@\"\n");
  auto words = on_hosts("long.swf");
  std::ranges::replace(words, (folder_ / "r").string(), (folder_ / "hidden/r").string());
  words.insert(words.end(), {"--program", (folder_ / "hidden/program").string()});
  EXPECT_EQ(run(words), 1);
  const std::string host = "\n  host 127.0.0.2: ";
  const std::string program = (folder_ / "hidden/program").string();
  for (const std::string& line :
       {host + (folder_ / "hidden/r").string() + ": is not the folder of this run there (.word-",
        host + "program " + program + ": not found there, or not executable",
        host + "MPI: expected that of 127.0.0.1, MPICH 4.0.2, found MPICH 9.9"})
    EXPECT_NE(output().find(line), std::string::npos) << output();
  EXPECT_EQ(output().find("host 127.0.0.1: "), std::string::npos) << output();
  EXPECT_FALSE(fs::exists(folder_ / "hidden/r")) << "the next try finds no folder of a run";
  expect_nothing_left();
}

TEST_F(Hosts, OneWithAnotherVmlibIsNamed) {
  const fs::path ours = fs::path{REPLAY_PROGRAM}.parent_path().parent_path(), other = folder_ / "other";
  fs::create_directories(other / "bin");
  fs::copy(REPLAY_PROGRAM, other / "bin/replay");
  fs::copy(ours / "lib", other / "lib", fs::copy_options::recursive);
  write_text(other / "lib/replay/libreplay-vm.so", text_of(ours / "lib/replay/libreplay-vm.so") + "later");
  write_text(folder_ / "start.sh", "#!/bin/sh\nhost=$1\nshift\n[ $host = 127.0.0.1 ] && exec \"$@\"\nshift\nexec " +
                                       (other / "bin/replay").string() + " \"$@\"\n");
  EXPECT_EQ(run(on_hosts("long.swf")), 1);
  EXPECT_NE(output().find("\n  host 127.0.0.2: vmlib: expected that of 127.0.0.1, SHA-256 "), std::string::npos)
      << output();
  expect_nothing_left();
}

TEST_F(Hosts, AProgramIsLookedUpWhereItRuns) {
  fs::create_directory(folder_ / "bin");
  fs::create_symlink(fs::path{REPLAY_PROGRAM}.parent_path().parent_path() / "lib/replay/ep",
                     folder_ / "bin/only-there");
  write_text(folder_ / "start.sh", "#!/bin/sh\nshift\nPATH=" + (folder_ / "bin").string() + ":$PATH exec \"$@\"\n");
  write_text(folder_ / "two.hosts", "127.0.0.1 slots=1\n127.0.0.2 slots=1\n");
  shape_ = "2x1x1";
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 3 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto words = on_hosts("t.swf");
  words.insert(words.end(), {"--program", "only-there --class S"});
  EXPECT_EQ(run(words), 0) << output();
  expect_all_verified(1);
}

TEST_F(Hosts, LabelsNameThem) {
  write_text(folder_ / "two.hosts", "127.0.0.1 slots=1\n127.0.0.2 slots=1\n");
  shape_ = "2x1x1";
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 3 2 3 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const auto ep = fs::path{REPLAY_PROGRAM}.parent_path().parent_path() / "lib/replay/ep";
  auto words = on_hosts("t.swf");
  words.insert(words.end(), {"--label", "--program", "sh -c 'echo here; exec " + ep.string() + " --class S'"});
  EXPECT_EQ(run(words), 0) << output();
  expect_all_verified(1);
  const std::string said = text_of(folder_ / "r/jobs/1/stdout");
  EXPECT_NE(said.find("[127.0.0.1 0] here\n"), std::string::npos) << said;
  EXPECT_NE(said.find("[127.0.0.2 1] here\n"), std::string::npos) << said;
}

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

TEST_F(ServiceOnHosts, OneThatIsLostEndsTheServiceAndJobsThatMayWaitAgain) {
  const auto first = serve("first");
  EXPECT_EQ(ask("submit", "-n 4 --time 10min --requeue phases --runtime 600").status, 0);
  ASSERT_TRUE(comes_true([this] { return named("phases").size() == 4; })) << first->out();
  ASSERT_EQ(named("replay-agent").size(), 2U);
  send_signal(named("replay-agent").back(), SIGKILL);
  EXPECT_EQ(first->wait(), 1);
  EXPECT_NE(first->out().find("the service ended early: 127.0.0."), std::string::npos) << first->out();
  expect_nothing_left();
  const auto second = serve("out");
  EXPECT_TRUE(comes_true([this] { return named("phases").size() == 4; })) << output() << ask("jobs", "--all").out;
  second->send(SIGTERM);
  EXPECT_EQ(second->wait(), 0) << output();
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

TEST_F(Hosts, ADryRunPrintsThemAndHowTheirAgentsAreStarted) {
  auto words = on_hosts("long.swf");
  words.emplace_back("--dry-run");
  EXPECT_EQ(run(words), 0) << output();
  EXPECT_NE(output().find("4 emulated cores of 2 hosts of two.hosts, as emulated:2x1x2\n"), std::string::npos)
      << output();
  EXPECT_NE(output().find("\nhost 127.0.0.2: 2 emulated cores"), std::string::npos) << output();
  EXPECT_NE(
      output().find(" in 1 package (0,1), agent started by " + (folder_ / "start.sh").string() +
                    " 127.0.0.2 " REPLAY_PROGRAM " agent --key - --listen 0.0.0.0:0 --stay --machine emulated:1x1x2\n"),
      std::string::npos)
      << output();
  EXPECT_NE(output().find("\njob 1: at 0 s, starts at 0 s on 127.0.0.1 0,1; 127.0.0.2 0,1, mpiexec -n 4 "),
            std::string::npos)
      << output();
  expect_nothing_left();
}

TEST_F(Hosts, OneThatDoesNotComeIsNamedAndTheOthersGo) {
  write_text(folder_ / "start.sh",
             "#!/bin/sh\n[ $1 = 127.0.0.2 ] && { echo no such host >&2; exit 3; }\nshift\nexec \"$@\"\n");
  EXPECT_EQ(run(on_hosts("long.swf")), 1);
  EXPECT_NE(output().find("host 127.0.0.2: no such host (exit status 3)"), std::string::npos) << output();
  expect_nothing_left();
}

TEST_F(Hosts, ThatDifferAreUsedWithAllTheirCoresAndSimulatedAlike) {
  write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x4\n127.0.0.2 emulated=1x2\n");
  write_text(folder_ / "t.swf",
             "; MaxProcs: 6\n"
             "1 0 -1 0.6 6 0.6 -1 6 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.1 -1 0.3 3 0.3 -1 3 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  shape_ = "1x1x4+1x1x2";
  EXPECT_EQ(run(on_hosts("t.swf", "easy")), 0) << output();
  EXPECT_EQ(output().find("left out"), std::string::npos) << output();
  EXPECT_NE(events().find("#machine emulated:1x1x4+1x1x2\n"), std::string::npos) << events();
  EXPECT_NE(events().find("#hosts 127.0.0.1 127.0.0.2\n"), std::string::npos) << events();
  EXPECT_NE(text_of(folder_ / "r/run.json").find("\"hosts\": [\n    \"127.0.0.1\",\n    \"127.0.0.2\"\n  ]"),
            std::string::npos)
      << text_of(folder_ / "r/run.json");
  EXPECT_NE(text_of(folder_ / "r/jobs.csv").find(",127.0.0.1 127.0.0.2\n"), std::string::npos)
      << text_of(folder_ / "r/jobs.csv");
  expect_all_verified(2);
  const std::string simulated = (folder_ / "s").string();
  EXPECT_EQ(run({"simulate", "--trace", (folder_ / "t.swf").string(), "--policy", "easy", "--machine", shape_, "--out",
                 simulated}),
            0)
      << output();
  EXPECT_EQ(run({"diff", (folder_ / "r").string(), simulated, "--tolerance", "5"}), 0) << output();
  EXPECT_NE(output().find("sim, machine 1x1x4+1x1x2, 2 jobs"), std::string::npos) << output();
}

TEST_F(Hosts, ThatDifferAreCutForAPolicyThatNeedsEqualOnesAndItIsSaid) {
  write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x5\n127.0.0.2 emulated=1x4\n");
  write_text(folder_ / "t.swf", "; MaxProcs: 5\n1 0 -1 0.3 5 0.3 -1 5 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  shape_ = "2x1x4";
  std::vector<std::string> arguments = on_hosts("t.swf", "g-lomarc-ts");
  arguments.insert(arguments.end(), {"--runtime-model", "pairs"});
  EXPECT_EQ(run(arguments), 0) << output();
  EXPECT_NE(
      output().find("note: g-lomarc-ts needs equal nodes: of 1x1x5+1x1x4 it has 2x1x4, and 1 of 9 cores are left out"),
      std::string::npos)
      << output();
  EXPECT_NE(events().find("#machine emulated:2x1x4\n"), std::string::npos) << events();
  EXPECT_NE(events().find(" on=0-4:1\n"), std::string::npos) << events();
  const std::string command = text_of(folder_ / "r/jobs/1/command");
  EXPECT_NE(command.find("-hosts 127.0.0.1:4,127.0.0.2:1"), std::string::npos)
      << "core 4 of the run is the first of the second host: " << command;
  expect_all_verified(1);
}

}  // namespace
}  // namespace replay::test
