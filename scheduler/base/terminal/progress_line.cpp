#include "scheduler/base/terminal/progress_line.hpp"

#include <fmt/core.h>
#include <unistd.h>

namespace replay::terminal {

ProgressLine::ProgressLine() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string_view text) {
  const std::scoped_lock lock{mutex_};
  if (!is_terminal_ || std::chrono::steady_clock::now() - started_ < std::chrono::seconds{2}) return;
  fmt::print(stderr, "\r{}\x1b[K", text);
  is_dirty_ = true;
}

ProgressLine::~ProgressLine() {
  if (is_dirty_) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace replay::terminal
