// `replay plot`: a figure of one run or several, from their event logs, in a plain style that fits a column of a paper. The same logs
// and options give the same bytes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::report {

enum class FigureKind : std::uint8_t {
  kGantt,           ///< cores over time, one panel a run
  kQueue,           ///< waiting jobs and waiting processors over time
  kEcdf,            ///< share of the jobs with at most so much of the metric
  kSlowdownBySize,  ///< quartiles of the metric by the size of the job
  kUtilisation      ///< busy cores over time, and their mean
};
/// In the order of FigureKind.
inline constexpr auto kFigureNames =
    std::to_array<std::string_view>({"gantt", "queue", "ecdf", "slowdown-by-size", "utilisation"});

enum class JobMetric : std::uint8_t { kWait, kResponse, kSlowdown };
enum class CurvesBy : std::uint8_t { kNothing, kClass, kSize };

inline constexpr double kSingleColumn = 84, kDoubleColumn = 174;  ///< millimetres

struct FigureOptions {
  FigureKind kind = FigureKind::kGantt;
  std::optional<JobMetric> metric{};          ///< nothing: wait, of slowdown-by-size slowdown
  CurvesBy by = CurvesBy::kNothing;           ///< of the ecdf
  Duration bound = std::chrono::seconds{10};  ///< of the bounded slowdown
  std::optional<Instant> from{}, to{};        ///< of time axes, and of the jobs by when they were submitted
  double width_mm = kSingleColumn;
  std::optional<double> height_mm{};  ///< nothing: what the figure needs
  std::string title{};                ///< empty: none
  std::vector<std::string> labels{};  ///< of the runs; empty: their policies, or their folders
};

/// Draws the figure of `logs` as the ending of `out` says, and writes it; it gets its name when it is complete. Throws UsageError for
/// another ending or options that do not fit the figure or the runs, InputError for a log that cannot be read or holds no job to
/// draw.
void write_figure(std::span<const std::filesystem::path> logs, const FigureOptions& options, const std::string& out);

/// What write_figure() writes.
[[nodiscard]] std::string figure_of(std::span<const std::filesystem::path> logs, const FigureOptions& options,
                                    const std::string& out);

}  // namespace replay::report
