// Makes a figure of repeated readings, and decides whether they agree well enough to stop. The figure is their median:
// the usual value, not the best one. Other load makes single readings longer, never shorter, so agreement is judged by
// the half that lies closest together (the "shortest half", Rousseeuw 1984), three at least. Readings disturbed by
// other processes count only when there are too few without. No I/O.
#pragma once

#include <cstddef>
#include <span>

#include "scheduler/runtime_model/profile.hpp"

namespace replay::calibrate {

struct Reading {
  double value = 0;
  bool disturbed = false;  ///< other processes used the machine meanwhile
};

/// A figure needs so many readings before its spread says anything.
inline constexpr std::size_t kLeastReadings = 3;

/// When a figure is good enough: its readings lie within one or the other.
struct Tolerance {
  double spread = 0.05;  ///< (largest - smallest) / figure
  double absolute = 0;   ///< largest - smallest, in the figure's unit: below it a difference does not matter
};

/// REQUIRES: readings. O(n log n).
[[nodiscard]] Figure figure_of(std::span<const Reading> readings);

/// Enough readings, undisturbed ones, and close together.
[[nodiscard]] bool is_settled(const Figure& figure, const Tolerance& tolerance);

}  // namespace replay::calibrate
