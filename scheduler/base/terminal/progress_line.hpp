// One line on stderr that says how far long work is: only when stderr is a terminal, and only after two seconds.
#pragma once

#include <chrono>
#include <mutex>
#include <string_view>

namespace replay::terminal {

class ProgressLine {
 public:
  ProgressLine();
  /// Shows `text` instead of what was there. Any thread may call it.
  void show(std::string_view text);
  /// Wipes the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  bool is_terminal_;
  bool is_dirty_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace replay::terminal
