// Makes each kind of measurement with real programs. Two runs that are compared follow each other directly, so that a
// machine that slows down later spoils one reading, not the figure. Slowdowns compare whole runs, from the start of all
// ranks to the exit of the last process; short programs are repeated until their timed part is kSteady long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/daemon/agent_executor.hpp"
#include "scheduler/calibrate/jobs.hpp"
#include "scheduler/calibrate/measurer.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::calibrate {

struct CalibrateSetting {
  Machine machine;                        ///< that is measured
  std::vector<std::string> benchmarks{};  ///< candidates for the neighbour on released cores
  bool has_vmlib = true;                  ///< without it processes cannot share cores
  JobsPlace place{};
};

/// What jobs are run by.
struct Executors {
  std::unique_ptr<launcher::MeasuredExecutor> machine;   ///< of the machine
  std::unique_ptr<launcher::MeasuredExecutor> emulated;  ///< of kEmulatedCores, for messages; null: the machine itself
};
inline constexpr CoreCount kEmulatedCores = 2;

/// The nodes of `machine` as they are measured: emulated ones of this machine are one node, as its agent has them all.
[[nodiscard]] Machine measured_machine(const experiment::RealMachine& machine);
/// Starts the agents. REQUIRES: find_programs() of the machine, a single thread.
[[nodiscard]] Executors start_executors(experiment::RealMachine& machine);

/// The cores of the first node by package.
[[nodiscard]] std::vector<Cores> packages_of(const Machine& machine);

class CalibrateMeasurer final : public Measurer {
 public:
  CalibrateMeasurer(CalibrateSetting setting, Executors executors);

  [[nodiscard]] Taken take(const Measurement& measurement, std::size_t turn) override;

 private:
  using Readings = std::vector<std::vector<double>>;
  [[nodiscard]] Readings readings_of(const Measurement& m, std::size_t turn);
  [[nodiscard]] Readings overheads(const Measurement& m);
  [[nodiscard]] Readings resizes(const Measurement& m);
  [[nodiscard]] Readings message();
  [[nodiscard]] Readings run_time(const Measurement& m);
  [[nodiscard]] Readings sharing(const Measurement& m, std::size_t turn);
  [[nodiscard]] Readings self_slowdown(const Kernel& kernel, SelfCase which);
  [[nodiscard]] Readings pair(const Measurement& m);

  /// The core of each rank, a core for each on so many nodes; in blocks over all cores if there are more ranks than cores.
  [[nodiscard]] Cores place(ProcessCount processes, int nodes) const;
  /// On as few nodes as have so many cores.
  [[nodiscard]] Cores place(ProcessCount processes) const;
  /// The same ranks on half of their cores, with one on each node at least.
  [[nodiscard]] Cores shrunk(const Cores& expanded) const;
  [[nodiscard]] Cores cores_for(SelfCase which) const;
  [[nodiscard]] static Words command(const Kernel& kernel, std::uint64_t repeats);
  /// Runs it to its end; repeats a run that ended before all its ranks were seen.
  [[nodiscard]] FinishedJob run_seen(const Words& words, const Cores& cores);
  /// Runs it to its end and expects a verified result. Throws Refused.
  [[nodiscard]] FinishedJob run(const Kernel& kernel, std::uint64_t repeats, const Cores& cores);
  /// The timed part of one repetition, s: of the latest run, or of a new run if there was none.
  [[nodiscard]] double seconds_of(const Kernel& kernel, ProcessCount processes);
  [[nodiscard]] std::uint64_t repeats_for(const Kernel& kernel, ProcessCount processes, double seconds);
  /// The program for the cores that `kernel` releases: a copy of it, then the other benchmarks of its class in turn.
  [[nodiscard]] Kernel neighbour_of(const Kernel& kernel, ProcessCount processes, std::size_t turn);
  /// Runs `first` to its end while `others` run from before its start to after its end. Returns its run time, s.
  [[nodiscard]] double run_beside(const Kernel& first, const Cores& cores,
                                  const std::vector<std::pair<Kernel, Cores>>& others);
  [[nodiscard]] bool is_disturbed();

  CalibrateSetting setting_;
  std::vector<Cores> packages_;
  std::unique_ptr<CalibrateJobs> jobs_;
  std::unique_ptr<CalibrateJobs> emulated_;  // for message costs; null if `jobs_` is emulated itself
  std::map<std::pair<std::string, ProcessCount>, double> seconds_;  // by command
  std::chrono::steady_clock::time_point probed_{};
  double probed_load_ = 0;
};

}  // namespace replay::calibrate
