// The seam between what is to be measured and the machine: behind it are real programs under a node agent, or a test's
// made-up ones.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheduler/calibrate/measurement.hpp"

namespace replay::calibrate {

struct Taken {
  std::vector<std::vector<double>> readings;  ///< at least one, each with the values that its Kind has
  bool disturbed = false;                     ///< others used the machine meanwhile
  std::string refused;                        ///< why it cannot be measured here at all; empty: it was
  bool failed = false;                        ///< refused because a program crashed or was wrong
};

/// Thrown by a measurer when the user wants to stop.
struct Interrupted {};

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Blocks, for one reading or a few. `turn`: how often it was asked for this measurement before; what runs beside the
  /// benchmark of Kind::kSharing goes by it. Throws Interrupted; std::runtime_error when nothing more can be measured.
  [[nodiscard]] virtual Taken take(const Measurement& measurement, std::size_t turn) = 0;
};

}  // namespace replay::calibrate
