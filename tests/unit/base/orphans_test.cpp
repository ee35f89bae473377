// Tests of adopted orphans: they are given to the process that asked for them, and only those are named that we cannot
// have started ourselves. Each test runs in a process of its own, because it is checked only once whether there were
// children before.
#include "scheduler/base/process/orphans.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "scheduler/base/process/send_signal.hpp"

namespace replay {
namespace {

/// Runs `play` in a child; returns its result.
int in_a_process_of_its_own(const std::function<int()>& play) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(play());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Starts a process that sleeps in a session of its own; its parent lives on or (`is_orphan`) has exited. Returns the
/// parent's pid.
pid_t start_below(bool is_orphan) {
  int ready[2];
  if (::pipe(ready) != 0) ::abort();
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setsid();
    if (::fork() == 0) {
      ::setsid();
      (void)!::write(ready[1], "r", 1);
      ::execle("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr), static_cast<char**>(nullptr));
      ::_exit(1);
    }
    while (!is_orphan) ::pause();
    ::_exit(0);
  }
  char byte = 0;
  (void)!::read(ready[0], &byte, 1);
  ::close(ready[0]);
  ::close(ready[1]);
  if (is_orphan) ::waitpid(parent, nullptr, 0);
  return parent;
}

int end_all(const std::vector<Process>& processes) {
  for (const Process& process : processes) process.signal(SIGKILL);
  return static_cast<int>(processes.size());
}

TEST(Orphans, AreFoundHoweverTheyHide) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              adopt_orphans();
              start_below(true);
              return end_all(orphans());
            }),
            1);
}

TEST(Orphans, AChildOfOursInASessionOfItsOwnIsNoneAndNeitherIsWhatIsBelowIt) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              adopt_orphans();
              const pid_t agent = start_below(false);
              const OwnSessionChild known{agent};
              const int found = end_all(orphans());
              for (const pid_t pid : descendants_of(agent)) send_signal(pid, SIGKILL);
              send_signal(agent, SIGKILL);
              return found;
            }),
            0);
}

TEST(Orphans, AChildThatSharesOurSessionIsNone) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              adopt_orphans();
              const pid_t helper = ::fork();
              if (helper == 0)
                while (true) ::pause();
              const int found = end_all(orphans());
              send_signal(helper, SIGKILL);
              return found;
            }),
            0);
}

TEST(Orphans, WhereThereWereChildrenBeforeNothingIsTakenForOurs) {
  EXPECT_EQ(in_a_process_of_its_own([] {
              const pid_t before = ::fork();  // like a shell's background job after exec
              if (before == 0)
                while (true) ::pause();
              adopt_orphans();
              start_below(true);
              const int found = end_all(orphans());
              for (const pid_t pid : children_of(::getpid())) send_signal(pid, SIGKILL);
              return found;
            }),
            0);
}

}  // namespace
}  // namespace replay
