// A process whose user may have few processes at a time.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace replay::test {

inline constexpr int kNoLimit = 255;  ///< of within_limit(): there is no user to spare

/// What `body`, 0 to 254, returns in a child with a user id of its own, which has a limit of so many processes with the child.
/// kNoLimit: the test is not root's, and all processes of its user would count.
template <class Body>
int within_limit(rlim_t processes, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const uid_t id = 1'000'000'000 + static_cast<uid_t>(::getpid());
    const rlimit few{processes, processes};
    if (::geteuid() != 0 || ::setresuid(id, id, id) != 0 || ::setrlimit(RLIMIT_NPROC, &few) != 0) ::_exit(kNoLimit);
    ::_exit(body());
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace replay::test
