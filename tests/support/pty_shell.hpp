// An interactive shell on a pseudo-terminal, as a user has it: types lines and keys, sees the screen. dash: it leaves the
// terminal's modes alone, and has job control.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/text_screen.hpp"

namespace replay::test {

class PtyShell {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// In `folder`, with these environment variables set (empty: unset) and no other settings of a terminal.
  PtyShell(const std::filesystem::path& folder, int columns, int rows, const Variables& variables);
  PtyShell(const PtyShell&) = delete;
  PtyShell& operator=(const PtyShell&) = delete;
  /// Hangs up.
  ~PtyShell();

  void type(std::string_view keys) const;
  /// The window has another size from now on; the screen is blank until the next picture.
  void resize(int columns, int rows);
  /// Takes what was written meanwhile.
  const TextScreen& screen();
  /// Waits until `text` stands on the screen, or (gone) no longer does.
  [[nodiscard]] bool shows(std::string_view text, std::chrono::seconds within = std::chrono::seconds{30});
  [[nodiscard]] bool hides(std::string_view text, std::chrono::seconds within = std::chrono::seconds{30});
  /// The modes that a user would notice if they were not restored: echo, lines, signals.
  [[nodiscard]] termios modes() const;
  /// The process that the shell has started; -1: none.
  [[nodiscard]] pid_t child() const;

 private:
  int master_ = -1;
  pid_t pid_ = -1;
  TextScreen screen_;
};

[[nodiscard]] bool are_equal(const termios& a, const termios& b);

}  // namespace replay::test
