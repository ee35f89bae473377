// The picture of a run on a text screen: what runs and what waits as numbers and bars, the map of cores, the jobs by
// their letters, the last events, the keys. A pure function of the run's state and of what the user has chosen; it fits
// every size, and what has no room is counted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scheduler/base/terminal/frame.hpp"
#include "scheduler/report/terminal/core_map.hpp"
#include "scheduler/report/terminal/watched_run.hpp"

namespace replay::report {

struct FrameChoice {
  int columns = 80;  ///< >= 1
  int rows = 24;     ///< >= 1
  bool utf8 = false;
  Fold fold = Fold::kAuto;
  int scroll = 0;  ///< rows of the map above its room; more than there are counts as all
  bool has_help = false;
  bool has_keys = false;                ///< the last row names the keys
  bool is_watching = false;             ///< of a run that another process has: the key q ends the watching only
  std::string notice;                   ///< stands in the last row instead
  std::string address{};                ///< where else the run can be seen; the help says it
  std::optional<std::size_t> all_jobs;  ///< how many will come, if that is known
};

struct RunFrame {
  terminal::Frame frame;
  int map_rows = 0;     ///< of the map that are shown
  int most_scroll = 0;  ///< 0: the map is shown as a whole
};

/// O(cores + jobs launched + screen).
[[nodiscard]] RunFrame run_frame(const WatchedRun& run, const FrameChoice& choice);

/// "42 of 150 done, 1 failed, 5 running, 12 waiting, 1 suspended".
[[nodiscard]] std::string progress_text(const WatchedRun& run, std::optional<std::size_t> all_jobs);

}  // namespace replay::report
