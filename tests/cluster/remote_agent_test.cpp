// Tests of `replay agent` with daemons that connect over TCP, as programs: a remote trace runs as a local one does; a
// peer without the key, one that sends garbage or nothing, and a second daemon are rejected and disturb no run; and
// when the agent or the daemon is killed, nothing stays behind. Tests of the connection alone run on emulated cores, where
// jobs hardly compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/daemon/agent_executor.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/remote_agent_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TEST_F(RemoteAgent, ATraceRunsThereAndEveryResultIsVerified) {
  start_agent();
  ASSERT_EQ(run(arguments("short.swf")), 0) << output();
  expect_all_verified(2);
  EXPECT_NE(events().find("resize"), std::string::npos) << "the wide job was to be shrunk";
  EXPECT_EQ(agent_->wait(), 0) << "it goes with its first daemon: " << text_of(folder_ / "agent.err");
  expect_nothing_left();
}

TEST_F(RemoteAgent, RelativeFoldersAreTheDaemonsOwn) {
  machine_ = kEmulated;
  start_agent();
  auto all = arguments("short.swf");
  std::string command = REPLAY_PROGRAM;
  for (const std::string& word : all) command += " '" + (word == (folder_ / "r").string() ? "r" : word) + "'";
  const ShellResult result = shell(command, folder_.path());  // the agent is in another folder
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_FALSE(text_of(folder_ / "r/jobs/1/stdout").empty());
}

TEST_F(RemoteAgent, AnotherKeyOrNoneIsRefusedAndTheRightOneStillGetsIn) {
  machine_ = kEmulated;
  start_agent();
  launcher::make_link_key(folder_ / "other");
  auto wrong = arguments("short.swf");
  std::ranges::replace(wrong, key_.string(), (folder_ / "other").string());
  EXPECT_EQ(run(wrong), 1);
  EXPECT_NE(output().find("wrong key"), std::string::npos) << output();
  EXPECT_NE(agent_->err().find("wrong key"), std::string::npos) << agent_->err();

  EXPECT_EQ(run({"--trace", (folder_ / "short.swf").string(), "--policy", "easy", "--machine", "agent:" + address_}),
            2);
  EXPECT_NE(output().find("--agent-key"), std::string::npos) << output();

  fs::permissions(folder_ / "other", fs::perms::group_read, fs::perm_options::add);
  EXPECT_EQ(run(wrong), 1);
  EXPECT_NE(output().find("chmod 600"), std::string::npos) << output();

  EXPECT_EQ(run(arguments("short.swf")), 0) << output();
  expect_all_verified(2);
}

TEST_F(RemoteAgent, WhoeverKnocksDisturbsNoRun) {
  machine_ = kEmulated;
  start_agent();
  // The job runs much longer than a second daemon waits for the first one to leave.
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 8 2 4 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto running = daemon(arguments("t.swf"));
  ASSERT_TRUE(comes_true([this] { return events().find(" ranks job=1") != std::string::npos; })) << running->out();
  const UniqueFd silent = knock();
  const UniqueFd slow = knock();
  EXPECT_EQ(::send(slow.get(), "RPLAY-LK", 8, MSG_NOSIGNAL), 8);
  for (int i = 0; i < 40; ++i) {
    const UniqueFd garbage = knock();
    const std::string bytes(100, static_cast<char>(i));
    (void)::send(garbage.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  auto second = daemon({"--trace", (folder_ / "short.swf").string(), "--policy", "easy", "--machine",
                        "agent:" + address_, "--agent-key", key_.string(), "--out", (folder_ / "r2").string()},
                       "second");
  EXPECT_EQ(second->wait(), 1);
  EXPECT_NE(second->out().find("serves another daemon"), std::string::npos) << second->out();
  EXPECT_EQ(running->wait(), 0) << output();
  expect_all_verified(1);
  EXPECT_EQ(agent_->wait(), 0);
  EXPECT_NE(agent_->err().find("connections were refused"), std::string::npos) << agent_->err();
  expect_nothing_left();
}

class RemoteAgentWithLease : public RemoteAgent, public testing::WithParamInterface<const char*> {};

TEST_P(RemoteAgentWithLease, KillNineOfTheDaemonLeavesNothingWhenItIsOver) {
  lease_ = GetParam();
  start_agent();
  auto running = daemon_with_a_running_job();
  running->send(SIGKILL);
  running->wait();
  expect_nothing_left();
  EXPECT_EQ(agent_->wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(NoneAndSome, RemoteAgentWithLease, testing::Values("0", "2s"),
                         [](const auto& about) { return about.index == 0 ? "None" : "TwoSeconds"; });

TEST_F(RemoteAgent, KillNineOfTheAgentIsSaidAndLeavesNothing) {
  lease_ = "2s";
  start_agent();
  auto running = daemon_with_a_running_job();
  send_signal(serving(), SIGKILL);
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(output().find("agent " + address_), std::string::npos) << output();
  EXPECT_NE(output().find("the connection has ended"), std::string::npos) << output();
  EXPECT_EQ(agent_->wait(), 1);
  EXPECT_NE(agent_->err().find("signal 9"), std::string::npos) << agent_->err();
  expect_nothing_left();
}

TEST_F(RemoteAgent, KillNineOfItsDoorIsSaidAndLeavesNothing) {
  lease_ = "2s";
  start_agent();
  auto running = daemon_with_a_running_job();
  agent_->send(SIGKILL);
  agent_->wait();
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(output().find("agent " + address_), std::string::npos) << output();
  expect_nothing_left();
}

TEST_F(RemoteAgent, SigtermEndsAllJobsAndTheAgent) {
  start_agent();
  auto running = daemon_with_a_running_job();
  agent_->send(SIGTERM);
  EXPECT_EQ(agent_->wait(), 0);
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(output().find("SIGTERM"), std::string::npos) << output();
  expect_nothing_left();
}

TEST_F(RemoteAgent, ADaemonThatIsSilentIsLost) {
  lease_ = "0";
  machine_ = kEmulated;
  start_agent({"--silence", "3"});
  auto running = daemon_with_a_running_job();
  running->send(SIGSTOP);  // as if the link were cut: it stays open, and nothing comes
  EXPECT_EQ(agent_->wait(), 0);
  EXPECT_NE(agent_->err().find("has not been heard of for 3 s"), std::string::npos) << agent_->err();
  running->send(SIGCONT);
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(output().find("has not been heard of for 3 s"), std::string::npos) << output();
  expect_nothing_left();
}

TEST_F(RemoteAgent, ALivingDaemonIsHeardOfWhateverTheJobsDo) {
  start_agent({"--silence", "5"});
  write_text(folder_ / "t.swf", "; MaxProcs: 2\n1 0 -1 8 2 4 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(run(arguments("t.swf")), 0) << output();
  expect_all_verified(1);
}

/// A policy script that answers in JSON lines and takes longer than the agent's --silence for its second pass, while
/// job 1 runs.
constexpr const char* kThinker = R"(passes=0
while IFS= read -r line; do
  case $line in
    *'"type":"hello"'*) echo '{"type":"hello","protocol":2}'; continue;;
  esac
  passes=$((passes + 1))
  case $passes in
    1) echo '{"actions":[{"start":1}]}';;
    2) sleep 5; echo '{"actions":[]}';;
    3) echo '{"actions":[{"start":2}]}';;
    *) echo '{"actions":[]}';;
  esac
done
)";

TEST_F(RemoteAgent, APolicyThatThinksForLongerThanTheSilenceLosesNoRun) {
  machine_ = kEmulated;
  start_agent({"--silence", "3"});
  write_text(folder_ / "thinker.sh", kThinker);
  write_text(folder_ / "t.swf",
             "; MaxProcs: 2\n"
             "1 0 -1 7.5 2 3.7 -1 2 100 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 1 -1 1 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto all = arguments("t.swf");
  std::ranges::replace(all, "fcfs-malleable", "exec:{sh " + (folder_ / "thinker.sh").string() + "}:timeout=60s");
  EXPECT_EQ(run(all), 0) << output() << agent_->err();
  expect_all_verified(2);
  EXPECT_EQ(agent_->wait(), 0) << agent_->err();
  expect_nothing_left();
}

TEST_F(RemoteAgent, OneThatStaysServesOneDaemonAfterTheOther) {
  machine_ = kEmulated;
  start_agent({"--stay"});
  auto two = arguments("short.swf");
  std::ranges::replace(two, "fcfs-malleable", "fcfs,easy");
  EXPECT_EQ(run(two), 0) << output();
  EXPECT_EQ(run(arguments("short.swf")), 0) << output();
  expect_all_verified(2);
  agent_->send(SIGTERM);
  EXPECT_EQ(agent_->wait(), 0);
  expect_nothing_left();
}

TEST_F(RemoteAgent, OneThatWasStoppedIsEndedAndTheNextDaemonIsServed) {
  machine_ = kEmulated;
  start_agent({"--stay", "--silence", "3"});
  auto running = daemon_with_a_running_job();
  const pid_t stopped = serving();
  send_signal(stopped, SIGSTOP);
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(agent_->err().find("has been stopped (SIGSTOP) for 3 s"), std::string::npos) << agent_->err();
  EXPECT_TRUE(comes_true([&] { return !read_stat(stopped); }));
  EXPECT_EQ(run(arguments("short.swf")), 0) << output() << agent_->err();
  expect_all_verified(2);
  agent_->send(SIGTERM);
  EXPECT_EQ(agent_->wait(), 1) << "as after one that was killed";
  expect_nothing_left();
}

TEST_F(RemoteAgent, SeveralPoliciesWantOneThatStays) {
  start_agent();
  auto two = arguments("short.swf");
  std::ranges::replace(two, "fcfs-malleable", "fcfs,easy");
  EXPECT_EQ(run(two), 2);
  EXPECT_NE(output().find("--stay"), std::string::npos) << output();
}

TEST_F(RemoteAgent, ItsCoresCanBeEmulated) {
  machine_ = "emulated:1x2x2";
  start_agent();
  write_text(folder_ / "t.swf",
             "; MaxProcs: 4\n1 0 -1 2 4 1.5 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.3 -1 1 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  EXPECT_EQ(run(arguments("t.swf")), 0) << output();
  EXPECT_NE(events().find("#machine emulated:1x2x2\n"), std::string::npos) << events();
  EXPECT_EQ(agent_->wait(), 0);
  expect_nothing_left();
}

TEST_F(RemoteAgent, HowItsCoresAreUsedIsSaidToTheAgentAndNotToTheDaemon) {
  for (const std::string words :
       {"--turn 20ms", "--quantum 5ms", "--back-end token", "--smt", "--job-network host", "--quantum 5ms --turn 0"}) {
    const ShellResult result =
        shell(fmt::format("{} --trace {} --policy easy --machine agent:127.0.0.1:1 --agent-key {} {}", REPLAY_PROGRAM,
                          (folder_ / "short.swf").string(), key_.string(), words));
    EXPECT_EQ(result.status, 2) << words << ": " << result.err;
    EXPECT_NE(result.err.find(fmt::format("{}: the agent decides how the cores of its node are used: expected `replay "
                                          "agent {} ...` there",
                                          words, words)),
              std::string::npos)
        << result.err;
  }
}

TEST_F(RemoteAgent, IsOneNodeWithCoresOfItsOwn) {
  for (const char* machine : {"emulated:2x2", "agent:127.0.0.1:1"}) {
    Background agent{REPLAY_PROGRAM,
                     {"agent", "--key", key_.string(), "--machine", machine},
                     folder_ / "agent.out",
                     folder_ / "agent.err"};
    EXPECT_EQ(agent.wait(), 2) << agent.err();
  }
}

TEST_F(RemoteAgent, HydraCanStartIt) {
  Background mpiexec{find_program("mpiexec")->string(),
                     {"-n", "1", REPLAY_PROGRAM, "agent", "--key", key_.string(), "--machine", machine_},
                     folder_ / "agent.out",
                     folder_ / "agent.err"};
  read_address(mpiexec);
  EXPECT_EQ(run(arguments("short.swf")), 0) << output();
  expect_all_verified(2);
  mpiexec.wait();
  expect_nothing_left();
}

/// Records what the executor reports of one job.
class OneJob : public live::ExecutorListener {
 public:
  void on_started(JobId, bool, const std::string&) override {}
  void on_resized(JobId) override {}
  void on_suspended(JobId) override {}
  void on_resumed(JobId) override {}
  void on_measured(JobId, double) override {}
  void on_ended(JobId, const JobEnd& its_end) override { end = its_end; }
  void on_not_started(JobId, const std::string& why) override { not_started = why; }
  void on_action_failed(JobId, const std::string&, const std::string&) override {}
  void on_lost(const std::string& why) override { lost = why; }
  std::optional<JobEnd> end;
  std::string lost, not_started;
};

TEST_F(RemoteAgent, AFolderThatItDoesNotSeeIsNamed) {
  start_agent();
  std::vector<launcher::RemoteNode> nodes;
  nodes.push_back({launcher::connect_agent(launcher::LinkAddress::parse(address_), launcher::read_link_key(key_)),
                   "here",
                   {launcher::PuId{0}}});
  auto executor = launcher::make_remote_executor(std::move(nodes));
  const EventBase loop{event_base_new()};
  OneJob job;
  executor->attach(loop.get(), &job);
  executor->launch({JobId{1}, {"/bin/true"}, {}, folder_ / "not/there", {CoreId{0}}, true});
  LoopEvent tick{loop.get(), -1, EV_PERSIST, [] {}};
  tick.arm_after(10ms);
  ASSERT_TRUE(comes_true([&] {
    event_base_loop(loop.get(), EVLOOP_ONCE);
    return !job.not_started.empty();
  }));
  EXPECT_NE(job.not_started.find((folder_ / "not/there").string()), std::string::npos) << job.not_started;
  executor->detach();
}

}  // namespace
}  // namespace replay::test
