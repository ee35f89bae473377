// The measurements of a calibration: the meaning of their readings, the place of their figures in a profile, and how
// exact these have to be. The measurer (measurer.hpp) and the plan (plan.hpp) share it. No I/O.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/calibrate/repeats.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay::calibrate {

/// A benchmark of one problem size.
struct Kernel {
  std::string name;           ///< "cg"
  std::string problem_class;  ///< "W"
  bool operator==(const Kernel&) const = default;
};
/// "cg --class W": what runs it, and what a trace's table of programs calls it.
[[nodiscard]] std::string command_of(const Kernel& kernel);

/// The values that a reading of each kind has, in this order.
enum class Kind : std::uint8_t {
  kOverheads,  ///< launch and end of a program that does nothing, s
  kResize,     ///< shrink and expand, s
  kMessage,    ///< one message under emulation, s
  kRunTime,  ///< expanded and alone, from the start of all ranks to the exit of the last process, s; its timed part, s
  kSharing,  ///< slowdown with two ranks on each core, others on the cores given up (1 if there are none); CPU utilisation
             ///< with one on each
  kSelfSlowdown,  ///< of one process beside others of its kind, each on a core of its own
  kPair           ///< slowdown beside another kernel's ranks on the same cores
};

/// Which member of SelfSlowdown.
enum class SelfCase : std::uint8_t { kTwoSamePackage, kTwoDifferentPackages, kFourSamePackage, kFourDifferentPackages };
[[nodiscard]] int copies_of(SelfCase which);

struct Measurement {
  Kind kind = Kind::kRunTime;
  ProcessCount processes = 1;
  int nodes = 1;        ///< that its cores lie on
  bool spread = false;  ///< kRunTime: these are more nodes than so many cores need
  Kernel kernel{};      ///< empty if the kind has no kernel
  Kernel neighbour{};   ///< kPair
  SelfCase self = SelfCase::kTwoSamePackage;
  bool operator==(const Measurement&) const = default;
  /// Of a job with a core for each process, whether it can be shrunk: it keeps one on each node.
  [[nodiscard]] bool gives_up_cores() const { return number(processes) > nodes; }
};

/// "cg W, 2 processes: run time": for messages.
[[nodiscard]] std::string to_text(const Measurement& measurement);

/// One for each figure. Each value of a reading is a figure, except that a run time is one figure. `spread` is the
/// user's bound. Besides, these differences do not matter: 5 ms of a launch, an end or a run time, 0.5 ms of a resize,
/// 20 us of a message, 0.02 of a CPU utilisation.
[[nodiscard]] std::vector<Tolerance> tolerances(Kind kind, double spread);

/// The profile's figures of the measurement; empty if one is missing.
[[nodiscard]] std::vector<Figure> figures_in(const Profile& profile, const Measurement& measurement);
/// Stores the figures in the profile, replacing earlier ones. REQUIRES: of a kernel's figures, kRunTime comes first.
void store(Profile& profile, const Measurement& measurement, const std::vector<Figure>& figures);

}  // namespace replay::calibrate
