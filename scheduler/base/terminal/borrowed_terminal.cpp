#include "scheduler/base/terminal/borrowed_terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "scheduler/base/terminal/give_back.hpp"
#include "scheduler/base/terminal/painter.hpp"

namespace replay::terminal {
namespace {

enum class Control : std::uint8_t { kForeground, kBackground, kNotOurs };

// Whether the process is in the terminal's foreground; a terminal that does not control this session has none for it.
Control control_of(int descriptor) {
  const pid_t foreground = ::tcgetpgrp(descriptor);
  if (foreground < 0) return Control::kNotOurs;
  return foreground == ::getpgrp() ? Control::kForeground : Control::kBackground;
}

// Keys one by one, without echo. Signals (Ctrl-C, Ctrl-Z) and flow control (Ctrl-S) stay.
termios for_keys(termios modes) {
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  modes.c_cc[VMIN] = 0;
  modes.c_cc[VTIME] = 0;
  return modes;
}

}  // namespace

BorrowedTerminal::BorrowedTerminal(int descriptor)
    : descriptor_(descriptor),
      own_(::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)),
      has_keys_(own_.is_open() && control_of(descriptor) != Control::kNotOurs) {}

BorrowedTerminal::~BorrowedTerminal() { leave(); }

BorrowedTerminal::Place BorrowedTerminal::take() {
  if (!has_keys_) return std::exchange(is_drawn_on_, true) ? Place::kOurs : Place::kAnew;
  if (control_of(descriptor_) != Control::kForeground) return Place::kAway;
  const bool continued = was_continued();
  if (is_borrowed() && !continued) return Place::kOurs;
  termios modes{};
  if (::tcgetattr(descriptor_, &modes) != 0) return Place::kAway;
  const bool is_anew = !is_borrowed();
  if (is_anew) borrow(own_.get(), modes);
  const termios ours = for_keys(modes);
  ::tcsetattr(descriptor_, TCSANOW, &ours);
  return is_anew ? Place::kAnew : Place::kRedraw;
}

bool BorrowedTerminal::is_ours() const { return !has_keys_ || is_borrowed(); }

std::string_view BorrowedTerminal::typed() {
  typed_.clear();
  if (!has_keys_ || !is_borrowed() || control_of(descriptor_) != Control::kForeground) return typed_;
  std::array<char, 256> bytes{};
  const ssize_t got = ::read(own_.get(), bytes.data(), bytes.size());
  if (got > 0) typed_.assign(bytes.data(), static_cast<std::size_t>(got));
  return typed_;
}

void BorrowedTerminal::leave() {
  if (std::exchange(is_drawn_on_, false)) {
    static_cast<void>(!::write(descriptor_, kLeave.data(), kLeave.size()));
    return;
  }
  if (!is_borrowed()) return;
  if (control_of(descriptor_) == Control::kForeground) {
    pollfd ready{own_.get(), POLLOUT, 0};
    while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
    }
    ::tcflush(descriptor_, TCIFLUSH);  // keys meant for the picture are not commands for the shell
  }
  give_back();
}

}  // namespace replay::terminal
