// Live view of a run. On a terminal it redraws one picture in place: clock, progress, queue, a map of the cores with
// the job on each, the last events. Elsewhere (a pipe, a log file), or on request, it prints one plain line for each
// important event. Drawing never blocks the run: output that the terminal does not take is buffered, and pictures are
// skipped meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::cli {

struct LiveViewOptions {
  int columns = 0;                               ///< 0: asks the terminal at each picture
  int rows = 0;                                  ///< the same
  std::optional<bool> colour;                    ///< not given: unless NO_COLOR is set
  std::chrono::milliseconds shortest_wait{100};  ///< between two pictures: at most ten a second
};

class LiveView final : public log::Sink {
 public:
  enum class Mode : std::uint8_t {
    kAuto,     ///< pictures if `out` is a terminal, else plain lines
    kPlain,    ///< lines
    kTerminal  ///< pictures
  };

  /// `out` has a descriptor and outlives the view; nothing else may write to it until finish(). `jobs`: how many will
  /// come.
  LiveView(std::FILE* out, Mode mode, std::size_t jobs, LiveViewOptions options = {});
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;
  /// As finish().
  ~LiveView() override;

  void header(const log::Header& header) override;
  void record(const log::Record& record) override;

  /// Called often, by the engine's timer; draws only if the last picture is old enough. Never blocks.
  void draw(Instant now);
  /// Draws the last picture, shows the cursor again and writes the buffered rest; may block.
  void finish();

 private:
  enum class State : std::uint8_t { kWaiting, kRunning, kSuspended };
  struct LiveJob {
    ProcessCount processes = 0;
    CoreCount cores = 0;
    int mpl = 1;
    int symbol = -1;  ///< index of its letter, -1: none
    State state = State::kWaiting;
    Instant submitted{};
    Instant launched{};
    std::uint64_t turn = 0;  ///< its place in waiting_ or on_cores_
  };
  struct TextLine {
    std::string text;  ///< colours included
    std::size_t width;
  };
  struct OnRecord;

  // Events.
  void tell(Instant at, std::string_view event);
  LiveJob* find(JobId job);

  // The picture.
  void draw_now();
  [[nodiscard]] std::vector<TextLine> picture(std::size_t columns, std::size_t rows) const;
  [[nodiscard]] std::string clock_line() const;
  [[nodiscard]] std::string progress_line(std::size_t columns) const;
  [[nodiscard]] std::string queue_line() const;
  [[nodiscard]] std::string running_line() const;
  void add_core_map(std::vector<TextLine>& lines, std::size_t columns, std::size_t most_lines) const;
  [[nodiscard]] std::pair<int, int> terminal_size() const;

  // Buffered output.
  void push(std::string_view text);
  void drain(bool may_block);

  std::FILE* out_;
  int descriptor_;
  bool pictures_;
  bool colour_;
  bool finished_ = false;
  std::size_t all_jobs_;
  LiveViewOptions options_;

  std::string title_;
  std::optional<Machine> machine_;
  metrics::CoreNames names_;
  std::unordered_map<std::int64_t, LiveJob> jobs_;  // that wait, run or are suspended
  std::map<std::uint64_t, JobId> waiting_;          // in the order of submission
  std::map<std::uint64_t, JobId> on_cores_;         // running and suspended jobs, in the order of launch
  std::uint64_t next_turn_ = 0;
  std::vector<bool> symbols_taken_;
  std::size_t done_ = 0;
  std::size_t bad_ = 0;
  Instant now_{};
  std::deque<std::string> events_;

  std::optional<std::chrono::steady_clock::time_point> drawn_at_;
  std::vector<std::size_t> drawn_widths_;  // of the lines of the picture that stands on the screen
  std::string waiting_bytes_;
};

}  // namespace replay::cli
