#include "tests/support/pty_shell.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/background.hpp"

namespace replay::test {
namespace {

winsize size_of(int columns, int rows) {
  return {static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
}

}  // namespace

PtyShell::PtyShell(const std::filesystem::path& folder, int columns, int rows, const Variables& variables)
    : screen_(columns, rows) {
  const winsize size = size_of(columns, rows);
  pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
  if (pid_ == 0) {
    std::filesystem::current_path(folder);
    for (const char* name : {"TERM", "COLORTERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "ENV"}) ::unsetenv(name);
    ::setenv("PS1", "ready> ", 1);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU}) ::signal(number, SIG_DFL);
    ::execl("/bin/dash", "dash", "-i", nullptr);
    ::_exit(127);
  }
  ::fcntl(master_, F_SETFD, FD_CLOEXEC);
}

PtyShell::~PtyShell() {
  ::close(master_);
  send_signal(pid_, SIGHUP);
  send_signal(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void PtyShell::type(std::string_view keys) const { static_cast<void>(!::write(master_, keys.data(), keys.size())); }

void PtyShell::resize(int columns, int rows) {
  static_cast<void>(screen());
  screen_ = TextScreen{columns, rows};
  const winsize size = size_of(columns, rows);
  ::ioctl(master_, TIOCSWINSZ, &size);
}

const TextScreen& PtyShell::screen() {
  std::array<char, 65536> bytes{};
  for (pollfd ready{master_, POLLIN, 0}; ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0;) {
    const ssize_t got = ::read(master_, bytes.data(), bytes.size());
    if (got <= 0) break;
    screen_.write({bytes.data(), static_cast<std::size_t>(got)});
  }
  return screen_;
}

bool PtyShell::shows(std::string_view text, std::chrono::seconds within) {
  return comes_true([&] { return screen().text().find(text) != std::string::npos; }, within);
}

bool PtyShell::hides(std::string_view text, std::chrono::seconds within) {
  return comes_true([&] { return screen().text().find(text) == std::string::npos; }, within);
}

termios PtyShell::modes() const {
  termios modes{};
  ::tcgetattr(master_, &modes);
  return modes;
}

pid_t PtyShell::child() const {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid_));
  pid_t child = -1;
  children >> child;
  return children ? child : -1;
}

bool are_equal(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}

}  // namespace replay::test
