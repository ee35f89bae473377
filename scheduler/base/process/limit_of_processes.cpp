#include "scheduler/base/process/limit_of_processes.hpp"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace replay {

int why_no_processes(std::size_t count) {
  std::vector<pid_t> made;
  made.reserve(count);
  int error = 0;
  while (made.size() < count && error == 0) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child < 0)
      error = errno;
    else
      made.push_back(child);
  }
  for (const pid_t child : made)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  return error;
}

}  // namespace replay
