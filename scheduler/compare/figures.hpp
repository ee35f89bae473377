// The figures of the FCFS-malleable paper's Table 1, and the errors of a simulation against a real run. The paper says
// "average relative error 7 %" and not how it averages: of the definitions tried, only the mean of |S - R| / R over the
// 24 pairs of its table gives that (7.00 %; over S: 6.64 %, with signs: +2.62 %), so this is what we take.
// Source: Utrera et al. 2012, section 3.1, formula (1), and section 4.1, Table 1.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "scheduler/metrics/job_table.hpp"

namespace replay::compare {

inline constexpr std::size_t kFigureCount = 3;
inline constexpr std::array<std::string_view, kFigureCount> kFigureNames = {"wait", "response", "slowdown"};
inline constexpr std::size_t kWait = 0, kResponse = 1;  // places in it

/// Means over the jobs that ran; NaN if none did. By kFigureNames: wait and response in seconds of trace time, slowdown
/// by formula (1), response over the expanded run time.
using Figures = std::array<double, kFigureCount>;

/// Expanded run times are those of `expanded`, which knows every job that ran: the trace's, also where the run was given
/// other ones. A job with an expanded run time of zero has no slowdown and is left out there.
[[nodiscard]] Figures mean_figures(const metrics::JobTable& run, const metrics::JobTable& expanded);

/// A figure of the simulation and of the real run.
struct FigurePair {
  double simulated = 0;
  double real = 0;
  double resolution = 0;  ///< values up to it count as nothing: a real run cannot tell them from 0

  /// Both count as nothing: there is nothing to compare.
  [[nodiscard]] bool is_nothing() const { return simulated <= resolution && real <= resolution; }
};

/// (S - R) / R: positive where the simulator says more. NaN where R is nothing, whatever S is.
[[nodiscard]] double relative_error(const FigurePair& pair);

struct MeanError {
  double mean = 0;           ///< of |S - R| / R; NaN of none
  std::size_t figures = 0;   ///< that it is over
  std::size_t nothing = 0;   ///< left out: S and R are nothing
  std::size_t left_out = 0;  ///< left out: R is nothing and S is not, or one is not known
};
[[nodiscard]] MeanError mean_relative_error(std::span<const FigurePair> pairs);

/// By how much `here` exceeds `first`, in percent of `first`; NaN where that is 0. Negative for a gain.
[[nodiscard]] double percent_more(double first, double here);

}  // namespace replay::compare
