#include "scheduler/base/process/orphans.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <set>

namespace replay {
namespace {

/// One set per process, whichever thread has started the children.
struct OwnChildren {
  pid_t asked_by = 0;  ///< a pid: a forked child of the process that asked has not asked itself
  bool had_some_before = false;
  std::set<pid_t> in_own_sessions;
};

std::mutex own_children_mutex;  // for own_children()

OwnChildren& own_children() {
  static OwnChildren children;
  if (children.asked_by != ::getpid()) children = {};
  return children;
}

}  // namespace

void adopt_orphans() {
  const std::lock_guard lock{own_children_mutex};
  OwnChildren& own = own_children();
  if (own.asked_by != 0) return;
  own.asked_by = ::getpid();
  own.had_some_before = !children_of(::getpid()).empty();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

OwnSessionChild::OwnSessionChild(pid_t pid) : pid_(pid) {
  const std::lock_guard lock{own_children_mutex};
  own_children().in_own_sessions.insert(pid);
}
OwnSessionChild::~OwnSessionChild() {
  const std::lock_guard lock{own_children_mutex};
  own_children().in_own_sessions.erase(pid_);
}

std::vector<Process> orphans() {
  std::vector<Process> found;
  const std::lock_guard lock{own_children_mutex};
  const OwnChildren& own = own_children();
  if (own.asked_by == 0 || own.had_some_before) return found;
  const pid_t session = ::getsid(0);
  for (const pid_t child : children_of(::getpid())) {
    if (own.in_own_sessions.contains(child) || ::getsid(child) == session) continue;
    if (auto process = open_child(child, ::getpid())) {
      found.push_back(std::move(*process));
      for (Process& below : open_all_below(child)) found.push_back(std::move(below));
    } else {
      ::waitpid(child, nullptr, WNOHANG);
    }
  }
  return found;
}

}  // namespace replay
