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

#include "launcher/os/topology.hpp"
#include "scheduler/calibrate/jobs.hpp"
#include "scheduler/calibrate/measurer.hpp"

namespace replay::calibrate {

struct CalibrateSetting {
  launcher::AgentOptions node;          ///< of the cores that are measured
  std::vector<Cores> packages;          ///< cores by package, as the agent numbers them
  std::vector<std::string> benchmarks;  ///< candidates for the neighbour on released cores
  bool has_vmlib = true;                ///< without it processes cannot share cores
};

/// The cores of `machine` by package, as the agent numbers them. REQUIRES: `pu_of_core` has an entry for each core.
[[nodiscard]] std::vector<Cores> packages_of(const Machine& machine, const std::vector<launcher::PuId>& pu_of_core);

class CalibrateMeasurer final : public Measurer {
 public:
  /// Starts the agents: REQUIRES: a single thread.
  explicit CalibrateMeasurer(CalibrateSetting setting);

  [[nodiscard]] Taken take(const Measurement& measurement, std::size_t turn) override;

 private:
  using Readings = std::vector<std::vector<double>>;
  [[nodiscard]] Readings readings_of(const Measurement& m, std::size_t turn);
  [[nodiscard]] Readings overheads(ProcessCount processes);
  [[nodiscard]] Readings resizes(ProcessCount processes);
  [[nodiscard]] Readings message();
  [[nodiscard]] Readings run_time(const Kernel& kernel, ProcessCount processes);
  [[nodiscard]] Readings sharing(const Kernel& kernel, ProcessCount processes, std::size_t turn);
  [[nodiscard]] Readings self_slowdown(const Kernel& kernel, SelfCase which);
  [[nodiscard]] Readings pair(const Measurement& m);

  /// The core of each rank, in blocks over the first `cores` cores of the machine.
  [[nodiscard]] Cores place(ProcessCount processes, std::size_t cores) const;
  /// The cores that a job of that width releases when it is shrunk to half: each core twice, for two ranks.
  [[nodiscard]] Cores given_up(std::size_t width) const;
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
  Cores cores_;
  std::unique_ptr<CalibrateJobs> jobs_;
  std::unique_ptr<CalibrateJobs> emulated_;  // for message costs; null if `jobs_` is emulated itself
  std::map<std::pair<std::string, ProcessCount>, double> seconds_;  // by command
  std::chrono::steady_clock::time_point probed_{};
  double probed_load_ = 0;
};

}  // namespace replay::calibrate
