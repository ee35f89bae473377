// Tests of what is killed while a job spans the hosts of a file: the reason names the host, and nothing is left.
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/hosts_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

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

// Otherwise those on other hosts, which abort when they lose one, may end mpiexec before its agent knows why.
TEST_F(Hosts, RanksOfAProxyThatIsKilledLiveUntilMpiexecsAgentKnows) {
  const auto running = with_a_spanning_job();
  const auto above = [](pid_t pid) { return read_stat(pid).value_or(ProcessStat{}).parent; };
  const pid_t far_rank = rank(3), far_proxy = above(far_rank), home_agent = above(above(rank(0)));
  ASSERT_GT(far_rank, 0);
  ASSERT_EQ(read_stat(home_agent).value_or(ProcessStat{}).name, "replay-agent");
  send_signal(home_agent, SIGSTOP);
  send_signal(far_proxy, SIGKILL);
  EXPECT_TRUE(comes_true([&] { return !read_stat(far_proxy); }));
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  EXPECT_NE(rank(3), 0) << "was killed before";
  send_signal(home_agent, SIGCONT);
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(events().find("finish job=1 outcome=failed"), std::string::npos) << events();
  EXPECT_NE(events().find("reason=\"127.0.0.2: Hydra's proxy was killed by signal 9"), std::string::npos) << events();
  expect_nothing_left();
}

TEST_F(Hosts, AnAgentThatIsKilledLosesItsJobsAndTheHostIsUsedAgain) {
  write_text(folder_ / "t.swf", text_of(folder_ / "long.swf") + "2 1 -1 1 4 0.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  const auto running = daemon(on_hosts("t.swf", "easy"));
  ASSERT_TRUE(comes_true([this] { return events().find(" submit job=2") != std::string::npos; })) << running->out();
  ASSERT_EQ(named("replay-agent").size(), 2U);
  send_signal(named("replay-agent").back(), SIGKILL);
  EXPECT_EQ(running->wait(), 1) << "a job was lost";
  for (const char* const one :
       {"finish job=1 outcome=lost.* reason=\"127.0.0.[12]: .*has started anew", "node node=[01] state=down",
        "node node=[01] state=up", "finish job=2 outcome=completed"})
    EXPECT_TRUE(std::regex_search(events(), std::regex{one})) << one << "\n" << events();
  expect_nothing_left();
}

TEST_F(Hosts, AnAgentOfTheUsersThatIsStartedAgainIsUsedAgain) {
  machine_ = kEmulated;
  start_agent();
  write_text(folder_ / "two.hosts",
             fmt::format("127.0.0.1 agent={}\n127.0.0.2 emulated=1x2\n", launcher::LinkAddress::parse(address_).port));
  write_text(folder_ / "t.swf", text_of(folder_ / "long.swf") + "2 1 -1 1 4 0.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto words = on_hosts("t.swf", "easy");
  words.insert(words.end(), {"--agent-key", key_.string()});
  const auto running = daemon(words);
  ASSERT_TRUE(comes_true([this] { return events().find(" submit job=2") != std::string::npos; })) << running->out();
  agent_->send(SIGKILL);
  agent_->wait();
  EXPECT_TRUE(comes_true([this] { return events().find("node node=0 state=down") != std::string::npos; })) << events();
  start_agent({"--listen", address_});
  EXPECT_EQ(running->wait(), 1) << "a job was lost";
  for (const char* const one :
       {"finish job=1 outcome=lost.* reason=\"127.0.0.1: ", "node node=0 state=up", "finish job=2 outcome=completed"})
    EXPECT_TRUE(std::regex_search(events(), std::regex{one})) << one << "\n" << events() << output();
  expect_nothing_left();
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

TEST_F(Hosts, OneThatDoesNotComeIsNamedAndTheOthersGo) {
  write_text(folder_ / "start.sh",
             "#!/bin/sh\n[ $1 = 127.0.0.2 ] && { echo no such host >&2; exit 3; }\nshift\nexec \"$@\"\n");
  EXPECT_EQ(run(on_hosts("long.swf")), 1);
  EXPECT_NE(output().find("host 127.0.0.2: no such host (exit status 3)"), std::string::npos) << output();
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
