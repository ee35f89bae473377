// The plan of a calibration, the most important measurements first, so that a small budget cuts off the least
// important: the costs of every job (launch, end, resize), then small problems, then pairs of benchmarks, then large
// problems. Also the expected time of each measurement. No I/O.
#pragma once

#include <string>
#include <vector>

#include "scheduler/calibrate/measurement.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::calibrate {

/// What to measure, and on which cores.
struct Selection {
  std::vector<std::string> benchmarks{};
  std::vector<std::string> classes{};     ///< some of S, W, A, B, ascending
  std::vector<ProcessCount> processes{};  ///< ascending, each 1..cores
  CoreCount cores = 1;
  std::vector<CoreCount> package_cores{1};  ///< cores in each package of the first node
  std::vector<CoreCount> node_cores{};      ///< cores of each node; their sum is `cores`; empty: there is one node
  bool emulated = false;                    ///< only what makes sense there: launch, end, resize
  bool message = true;                      ///< messages under emulation as well
};

/// All sizes up to 16, then powers of two and the machine's own.
[[nodiscard]] std::vector<ProcessCount> usual_sizes(CoreCount cores);

[[nodiscard]] std::vector<CoreCount> cores_by_node(const Machine& machine);
/// The numbers of nodes, ascending, over which so many cores can be spread evenly: a core of each of the first nodes,
/// then one more of each that has another, and so on.
[[nodiscard]] std::vector<int> nodes_for(CoreCount cores, const std::vector<CoreCount>& node_cores);

/// On several nodes, launch, end and resizes are measured over every number of nodes up to 16, then over powers of two and
/// all; run times over powers of two and all, after those of the class on the fewest nodes that have so many cores.
/// Launch and end are also measured with twice as many ranks as cores. Pairs are measured in class W, if it is wanted, else in
/// the smallest class, after the run times of the small classes, or of that one, with the largest wanted number of
/// processes.
[[nodiscard]] std::vector<Measurement> plan_of(const Selection& selection);

/// Seconds that one reading takes, from what the profile knows by now: the same kernel at another size, or in another class,
/// else a rough guess by class.
[[nodiscard]] double expected_seconds(const Measurement& measurement, const Profile& profile);
/// Of as many readings as a figure needs.
[[nodiscard]] double expected_seconds(const std::vector<Measurement>& plan, const Profile& profile);

/// Least length of the timed part of a steady program, reached by repeating the benchmark, s.
inline constexpr double kSteady = 0.5;

}  // namespace replay::calibrate
