// A machine's profile, as `replay calibrate` measures it: how long each benchmark takes there at each size, how much of
// that it computes, and what sharing cores costs it. Plain values; docs/formats/profile.md describes the file.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/speedup.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// A measured value and how far it can be trusted.
struct Figure {
  double value = 0;        ///< the median of all runs
  double spread = 0;       ///< (largest - smallest) / value of those that agree best; 0 of a single run
  int runs = 1;            ///< that agree so well; >= 1
  bool disturbed = false;  ///< other users or programs used the machine during some of them
  bool operator==(const Figure&) const = default;
};

struct ProfileMachine {
  std::string name, cpu, kernel, mpi;
  std::string emulated{};  ///< "emulated:1x1x2": what was measured are such cores; empty: the machine's own
  CoreCount cores = 1;
  std::string nodes{};               ///< "2x1x4": those of several hosts; empty: of one machine
  std::vector<std::string> hosts{};  ///< their names, in the order of the nodes
  bool operator==(const ProfileMachine&) const = default;
};

/// Slowdown of a job that has several of its own processes on a node, each on a core of its own, against one process a
/// node. On a single node: of one process beside others of its kind.
struct SelfSlowdown {
  std::optional<Figure> two_same_package, two_different_packages, four_same_package, four_different_packages;
  bool operator==(const SelfSlowdown&) const = default;
};

/// The run time of a job whose cores lie on that many nodes.
struct RunTimeOnNodes {
  int nodes = 1;
  Figure runtime_s;
  bool operator==(const RunTimeOnNodes&) const = default;
};

/// One benchmark of one class (problem size) at one number of processes.
struct ProfileEntry {
  std::string benchmark;      ///< "cg"
  std::string problem_class;  ///< "W"; empty for a benchmark without classes
  ProcessCount processes = 1;
  std::string command;                   ///< what runs it, the number of processes left out: "cg --class W"
  Figure runtime_s;                      ///< expanded, alone, without launch and end; > 0
  std::optional<Figure> cpu_use;         ///< CPUUtil of formula (3) of the FCFS-malleable paper, 0..1
  std::optional<Figure> slowdown_mpl_2;  ///< two processes a core, others on those given up; over `runtime_s`
  SelfSlowdown self_slowdown;
  std::string program_sha256;                   ///< of what was run; empty: unknown
  int nodes = 1;                                ///< of all that: the fewest that have so many cores
  std::vector<RunTimeOnNodes> on_more_nodes{};  ///< as many cores of more nodes, ascending; each > `nodes`
  bool operator==(const ProfileEntry&) const = default;
};

struct SpeedupPoint {
  ProcessCount processes = 1;
  double speedup = 1;
  bool operator==(const SpeedupPoint&) const = default;
};

/// How a benchmark's speed depends on its processes: as measured, and the curve that fits best.
struct ProfileSpeedup {
  std::string benchmark, problem_class;
  std::vector<SpeedupPoint> points;  ///< ascending
  SpeedupCurve fit;
  double residual = 0;  ///< root of the mean squared relative error of the fit at the points
  bool operator==(const ProfileSpeedup&) const = default;
};

/// How much slower `benchmark` gets beside `neighbour` on the same cores; the matrix need not be symmetric.
struct PairSlowdown {
  std::string benchmark, problem_class;
  std::string neighbour, neighbour_class;
  ProcessCount processes = 1;  ///< of each
  Figure slowdown;
  bool operator==(const PairSlowdown&) const = default;
};

struct OverheadAt {
  ProcessCount processes = 1;
  Figure seconds;
  bool operator==(const OverheadAt&) const = default;
};

/// What a job costs besides its run time.
struct JobCosts {
  std::vector<OverheadAt> launch, end;     ///< from the order to MPI_Init, from MPI_Finalize to the cores being free
  std::vector<OverheadAt> shrink, expand;  ///< a resize, from the order to all ranks on their cores
  bool operator==(const JobCosts&) const = default;
};

/// That of a job whose cores lie on that many nodes.
struct CostsOnNodes : JobCosts {
  int nodes = 2;
  bool operator==(const CostsOnNodes&) const = default;
};

/// Its own costs are those of a job on one node.
struct Profile : JobCosts {
  ProfileMachine machine;
  std::string date;         ///< of the measurement, "2026-11-21"
  double spread_bound = 0;  ///< figures were measured again until their spread was at most that; 0: unknown
  bool is_sample = false;   ///< made up, or of no particular machine: for trying things out
  std::vector<ProfileEntry> entries;
  std::vector<ProfileSpeedup> speedups;
  std::vector<PairSlowdown> pairs;
  std::optional<double>
      turn_s;  ///< so long did one of two jobs of `pairs` compute in turn; 0: both at the same time; none: unknown
  std::vector<CostsOnNodes> over_nodes;  ///< of jobs on several, ascending by nodes, each >= 2
  std::optional<Figure> message_s;       ///< one small message under emulation
  bool operator==(const Profile&) const = default;
};

/// Whether something was measured of jobs over several nodes.
[[nodiscard]] inline bool knows_several_nodes(const Profile& profile) {
  return !profile.over_nodes.empty() || std::ranges::any_of(profile.entries, [](const ProfileEntry& entry) {
    return entry.nodes > 1 || !entry.on_more_nodes.empty();
  });
}

}  // namespace replay
