// Tests of `replay agent` as AgentStarter starts it, with a script in place of ssh: daemons connect with the key that came through
// standard input, and whatever ends the starter, agents and jobs end with it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "launcher/bootstrap/agent_starter.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/remote_agent_fixture.hpp"

namespace replay::test {
namespace {

using launcher::AgentStarter;
using launcher::Host;

class StartedAgents : public RemoteAgent {
 protected:
  void SetUp() override {
    RemoteAgent::SetUp();
    write_text(folder_ / "ssh", "shift\n\"$@\"\n");  // the agent has a parent of its own, as below sshd
    write_text(key_, launcher::text_of_link_key(link_key_));
  }
  std::unique_ptr<AgentStarter> start(const std::vector<Host>& hosts) const {
    return std::make_unique<AgentStarter>(
        launcher::Bootstrap{fmt::format("sh {}", (folder_ / "ssh").string()), REPLAY_PROGRAM}, hosts, link_key_);
  }

  const protocol::LinkKey link_key_ = launcher::new_link_key();
};

TEST_F(StartedAgents, AreReachedWithTheKey) {
  auto starter =
      start({{.host = "127.0.0.1", .emulated = launcher::EmulatedCores{2, 2}}, {.host = "localhost", .slots = 1}});
  std::vector<launcher::AgentLink> links;
  for (const auto& [host, port, why] : starter->agents()) {
    ASSERT_NE(port, 0) << why;
    links.push_back(launcher::connect_agent({host, port}, link_key_));
    EXPECT_TRUE(links.back().stays);
  }
  EXPECT_TRUE(links[0].hello.emulated);
  EXPECT_EQ(links[0].hello.cores.size(), 4U);
  EXPECT_FALSE(links[1].hello.emulated);
  EXPECT_EQ(links[1].hello.cores.size(), 1U);
  starter.reset();
  expect_nothing_left();
}

TEST_F(StartedAgents, TakeAllCoresWhereABatchSystemCountsMore) {
  const auto cores_of = [this](int at_most) {
    const auto starter = start({{.host = "127.0.0.1", .at_most = at_most}});
    const auto& [host, port, why] = starter->agents()[0];
    EXPECT_NE(port, 0) << why;
    return launcher::connect_agent({host, port}, link_key_).hello.cores.size();
  };
  EXPECT_EQ(cores_of(1), 1U);
  EXPECT_GE(cores_of(4096), 2U);
}

TEST_F(StartedAgents, SayWhyTheyDoNotCome) {
  const auto starter = start({{.host = "a", .slots = 4096}, {.host = "b", .cores = {launcher::PuId{8000}}}});
  EXPECT_NE(starter->agents()[0].why.find("host a: replay: --slots 4096: expected 1 to "), std::string::npos)
      << starter->agents()[0].why;
  EXPECT_NE(starter->agents()[0].why.find("(exit status 2)"), std::string::npos);
  EXPECT_NE(starter->agents()[1].why.find("host b: replay: machine 'local:8000'"), std::string::npos)
      << starter->agents()[1].why;
}

TEST_F(StartedAgents, EndWithTheirJobs) {
  auto starter = start({{.host = "127.0.0.1", .emulated = launcher::EmulatedCores{1, 2}}});
  address_ = fmt::format("127.0.0.1:{}", starter->agents()[0].port);
  auto running = daemon_with_a_running_job();
  starter.reset();
  EXPECT_EQ(running->wait(), 1);
  expect_nothing_left();
}

TEST_F(StartedAgents, EndWithTheirJobsWhenTheStarterIsKilled) {
  lease_ = "0";  // else it goes on: the ssh that has started it may be cut off
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end{ends[0]}, write_end{ends[1]};
  const pid_t child = ::fork();
  if (child == 0) {
    const auto starter = start({{.host = "127.0.0.1", .emulated = launcher::EmulatedCores{1, 2}}});
    const std::uint16_t port = starter->agents()[0].port;
    (void)!::write(write_end.get(), &port, sizeof port);
    while (true) ::pause();
  }
  std::uint16_t port = 0;
  ASSERT_EQ(::read(read_end.get(), &port, sizeof port), 2);
  address_ = fmt::format("127.0.0.1:{}", port);
  auto running = daemon_with_a_running_job();
  send_signal(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(running->wait(), 1);
  expect_nothing_left(std::chrono::seconds{5});
}

TEST_F(StartedAgents, BelongToAPipeThatStaysOpen) {
  const std::string agent = fmt::format("{} agent --key - --machine {}", REPLAY_PROGRAM, kEmulated);
  const ShellResult closed = shell(fmt::format("cat {} | {}", key_.string(), agent));
  EXPECT_EQ(closed.status, 0);
  EXPECT_NE(closed.err.find("has closed its standard input"), std::string::npos) << closed.err;
  const ShellResult file = shell(fmt::format("{} < {}", agent, key_.string()));
  EXPECT_EQ(file.status, 1);
  EXPECT_NE(file.err.find("expected a pipe"), std::string::npos) << file.err;
}

TEST_F(StartedAgents, HaveSlotsOfRealCoresOnly) {
  const ShellResult emulated =
      shell(fmt::format("{} agent --key {} --slots 1 --machine {}", REPLAY_PROGRAM, key_.string(), kEmulated));
  EXPECT_EQ(emulated.status, 2);
  EXPECT_NE(emulated.err.find("--slots 1: expected --machine local, found 'emulated:1x1x2'"), std::string::npos)
      << emulated.err;
}

// Of the libraries with which it is linked; the others come with those.
TEST(ClusterPage, NamesThePackagesThatAHostNeeds) {
  if (shell("dpkg-query --version && readelf --version").status != 0) GTEST_SKIP() << "no Debian, or no binutils";
  const ShellResult packages =
      shell("ldd " REPLAY_PROGRAM " | grep -wF \"$(readelf -d " REPLAY_PROGRAM
            " | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p')\" | awk '{ print $3 }' | xargs readlink -f | "
            "xargs dpkg-query -S | sed 's/:.*//'");
  ASSERT_NE(packages.out.find("libhwloc15\n"), std::string::npos) << packages.out << packages.err;
  std::istringstream names{packages.out};
  const std::string page = text_of(REPLAY_SOURCE_DIR "/docs/cluster.md");
  for (std::string name; names >> name;) {
    const bool is_of_the_system = name == "libc6" || name == "libgcc-s1" || name == "libstdc++6" || name == "zlib1g" ||
                                  name.starts_with("libasan") || name.starts_with("libubsan");
    EXPECT_TRUE(is_of_the_system || page.find(" " + name) != std::string::npos) << name;
  }
}

}  // namespace
}  // namespace replay::test
