// From repeated readings of one thing to a figure, and whether they agree well enough to stop. The figure is their median: what
// a run there takes as a rule, and not at best. On a machine that others use too, single readings are late, never early, so
// whether they agree is asked of the half that lies closest together (the "shortest half", Rousseeuw 1984), three at least.
// Readings during which others used the machine count only when there are too few without. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "scheduler/runtime_model/profile.hpp"

namespace replay::calibrate {

struct Reading {
  double value = 0;
  bool disturbed = false;  ///< others used the machine meanwhile
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
