// Tests of the start of agents with scripts in place of ssh and of agents: what each host's call is, that one host delays no
// other, that each failure is one line, and that nothing is left afterwards.
#include "launcher/bootstrap/agent_starter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "launcher/daemon/link_key.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "tests/support/background.hpp"
#include "tests/support/shell.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string refusal_of(const Bootstrap& how) {
  try {
    (void)words_to_start_agent(how, {.host = "a"});
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(WordsToStartAnAgent, SayWhichCoresAndWhichDeviceItTakes) {
  const auto words = [](const Host& one, std::vector<std::string> options = {}) {
    return command_line_of(words_to_start_agent({"srun -w  'x y'", "/opt/replay", std::move(options)}, one));
  };
  const std::string same = "srun -w 'x y' a /opt/replay agent --key - --listen 0.0.0.0:0 --stay";
  EXPECT_EQ(words({.host = "a"}), same);
  EXPECT_EQ(words({.host = "a", .slots = 3}, {"--turn", "20ms"}), same + " --slots 3 --turn 20ms");
  EXPECT_EQ(words({.host = "a", .at_most = 3}), same + " --at-most 3");
  EXPECT_EQ(words({.host = "a", .cores = {PuId{0}, PuId{5}}}), same + " --machine local:0,5");
  EXPECT_EQ(words({.host = "a", .emulated = EmulatedCores{2, 4}}), same + " --machine emulated:1x2x4");
  EXPECT_EQ(words({.host = "a", .slots = 1, .interface = "mlx5_0:1"}), same + " --slots 1 --iface mlx5_0:1");
}

TEST(WordsToStartAnAgent, AreThoseThatNoShellChanges) {
  for (const char* bad : {"/my home/replay", "$HOME/replay", "~/replay", "", "re*", "a;b", "\xc3\xa4"})
    EXPECT_NE(refusal_of({.program = bad})
                  .find(fmt::format("on host a: expected words of letters, digits and "
                                    "_@%+=:,./- since a shell there reads them again, found '{}'",
                                    bad)),
              std::string::npos)
        << refusal_of({.program = bad});
  EXPECT_NE(refusal_of({.options = {"--turn", "20 ms"}}).find("found '20 ms'"), std::string::npos);
  EXPECT_NE(refusal_of({.command = "ssh 'a"}).find("found a quote that is not closed"), std::string::npos);
  EXPECT_NE(refusal_of({.command = " "}).find("found nothing"), std::string::npos);
}

class AgentStarterTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1); }  // marks every process of this test

  /// A script in place of CMD; $1 is the host.
  void stand_in(const std::string& script) {
    how_.command = script_of("ssh", script);
    how_.program = "replay";
  }
  std::string script_of(const std::string& name, const std::string& script) const {
    const fs::path file = folder_ / name;
    test::write_text(file, "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
  /// Starts agents on hosts h1 to h`count`.
  std::unique_ptr<AgentStarter> start(int count = 1) const {
    std::vector<Host> hosts;
    for (int i = 1; i <= count; ++i) hosts.push_back({.host = fmt::format("h{}", i)});
    return std::make_unique<AgentStarter>(how_, hosts, key_);
  }
  std::string why() const { return start()->agents().at(0).why; }
  std::string processes() const { return test::processes_marked(folder_.path().string()); }
  /// Those that were killed, but are no children of ours, may take a moment.
  void expect_nothing_left() const {
    EXPECT_TRUE(test::comes_true([this] { return processes().empty(); }, 5s)) << processes();
  }

  /// An agent as it behaves: says where it listens, and ends with its input.
  static constexpr const char* kAgent =
      "echo replay agent: listening on 0.0.0.0:$((1000 + ${1#h})); exec cat > /dev/null";

  TemporaryFolder folder_;
  Bootstrap how_;
  const protocol::LinkKey key_ = new_link_key();
};

TEST_F(AgentStarterTest, TheKeyGoesThroughStandardInputAlone) {
  how_.command = script_of("ssh", "shift; exec \"$@\"");
  how_.program =
      script_of("replay", fmt::format("cd {}; read key; echo \"$key\" > key; echo \"$@\" > words; env > variables\n"
                                      "echo replay agent: listening on 0.0.0.0:7; exec cat > rest",
                                      folder_.path().string()));
  const auto starter = start();
  EXPECT_EQ(starter->agents().at(0).host, "h1");
  EXPECT_EQ(starter->agents().at(0).port, 7) << starter->agents().at(0).why;
  const std::string line = text_of_link_key(key_);
  EXPECT_EQ(test::text_of(folder_ / "key"), line);
  EXPECT_EQ(test::text_of(folder_ / "words"), "agent --key - --listen 0.0.0.0:0 --stay\n");
  EXPECT_EQ(test::text_of(folder_ / "variables").find(line.substr(0, 64)), std::string::npos);
}

TEST_F(AgentStarterTest, FortyHostsTakeAsLongAsOne) {
  stand_in(std::string{"sleep 1; "} + kAgent);
  const auto begin = Clock::now();
  auto starter = start(40);
  EXPECT_LT(Clock::now() - begin, 20s);
  for (int i = 1; i <= 40; ++i) EXPECT_EQ(starter->agents().at(static_cast<std::size_t>(i - 1)).port, 1000 + i) << i;
  starter.reset();
  expect_nothing_left();
}

TEST_F(AgentStarterTest, NothingIsStartedWhereAnAgentRuns) {
  stand_in("exit 1");
  const AgentStarter starter{how_, {{.host = "a", .agent_port = 40123}}, key_};
  EXPECT_EQ(starter.agents().at(0).port, 40123);
  EXPECT_EQ(starter.agents().at(0).why, "");
}

TEST_F(AgentStarterTest, WhatACallSaysLastIsTheReason) {
  stand_in("echo warning >&2; echo \"ssh: Could not resolve hostname $1\" >&2; exit 255");
  EXPECT_EQ(why(), "host h1: ssh: Could not resolve hostname h1 (exit status 255)");
  stand_in("printf 'no\\033[2J agent\\n\\n' >&2; exit 1");
  EXPECT_EQ(why(), "host h1: no agent (exit status 1)");
  stand_in("exit 3");
  EXPECT_EQ(why(), "host h1: ended before its agent had come (exit status 3)");
  stand_in("kill -9 $$");
  EXPECT_EQ(why(), "host h1: ended before its agent had come (signal 9 (Killed))");
  how_.command = "no-such-program -x";
  EXPECT_EQ(why(), "host h1: cannot execute no-such-program: No such file or directory (exit status 127)");
  how_.command = folder_.path().string();
  EXPECT_EQ(why(),
            fmt::format("host h1: cannot execute {}: Permission denied (exit status 127)", folder_.path().string()));
}

TEST_F(AgentStarterTest, AHostThatHangsIsEndedAndDelaysNoOther) {
  stand_in(
      fmt::format("if [ $1 = h2 ]; then echo connecting >&2; trap '' TERM; sleep 600 & sleep 600; fi; {}", kAgent));
  how_.limit = 1s;
  auto starter = start(3);
  EXPECT_EQ(starter->agents()[0].port, 1001);
  EXPECT_EQ(starter->agents()[1].port, 0);
  EXPECT_EQ(starter->agents()[1].why, "host h2: no agent within 1 s; its last words: connecting");
  EXPECT_EQ(starter->agents()[2].port, 1003);
  starter.reset();
  expect_nothing_left();
}

TEST_F(AgentStarterTest, WhatComesBeforeTheLineIsPassedOver) {
  stand_in(
      std::string{
          "echo; echo Welcome; echo replay agent: listening on nothing; echo x replay agent: listening on a:1;\n"} +
      kAgent);
  EXPECT_EQ(start()->agents()[0].port, 1001);
}

TEST_F(AgentStarterTest, AHundredMegabytesAreReadAndNotKept) {
  stand_in(std::string{"head -c 100000000 /dev/zero >&2; head -c 100000000 /dev/zero; echo; "} + kAgent);
  EXPECT_EQ(start()->agents()[0].port, 1001);
}

TEST_F(AgentStarterTest, OneThatNeverStopsTalkingIsEnded) {
  stand_in(std::string{"if [ $1 = h1 ]; then yes no >&2 & exec yes; fi; "} + kAgent);
  how_.limit = 1s;
  auto starter = start(2);
  EXPECT_EQ(starter->agents()[0].why, "host h1: no agent within 1 s; its last words: no");
  EXPECT_EQ(starter->agents()[1].port, 1002);
  starter.reset();
  expect_nothing_left();
}

TEST_F(AgentStarterTest, AnAgentThatTalksLaterIsReadAndItsLastWordsAreKept) {
  stand_in(
      "echo replay agent: listening on 0.0.0.0:7; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2\n"
      "echo >&2; echo Connection to $1 closed >&2");
  const auto starter = start();
  EXPECT_EQ(starter->agents()[0].port, 7);
  EXPECT_TRUE(test::comes_true([&] { return starter->last_words(0) == "Connection to h1 closed"; }))
      << starter->last_words(0);
}

TEST_F(AgentStarterTest, OneWhoseCallHasEndedIsStartedAgainUntilItComes) {
  stand_in(
      fmt::format("echo >>{0}; n=$(wc -l <{0}); [ $n = 2 ] && {{ echo no route >&2; exit 3; }}\n"
                  "echo replay agent: listening on 0.0.0.0:$n; [ $n = 3 ] && exec cat >/dev/null",
                  (folder_ / "calls").string()));
  auto starter = start();
  std::vector<std::string> seen;
  const auto looks = [&]() -> std::string {
    try {
      return fmt::format("{}", starter->port_of_running(0, -1));
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_TRUE(test::comes_true([&] {
    if (const std::string now = looks(); seen.empty() || seen.back() != now) seen.push_back(now);
    return seen.back() == "3";
  }));
  if (seen.front() == "1") seen.erase(seen.begin());  // its call had not ended yet
  EXPECT_EQ(seen, (std::vector<std::string>{"host h1: no route (exit status 3)", "3"}));
  EXPECT_EQ(looks(), "3") << "it runs";
  EXPECT_EQ(starter->agents()[0].port, 1) << "as it came at first";
  starter.reset();
  expect_nothing_left();
}

TEST_F(AgentStarterTest, OneThatDoesNotEndWithItsInputIsKilledWithItsChildren) {
  stand_in("trap '' TERM; sleep 600 & echo replay agent: listening on 0.0.0.0:7; sleep 600");
  how_.time_to_end = 100ms;
  EXPECT_EQ(start()->agents()[0].port, 7);
  expect_nothing_left();
}

TEST_F(AgentStarterTest, NothingIsLeftWhenItIsKilled) {
  stand_in(fmt::format("if [ $1 = h2 ]; then exec sleep 600; fi; {}", kAgent));
  const pid_t child = ::fork();
  if (child == 0) {
    (void)start(2);
    ::_exit(0);
  }
  EXPECT_TRUE(test::comes_true([&] {
    return processes().find("sleep") != std::string::npos && processes().find("cat") != std::string::npos;
  })) << processes();
  send_signal(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  expect_nothing_left();
}

TEST_F(AgentStarterTest, AStopSignalEndsTheWait) {
  stand_in("sleep 600");
  const StopSignals signals;
  const HeedStops heeding;
  const pid_t here = ::getpid();
  std::thread user{[here] {
    std::this_thread::sleep_for(300ms);
    send_signal(here, SIGTERM);
  }};
  EXPECT_EQ(why(), "host h1: stopped before its agent had come");
  user.join();
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::launcher
