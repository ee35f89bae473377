// Tests of stop signals with and without a command that handles them. What ends the program is tried in a child.

#include "scheduler/base/process/stop_signals.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay {
namespace {

// The status that waitpid gives for a child running `program`.
int end_of_child(const std::function<void()>& program) {
  const pid_t child = ::fork();
  if (child == 0) {
    program();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

bool is_readable(int descriptor) {
  pollfd awaited{descriptor, POLLIN, 0};
  return ::poll(&awaited, 1, 0) == 1;
}

TEST(StopSignals, EndTheProgramByDefault) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = end_of_child([number] {
      const StopSignals owner;
      ::raise(number);
    });
    ASSERT_TRUE(WIFSIGNALED(status)) << number;
    EXPECT_EQ(WTERMSIG(status), number);
  }
}

TEST(StopSignals, AreCountedWhileTheyAreHeededAndTheFirstMakesTheExitStatus) {
  const StopSignals owner;
  const HeedStops heeding;
  EXPECT_EQ(stops_asked(), 0);
  EXPECT_FALSE(is_readable(stop_descriptor()));
  ::raise(SIGTERM);
  ::raise(SIGINT);
  EXPECT_EQ(stops_asked(), 2);
  EXPECT_EQ(stop_signal(), SIGTERM);
  EXPECT_EQ(last_stop_signal(), SIGINT);
  EXPECT_EQ(exit_status_after_stop(), 143);
  EXPECT_TRUE(is_readable(stop_descriptor()));
  clear_stop_descriptor();
  EXPECT_FALSE(is_readable(stop_descriptor()));
}

TEST(StopSignals, AHangUpThatTheProgramWasStartedToIgnoreStaysIgnored) {
  const int status = end_of_child([] {
    ::signal(SIGHUP, SIG_IGN);  // as under nohup
    const StopSignals owner;
    const HeedStops heeding;
    ::raise(SIGHUP);
    ::_exit(stops_asked());
  });
  EXPECT_EQ(status, 0);
}

TEST(StopSignals, AnInterruptThatTheProgramWasStartedToIgnoreEndsARunAndNoService) {
  const int status = end_of_child([] {
    ::signal(SIGINT, SIG_IGN);  // as for a background process of a script
    const StopSignals owner;
    ::raise(SIGINT);
    {
      const HeedStops service{HeedStops::Ignored::kStaysIgnored};
      ::raise(SIGINT);
    }
    if (stops_asked() != 0) ::_exit(10);
    const HeedStops run;
    ::raise(SIGINT);
    ::_exit(stops_asked());
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(StopSignals, DoNotConcernAChildThatHasNotBecomeAnotherProgramYet) {
  const StopSignals owner;
  EXPECT_EQ(end_of_child([] { ::raise(SIGTERM); }), 0);
  EXPECT_EQ(stops_asked(), 0);
}

TEST(StopSignals, TakeTheNamesOfUnfinishedFilesWithThem) {
  const TemporaryFolder folder;
  const std::filesystem::path unfinished = folder / "unfinished", kept = folder / "kept";
  const int status = end_of_child([&] {
    const StopSignals owner;
    { const RemovedAtStop over{kept.string()}; }
    const RemovedAtStop removed{unfinished.string()};
    std::ofstream{unfinished} << "half";
    std::ofstream{kept} << "whole";
    ::raise(SIGINT);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  EXPECT_TRUE(std::filesystem::exists(kept));
}

}  // namespace
}  // namespace replay
