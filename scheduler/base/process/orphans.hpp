// Processes that became children of this one because their own parent died. The kernel hands orphans to the nearest
// ancestor that has asked for them; so the processes that a killed agent or an ended policy program leaves behind come
// to the process that started it, even from their own session, with an empty environment and all descriptors closed.
// Callable from any thread.
#pragma once

#include <sys/types.h>

#include <vector>

#include "scheduler/base/process/process.hpp"

namespace replay {

/// Asks the kernel for the orphans of all that this process starts from now on. Called before the first of
/// them is started.
void adopt_orphans();

/// Marks a child, while this object lives, as started by us in a session of its own: it is no orphan.
class OwnSessionChild {
 public:
  explicit OwnSessionChild(pid_t pid);
  OwnSessionChild(const OwnSessionChild&) = delete;
  OwnSessionChild& operator=(const OwnSessionChild&) = delete;
  ~OwnSessionChild();

 private:
  pid_t pid_;
};

/// The orphans, and all below them. An orphan is a living child of ours in another session that is no OwnSessionChild:
/// our other children share our session, and a process that has left it cannot come back. Each has been opened and is
/// still our descendant, so that it may be ended. Reaps those that are dead. Empty where this process had children
/// before adopt_orphans(), as after `exec` in a shell with jobs in the background: those may leave orphans, too.
[[nodiscard]] std::vector<Process> orphans();

}  // namespace replay
