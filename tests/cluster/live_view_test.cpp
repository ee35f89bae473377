// The live view as a user has it: a real run on emulated cores in a shell on a pseudo-terminal, with keys, signals, job
// control and other window sizes. Whatever happens, the terminal is as it was before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/background.hpp"
#include "tests/support/pty_shell.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

class LiveViewOnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    if (shell("test -x /bin/dash").status != 0) GTEST_SKIP() << "/bin/dash is missing";
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    write_text(folder_ / "t.swf",
               "; MaxProcs: 8\n"
               "1 0 -1 600 4 600 -1 4 900 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "2 0 -1 600 8 600 -1 8 900 -1 1 1 1 -1 -1 -1 -1 -1\n"
               "3 0 -1 600 8 600 -1 8 900 -1 1 1 1 -1 -1 -1 -1 -1\n");
  }
  void TearDown() override {
    EXPECT_TRUE(comes_true([this] { return left_behind().empty(); })) << left_behind();
  }
  std::string left_behind() const { return processes_marked("REPLAY_TEST_RUN=" + folder_.path().string()); }

  PtyShell open(const PtyShell::Variables& variables = {{"TERM", "xterm-256color"}, {"LANG", "C.UTF-8"}}) {
    return {folder_.path(), 80, 24, variables};
  }
  // The run, and its exit status when it is over. Job 3 waits.
  static std::string command(const std::string& more = "") {
    return fmt::format(
        "{} --trace t.swf --policy fcfs-malleable --machine emulated:2x2x2 --out r --force --time-scale 0.5{}; "
        "echo \"status $?\"\r",
        REPLAY_PROGRAM, more);
  }
  static void expect_given_back(PtyShell& user, const termios& before) {
    EXPECT_TRUE(are_equal(user.modes(), before));
    EXPECT_FALSE(user.screen().mode("?1049"));
    EXPECT_TRUE(user.screen().mode("?25"));
    EXPECT_TRUE(user.screen().mode("?7"));
    EXPECT_EQ(user.screen().faults(), "");
  }

  TemporaryFolder folder_;
};

TEST_F(LiveViewOnATerminal, KeysFoldPauseAndQuitAndTheModesAreRestored) {
  PtyShell user = open();
  ASSERT_TRUE(user.shows("ready>"));
  const termios before = user.modes();
  user.type(command());
  ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
  EXPECT_TRUE(user.shows("fcfs-malleable on emulated:2x2x2"));
  EXPECT_TRUE(user.shows("2 nodes of 2 x 2 cores\n"));
  EXPECT_FALSE(are_equal(user.modes(), before));
  EXPECT_TRUE(user.screen().mode("?1049"));
  EXPECT_GT(user.screen().renditions(), 0);
  EXPECT_EQ(user.modes().c_lflag & static_cast<tcflag_t>(ISIG), static_cast<tcflag_t>(ISIG)) << "for Ctrl-C";

  user.type("f");
  EXPECT_TRUE(user.shows("f fold: cores"));
  user.type("f");
  EXPECT_TRUE(user.shows("folded to packages")) << user.screen().text();
  user.type("p");
  EXPECT_TRUE(user.shows("paused, the run goes on"));
  user.type(" ");
  EXPECT_TRUE(user.hides("paused"));
  user.type("?");
  EXPECT_TRUE(user.shows("this help"));
  user.type("?");
  EXPECT_TRUE(user.hides("this help"));
  user.type("q");
  EXPECT_TRUE(user.shows("end the run?"));
  user.type("x");
  EXPECT_TRUE(user.hides("end the run?"));
  user.type("qq");
  ASSERT_TRUE(user.shows("status 130")) << user.screen().text();
  expect_given_back(user, before);
  EXPECT_TRUE(user.shows("fcfs-malleable on emulated:2x2x2,")) << "how far the run came";
  for (const char* file : {"events.log", "jobs.csv", "metrics.json", "run.json"})
    EXPECT_NE(text_of(folder_ / "r" / file), "") << file;
  EXPECT_NE(text_of(folder_ / "r/events.log").find("note text=\"interrupted\""), std::string::npos);
}

TEST_F(LiveViewOnATerminal, CtrlZGivesTheTerminalBackAndFgTakesItAgain) {
  PtyShell user = open();
  ASSERT_TRUE(user.shows("ready>"));
  const termios before = user.modes();
  user.type(command());
  ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
  user.type("\x1a");
  ASSERT_TRUE(user.shows("Stopped")) << user.screen().text();
  ASSERT_TRUE(comes_true([&] { return are_equal(user.modes(), before); }));
  EXPECT_FALSE(user.screen().mode("?1049"));
  EXPECT_TRUE(user.screen().mode("?25"));
  user.type("fg\r");
  ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
  EXPECT_TRUE(user.screen().mode("?1049"));
  user.type("f");
  EXPECT_TRUE(user.shows("f fold: cores")) << "keys are taken again";
  user.type("\x03");
  ASSERT_TRUE(comes_true([&] { return !user.screen().mode("?1049"); }));
  ASSERT_TRUE(comes_true([&] { return are_equal(user.modes(), before); }));
  user.type("echo \"status $?\"\r");
  ASSERT_TRUE(user.shows("status 130")) << user.screen().text();
  expect_given_back(user, before);
}

TEST_F(LiveViewOnATerminal, ARunInTheBackgroundDrawsNothingAndFgShowsIt) {
  PtyShell user = open();
  ASSERT_TRUE(user.shows("ready>"));
  const termios before = user.modes();
  const std::string line = command();
  user.type(line.substr(0, line.find(';')) + " &\r");
  ASSERT_TRUE(comes_true([this] { return text_of(folder_ / "r/events.log").find(" launch ") != std::string::npos; }));
  user.type("echo here\r");
  ASSERT_TRUE(user.shows("\nhere\n")) << user.screen().text();
  EXPECT_FALSE(user.screen().mode("?1049"));
  EXPECT_TRUE(are_equal(user.modes(), before));
  user.type("fg\r");
  ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
  user.type("qq");
  ASSERT_TRUE(comes_true([&] { return !user.screen().mode("?1049"); }));
  user.type("echo \"status $?\"\r");
  ASSERT_TRUE(user.shows("status 130")) << user.screen().text();
  expect_given_back(user, before);
}

TEST_F(LiveViewOnATerminal, SignalsThatEndTheProgramGiveTheTerminalBack) {
  for (const auto& [signal, status] : {std::pair{SIGTERM, 143}, {SIGABRT, 134}, {SIGQUIT, 131}}) {
    PtyShell user = open();
    ASSERT_TRUE(user.shows("ready>"));
    const termios before = user.modes();
    user.type("ulimit -c 0\r" + command());
    ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
    ASSERT_GT(user.child(), 0);
    send_signal(user.child(), signal);
    ASSERT_TRUE(user.shows(fmt::format("status {}", status))) << user.screen().text();
    expect_given_back(user, before);
    EXPECT_TRUE(comes_true([this] { return left_behind().find("mpiexec") == std::string::npos; })) << left_behind();
  }
}

TEST_F(LiveViewOnATerminal, AnotherWindowSizeIsDrawnAnew) {
  PtyShell user = open();
  ASSERT_TRUE(user.shows("ready>"));
  user.type(command());
  ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
  for (const auto& [columns, rows] : {std::pair{40, 10}, {200, 50}, {20, 5}, {80, 24}}) {
    user.resize(columns, rows);
    EXPECT_TRUE(user.shows("fcfs-mall")) << columns;
    EXPECT_TRUE(user.shows("f fold")) << user.screen().text();
    EXPECT_EQ(user.screen().faults(), "") << columns;
  }
  user.type("qq");
  EXPECT_TRUE(user.shows("status 130")) << user.screen().text();
}

TEST_F(LiveViewOnATerminal, NoColorAndDumbTerminalsAreRespected) {
  {
    PtyShell user = open({{"TERM", "xterm-256color"}, {"NO_COLOR", "1"}});
    user.type(command());
    ASSERT_TRUE(user.shows("A 1 (4")) << user.screen().text();
    EXPECT_TRUE(user.shows("[#####"));
    EXPECT_LE(user.screen().renditions(), 1) << "the reset before the first picture";
    EXPECT_TRUE(std::ranges::all_of(user.screen().text(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
    user.type("qq");
    EXPECT_TRUE(user.shows("status 130")) << user.screen().text();
  }
  PtyShell user = open({{"TERM", "dumb"}});
  ASSERT_TRUE(user.shows("ready>"));
  const termios before = user.modes();
  user.type(command());
  ASSERT_TRUE(user.shows("job 1 started on")) << user.screen().text();
  EXPECT_TRUE(are_equal(user.modes(), before));
  EXPECT_EQ(user.screen().renditions(), 0);
  user.type("\x03");
  EXPECT_TRUE(user.shows("status 130")) << user.screen().text();
}

}  // namespace
}  // namespace replay::test
