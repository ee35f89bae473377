// Interface between a calibration and the machine: implemented with real programs under a node agent, or by a test.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/calibrate/measurement.hpp"

namespace replay::calibrate {

struct Taken {
  std::vector<std::vector<double>> readings;  ///< at least one, each with the values that its Kind has
  bool disturbed = false;                     ///< other processes used the machine meanwhile
  std::string refused;                        ///< why it cannot be measured here at all; empty: it was
  bool failed = false;                        ///< refused because a program crashed or was wrong
};

/// Thrown by a measurer when the user wants to stop.
struct Interrupted {};

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Blocks, for one reading or a few. `turn`: the number of earlier calls for this measurement; it selects the
  /// neighbour in Kind::kSharing. Throws Interrupted; std::runtime_error when nothing more can be measured.
  [[nodiscard]] virtual Taken take(const Measurement& measurement, std::size_t turn) = 0;
};

}  // namespace replay::calibrate
