// Signals of a process that is to become another program, or to live on its own.
#pragma once

#include <signal.h>

namespace replay {

/// Every signal has its default action, and none is blocked. Only calls that are safe after a fork.
inline void reset_signals() {
  for (int number = 1; number < NSIG; ++number)
    if (number != SIGKILL && number != SIGSTOP) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace replay
