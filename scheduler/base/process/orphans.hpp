// Processes that became children of this one because their own parent died. The kernel hands orphans to the nearest
// ancestor that has asked for them; so what an agent leaves behind when it is killed, and a policy program when it ends,
// comes to the process that started it, however well it has hidden (own session, empty environment, all descriptors
// closed). From any thread.
#pragma once

#include <sys/types.h>

#include <vector>

#include "scheduler/base/process/process.hpp"

namespace replay {

/// Asks the kernel for the orphans of all that this process starts from now on. Called before the first of
/// them is started.
void adopt_orphans();

/// While it lives, this child of ours is known as one that we have started, in a session of its own.
class OwnSessionChild {
 public:
  explicit OwnSessionChild(pid_t pid);
  OwnSessionChild(const OwnSessionChild&) = delete;
  OwnSessionChild& operator=(const OwnSessionChild&) = delete;
  ~OwnSessionChild();

 private:
  pid_t pid_;
};

/// The orphans, and all below them. An orphan is a living child of ours in another session that is no OwnSessionChild: what
/// we start otherwise shares our session, which a process cannot come back to. Each has been opened and is still our
/// descendant, so that it may be ended. Reaps those that are dead. Empty where this process had children before
/// adopt_orphans(), as after `exec` in a shell with jobs in the background: those may have orphans, too.
[[nodiscard]] std::vector<Process> orphans();

}  // namespace replay
