// A run as figures need it, read from its event log in one pass.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/log/node_names.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/report/page/run_reader.hpp"

namespace replay::report {

struct PlotRun {
  std::filesystem::path log;
  std::string label;
  std::unique_ptr<RunReader> records;
  Machine machine = Machine::pool(1);
  log::NodeNames names{};
};

/// From `from` to `to`, seconds of trace time; from < to.
struct Window {
  double from = 0, to = 1;
};

/// In the order of `logs`. `labels` empty: the policies, if they differ, else the folders. Throws InputError for a log that cannot be
/// read or has no job, UsageError if there are labels and not one for each run. Says on stderr that a log was cut off.
[[nodiscard]] std::vector<PlotRun> read_plot_runs(std::span<const std::filesystem::path> logs,
                                                  std::span<const std::string> labels);

/// For figures with a curve or a colour for each run. Throws UsageError if there are more runs than curves that differ.
void expect_few(std::span<const PlotRun> runs, std::string_view figure);

}  // namespace replay::report
