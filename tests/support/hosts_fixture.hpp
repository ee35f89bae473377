// Fixture for tests of `--machine hosts:FILE`, as programs: agents are started on the hosts of a file, here this machine under
// two addresses.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/remote_agent_fixture.hpp"

namespace replay::test {

class Hosts : public RemoteAgent {
 protected:
  void SetUp() override {
    RemoteAgent::SetUp();
    write_text(folder_ / "two.hosts", "127.0.0.1 emulated=1x2\n127.0.0.2 emulated=1x2\n");
    write_text(folder_ / "start.sh", "#!/bin/sh\nshift\nexec \"$@\"\n");
    std::filesystem::permissions(folder_ / "start.sh", std::filesystem::perms::owner_all);
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
    std::filesystem::permissions(folder_ / "srun", std::filesystem::perms::owner_all);
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
      for (const std::filesystem::directory_entry& file :
           std::filesystem::directory_iterator{fmt::format("/proc/{}/fd", pid)}) {
        std::error_code error;
        sockets.insert(std::filesystem::read_symlink(file, error).string());
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

}  // namespace replay::test
