#include "scheduler/base/terminal/give_back.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "scheduler/base/error.hpp"
#include "scheduler/base/terminal/painter.hpp"

namespace replay::terminal {
namespace {

// Global, as a signal handler has no argument that could refer to an object.
struct Loan {
  std::atomic<bool> is_out{false};
  std::atomic<pid_t> owner{0};  // a child between fork and exec gives nothing back
  std::atomic<bool> continued{false};
  int descriptor = -1;
  termios modes{};
};
Loan loan;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

constexpr std::array kDeaths = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};

bool takes_output(int descriptor) {
  pollfd ready{descriptor, POLLOUT, 0};
  return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

void set_modes(int descriptor, const termios& modes) {
  // In the background tcsetattr() raises SIGTTOU. It is blocked: only this program still has the modes to restore.
  sigset_t ttou;
  sigset_t before;
  ::sigemptyset(&ttou);
  ::sigaddset(&ttou, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &ttou, &before);
  ::tcsetattr(descriptor, TCSANOW, &modes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Lets the default action of `number` happen, to this thread.
void act_by_default(int number) {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigemptyset(&by_default.sa_mask);
  struct sigaction ours {};
  ::sigaction(number, &by_default, &ours);
  ::raise(number);
  sigset_t set;
  sigset_t before;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  ::pthread_sigmask(SIG_UNBLOCK, &set, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);  // only a stop comes back here
  ::sigaction(number, &ours, nullptr);
}

void on_signal(int number) {
  const int before = errno;
  give_back();
  act_by_default(number);
  errno = before;
}

void on_continue(int /*number*/) { loan.continued = true; }

// Handlers that others have installed (a sanitizer's) and signals that are ignored stay as they are.
void handle_if_default(int number, void (*handler)(int), int flags) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_handler = handler;
  ours.sa_flags = flags;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(number, &ours, nullptr);
}

}  // namespace

void borrow(int descriptor, const termios& modes_before) {
  INVARIANT(!loan.is_out, "two loans of the terminal");
  loan.descriptor = descriptor;
  loan.modes = modes_before;
  loan.owner = ::getpid();
  loan.is_out = true;
  for (const int number : kDeaths) handle_if_default(number, on_signal, 0);
  handle_if_default(SIGTSTP, on_signal, SA_RESTART);
  handle_if_default(SIGCONT, on_continue, SA_RESTART);
}

bool give_back() {
  if (::getpid() != loan.owner || !loan.is_out.exchange(false)) return false;
  if (takes_output(loan.descriptor)) static_cast<void>(!::write(loan.descriptor, kLeave.data(), kLeave.size()));
  set_modes(loan.descriptor, loan.modes);
  return true;
}

bool is_borrowed() { return loan.is_out; }

bool was_continued() { return loan.continued.exchange(false); }

}  // namespace replay::terminal
