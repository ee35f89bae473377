// How each kind of measurement is made with real programs. Two runs that are compared are made one right after the other, so
// that a machine that gets slower in between spoils one reading and not a figure. Slowdowns are those of whole runs, from all
// ranks having started to the last process being gone; short programs are repeated until their timed part is kSteady long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/os/topology.hpp"
#include "scheduler/calibrate/jobs.hpp"
#include "scheduler/calibrate/measurer.hpp"

namespace replay::calibrate {

struct CalibrateSetting {
  launcher::AgentOptions node;             ///< of the cores that are measured
  std::vector<std::vector<int>> packages;  ///< cores by package, as the agent numbers them
  std::vector<std::string> benchmarks;     ///< what runs beside one on the cores that it gives up
  bool has_vmlib = true;                   ///< else nothing can share cores
};

/// The cores by package: those of `machine`, whose cores are `pu_of_core`.
[[nodiscard]] std::vector<std::vector<int>> packages_of(const Machine& machine, const std::vector<int>& pu_of_core);

class CalibrateMeasurer final : public calibrate::Measurer {
 public:
  /// Starts the agents: REQUIRES: a single thread.
  explicit CalibrateMeasurer(CalibrateSetting setting);

  [[nodiscard]] calibrate::Taken take(const calibrate::Measurement& measurement, std::size_t turn) override;

 private:
  using Readings = std::vector<std::vector<double>>;
  [[nodiscard]] Readings readings_of(const calibrate::Measurement& m, std::size_t turn);
  [[nodiscard]] Readings overheads(ProcessCount processes);
  [[nodiscard]] Readings resizes(ProcessCount processes);
  [[nodiscard]] Readings message();
  [[nodiscard]] Readings run_time(const calibrate::Kernel& kernel, ProcessCount processes);
  [[nodiscard]] Readings sharing(const calibrate::Kernel& kernel, ProcessCount processes, std::size_t turn);
  [[nodiscard]] Readings self_slowdown(const calibrate::Kernel& kernel, calibrate::SelfCase which);
  [[nodiscard]] Readings pair(const calibrate::Measurement& m);

  /// The first cores of the machine, so many, over and over.
  [[nodiscard]] Cores place(ProcessCount processes, std::size_t cores) const;
  /// What a job of that width has no more once it is shrunk to half of its cores: each core twice, for two ranks.
  [[nodiscard]] Cores given_up(std::size_t width) const;
  [[nodiscard]] Cores cores_for(calibrate::SelfCase which) const;
  [[nodiscard]] static Words command(const calibrate::Kernel& kernel, std::uint64_t repeats);
  /// Runs it to its end, again if it came and went.
  [[nodiscard]] FinishedJob run_seen(const Words& words, const Cores& cores);
  /// Runs it to its end. Throws Refused.
  [[nodiscard]] FinishedJob run(const calibrate::Kernel& kernel, std::uint64_t repeats, const Cores& cores);
  /// The timed part of one repetition, s: the last one seen, or of a run made for it.
  [[nodiscard]] double seconds_of(const calibrate::Kernel& kernel, ProcessCount processes);
  [[nodiscard]] std::uint64_t repeats_for(const calibrate::Kernel& kernel, ProcessCount processes, double seconds);
  /// Who runs on the cores that `kernel` gives up: itself, then the other benchmarks of its class in turn.
  [[nodiscard]] calibrate::Kernel neighbour_of(const calibrate::Kernel& kernel, ProcessCount processes,
                                               std::size_t turn);
  /// `first` to its end while `others` run from before its start to after its end; how long it ran, s.
  [[nodiscard]] double run_beside(const calibrate::Kernel& first, const Cores& cores,
                                  const std::vector<std::pair<calibrate::Kernel, Cores>>& others);
  [[nodiscard]] bool is_disturbed();

  CalibrateSetting setting_;
  Cores cores_;
  std::unique_ptr<CalibrateJobs> jobs_;
  std::unique_ptr<CalibrateJobs> emulated_;  // for messages; none on emulated cores, where `jobs_` is such
  std::map<std::pair<std::string, ProcessCount>, double> seconds_;  // by command
  std::chrono::steady_clock::time_point probed_{};
  double probed_load_ = 0;
};

}  // namespace replay::calibrate
