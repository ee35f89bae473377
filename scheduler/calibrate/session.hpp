// A calibration of one machine: chooses what is measured, and with which programs, from what the user wants, measures it, and
// keeps the figures in the machine's profile as they come.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/calibrate/calibration.hpp"
#include "scheduler/calibrate/kept_profile.hpp"
#include "scheduler/calibrate/machine_measurer.hpp"
#include "scheduler/calibrate/plan.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/run_spec.hpp"

namespace replay::calibrate {

/// As on the command line of `replay calibrate`.
struct SessionOptions {
  experiment::RunSpec run;  ///< only its machine
  std::string benchmarks;   ///< joined by commas, as the two below; empty: all that are installed
  std::string classes;      ///< empty: as `quick` and `full` say
  std::string processes;    ///< such as 1,2,4; empty: usual_sizes()
  Duration budget{};        ///< 0: as `quick` and `full` say
  std::string out;          ///< file of the profile; empty: that of the machine, in the user's data folder
  double spread = 5;        ///< per cent, above 0 and up to 100
  bool quick = false, full = false, fresh = false;
};

class Session {
 public:
  /// Finds machine and programs, and reads the profile. Throws UsageError, InputError.
  explicit Session(const SessionOptions& options);

  [[nodiscard]] const experiment::RealMachine& machine() const { return machine_; }
  [[nodiscard]] const KeptProfile& profile() const { return *kept_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] const std::vector<Measurement>& plan() const { return plan_; }
  /// Those of the plan whose figures are not all in the profile, or above the bound.
  [[nodiscard]] std::vector<Measurement> open() const;
  [[nodiscard]] bool has_vmlib() const { return setting_.has_vmlib; }
  /// What the user should know, a line each: of benchmarks that are left out, and of figures that are dropped.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

  /// `show` gets each measurement that begins, its number from 0, and the seconds since the first began. REQUIRES: a single thread:
  /// agents are forked. Throws InputError.
  using Show = std::function<void(const Measurement&, std::size_t index, double elapsed_s)>;
  [[nodiscard]] CalibrationResult measure(const Show& show);

 private:
  void choose(const SessionOptions& options);
  [[nodiscard]] std::vector<std::string> benchmarks_of(const SessionOptions& options);
  [[nodiscard]] std::vector<std::string> programs() const;

  experiment::RealMachine machine_;
  Limits limits_;
  CalibrateSetting setting_;
  Selection selection_;
  std::vector<Measurement> plan_;
  std::vector<std::string> remarks_;
  std::optional<KeptProfile> kept_;
};

}  // namespace replay::calibrate
