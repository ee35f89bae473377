// Carries out the plan of a calibration: takes as many readings of each measurement as a figure needs, then one more in
// turn of those that have not settled, until all have, were tried often enough or the budget is spent. The first
// readings are taken in turn as well, in groups of a minute: readings that agree because they were made in the same bad
// moment say nothing. Figures are kept in the profile from the first reading on, and a measurement that lacks readings
// is made again, so that a stop loses at most a group. What the profile has already is not measured again, except for
// figures that had not settled, which come last.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/calibrate/measurer.hpp"

namespace replay::calibrate {

struct Limits {
  double spread = 0.05;   ///< a figure has settled when its spread is at most that (or the difference does not matter)
  int most_readings = 9;  ///< of one measurement; kLeastReadings at least
  double budget_s = 15 * 60;  ///< nothing is begun that is not expected to end within it
};

/// Callbacks on the progress of a calibration, in order.
struct Watcher {
  /// Measurement number `index` (from 0) of `count` begins.
  std::function<void(const Measurement&, std::size_t index, std::size_t count)> on_begin;
  /// Its figures are in the profile.
  std::function<void(const Profile&, const Measurement&)> on_figures;
};

struct CalibrationResult {
  std::size_t measured = 0;
  std::size_t kept = 0;                                        ///< were in the profile
  std::vector<Measurement> unsettled;                          ///< measured, kept or not, and still above the bound
  std::vector<Measurement> left_out;                           ///< no time
  std::vector<std::pair<Measurement, std::string>> refused{};  ///< cannot be measured here, and why
  std::size_t failed = 0;                                      ///< of those refused: a program crashed or was wrong
  bool interrupted = false;
};

/// `profile` is added to, its speedups are fitted anew at the end. `elapsed_s` gives the time since the calibration
/// began. Throws what the measurer throws, but for Interrupted; the profile then has what was measured until then.
[[nodiscard]] CalibrationResult calibrate(Profile& profile, const std::vector<Measurement>& plan, Measurer& measurer,
                                          const Limits& limits, const std::function<double()>& elapsed_s,
                                          const Watcher& watcher);

/// Whether all its figures are in the profile and within the bound.
[[nodiscard]] bool is_settled_in(const Profile& profile, const Measurement& measurement, double spread);

}  // namespace replay::calibrate
