// The terminal while a program shows pictures on it: a screen of its own, keys as they are typed and without echo. It
// is taken only while the program is in the foreground, and given back at the end, when the program is stopped (Ctrl-Z),
// and when it is ended or crashes. Ctrl-C, Ctrl-Z and Ctrl-S keep their meanings. Not ncurses: it would install
// handlers of its own for the stop signals, and its output waits for a terminal that takes none (docs/adr/0024).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::terminal {

class BorrowedTerminal {
 public:
  /// `descriptor` is a terminal and outlives this; nothing is changed yet. One at a time.
  explicit BorrowedTerminal(int descriptor);
  BorrowedTerminal(const BorrowedTerminal&) = delete;
  BorrowedTerminal& operator=(const BorrowedTerminal&) = delete;
  /// As leave().
  ~BorrowedTerminal();

  enum class Place : std::uint8_t {
    kAway,    ///< in the background: nothing may be drawn, and no key is ours
    kAnew,    ///< taken just now: kEnter has to be written, and the whole picture
    kRedraw,  ///< ours, but others may have drawn on it
    kOurs
  };
  /// Before each picture. A few system calls.
  [[nodiscard]] Place take();

  /// Whether what take() said still holds: not after a Ctrl-Z since then. Asked before each write.
  [[nodiscard]] bool is_ours() const;
  /// Does not block: writes to it take what fits.
  [[nodiscard]] int output() const { return own_.is_open() ? own_.get() : descriptor_; }
  /// What was typed since the last call; nothing unless take() said that it is ours.
  [[nodiscard]] std::string_view typed();
  /// Whether keys can come at all: not from a terminal that is not the program's own.
  [[nodiscard]] bool has_keys() const { return has_keys_; }
  /// Gives it back. May wait for a terminal that takes no output.
  void leave();

 private:
  int descriptor_;
  UniqueFd own_;  // the same terminal, opened again: not to block is a property of the open file, which others share
  bool has_keys_ = false;
  bool is_drawn_on_ = false;  // a terminal that is not the program's own, whose modes stay as they are
  std::string typed_;
};

}  // namespace replay::terminal
