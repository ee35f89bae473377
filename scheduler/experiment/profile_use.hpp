// Sets up the runtime model `calibrated` for a run: reads the profile, adds notes on it, gives the jobs their
// benchmarks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "scheduler/experiment/prepared.hpp"
#include "scheduler/runtime_model/benchmark_jobs.hpp"

namespace replay::experiment {

/// The profile of --profile, else that of `replay calibrate`. Throws InputError: not there, broken, of another version.
[[nodiscard]] std::shared_ptr<const Profile> load_profile(const RunSpec& spec);
/// Path of that profile.
[[nodiscard]] std::string profile_path(const RunSpec& spec);

/// With the model `calibrated`: takes run times and behaviour of the jobs from the profile, and adds notes, also if the
/// profile is of another machine than that of `cores`; for virtual ones it should be of this computer, or of as many
/// emulated ones. Other models: no effect. REQUIRES: job sizes are final. Throws InputError for a benchmark that was
/// not measured.
void use_profile(Prepared& run, const JobsCores& cores, BenchmarkSetting setting);

/// For a run of real jobs under `calibrated+pairs` that take turns of that length where they share cores: a note if the pairs were
/// measured with other turns.
[[nodiscard]] std::optional<std::string> note_on_turns(const Prepared& run, Duration turn);

}  // namespace replay::experiment
