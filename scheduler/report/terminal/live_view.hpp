// Live view of a run. On a terminal it redraws one picture in place, as run_frame.hpp lays it out, and obeys keys: fold,
// scroll, pause, quit. Elsewhere (a pipe, a log file, TERM=dumb), or on request, it prints one plain line for each
// important event. It is made of the records of an event log and of the time that draw() is told, and asks nothing else
// of the program that has the run. Drawing never blocks the run: output that the terminal does not take is buffered, and
// pictures are skipped meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/base/terminal/abilities.hpp"
#include "scheduler/base/terminal/borrowed_terminal.hpp"
#include "scheduler/base/terminal/keys.hpp"
#include "scheduler/base/terminal/painter.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/report/terminal/run_frame.hpp"
#include "scheduler/report/terminal/watched_run.hpp"

namespace replay::report {

struct LiveViewOptions {
  std::optional<terminal::Size> size;            ///< not given: asks the terminal at each picture
  std::optional<terminal::Abilities> abilities;  ///< not given: those of `out` and the environment
  std::chrono::milliseconds shortest_wait{100};  ///< between two pictures: at most ten a second
  std::string address{};                         ///< where else the run can be seen, as a row of text
  std::function<void()> quit;                    ///< what the key q does, once asked again; empty: there is no such key
  bool is_watching = false;  ///< another process has the run: `quit` only leaves it, and is called without asking again
};

class LiveView final : public log::Sink {
 public:
  enum class Mode : std::uint8_t {
    kAuto,     ///< pictures if `out` is a terminal that can show them, else plain lines
    kPlain,    ///< lines
    kTerminal  ///< pictures
  };

  /// `out` has a descriptor and outlives the view; nothing else may write to it until finish(). `jobs`: how many will
  /// come, if that is known. One view at a time draws on a terminal.
  LiveView(std::FILE* out, Mode mode, std::optional<std::size_t> jobs, LiveViewOptions options = {});
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;
  /// As finish().
  ~LiveView() override;

  void header(const log::Header& header) override;
  void record(const log::Record& record) override;

  /// Called often, from the loop that has the run: obeys keys, and draws if the last picture is old enough. Never
  /// blocks.
  void draw(Instant now);
  /// What key `key` does. draw() calls it for those that were typed.
  void press(terminal::Key key);
  /// Gives the terminal back, and says there how far the run came and what went wrong; may block.
  void finish();

 private:
  [[nodiscard]] const WatchedRun& run() const { return watcher_.run(); }
  void draw_now(terminal::Size size);
  [[nodiscard]] std::string notice() const;
  void obey_keys();
  void press_letter(char letter);
  void answer(char letter);
  void scroll_to(int row);
  void push_farewell();

  void push(std::string_view text);
  void drain(bool may_block);
  [[nodiscard]] int output() const { return terminal_ ? terminal_->output() : descriptor_; }

  int descriptor_;
  terminal::Abilities abilities_;
  bool pictures_;
  bool finished_ = false;
  LiveViewOptions options_;
  RunWatcher watcher_;
  std::deque<WatchedRun::Event> bad_events_;  // for the farewell

  FrameChoice choice_;
  std::optional<WatchedRun> frozen_;  // what the picture shows while it is paused
  enum class Quit : std::uint8_t { kNo, kAsked, kYes } quit_ = Quit::kNo;
  int map_rows_ = 0;
  int most_scroll_ = 0;
  bool is_untouched_ = true;  // no key was pressed: the last row has the address, if there is one
  bool is_stale_ = true;      // a key or a new size asks for a picture while it is paused

  std::optional<terminal::BorrowedTerminal> terminal_;
  terminal::Painter painter_;
  terminal::KeyReader keys_;
  std::optional<std::chrono::steady_clock::time_point> drawn_at_;
  bool has_entered_ = false;  // kEnter was written
  std::string waiting_bytes_;
};

}  // namespace replay::report
