// Gives a terminal back as it was found, from any place: an ordinary end, a signal handler, a broken invariant. One
// terminal at a time is on loan; what changed it registers how it was before. No other file knows that state.
#pragma once

#include <termios.h>

namespace replay::terminal {

/// From now on give_back() writes kLeave to `descriptor` and sets these modes. Also when a signal ends the program by
/// its default action (SIGABRT, SIGSEGV and their like, SIGQUIT), or stops it (Ctrl-Z); those that a StopSignals owns
/// do it by themselves. REQUIRES: nothing is on loan.
void borrow(int descriptor, const termios& modes_before);

/// Nothing if nothing is on loan. Async-signal-safe and never blocks: a terminal that takes no output at present gets
/// its modes back only. Returns whether something was.
bool give_back();

/// Whether the terminal is still borrowed: not so after a Ctrl-Z.
[[nodiscard]] bool is_borrowed();

/// Whether the program was stopped and goes on (SIGCONT) since the last call.
[[nodiscard]] bool was_continued();

}  // namespace replay::terminal
