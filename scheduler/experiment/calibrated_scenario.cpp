#include "scheduler/experiment/calibrated_scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/experiment/hardware.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"

namespace replay::experiment {
namespace {

// What is not known stays empty, and is not compared.
ProfileMachine machine_that_runs(const JobsCores& cores, const Profile& profile) {
  using enum JobsCores::Kind;
  if (cores.kind == kElsewhere) {
    ProfileMachine node;
    node.cores = cores.count;
    return node;
  }
  const bool are_counted = cores.kind == kHere || !profile.machine.emulated.empty();
  return machine_here(are_counted ? cores.count : cores_here());
}

}  // namespace

std::string profile_path(const CommonOptions& options) {
  return options.profile.empty() ? default_profile_path().string() : options.profile;
}

std::shared_ptr<const Profile> load_profile(const CommonOptions& options) {
  const std::string path = profile_path(options);
  std::error_code ignored;
  if (options.profile.empty() && !std::filesystem::exists(path, ignored))
    throw InputError(
        fmt::format("{}: there is no profile of this machine: `replay calibrate` makes one, --profile FILE "
                    "names another",
                    path));
  return std::make_shared<const Profile>(read_profile(path));
}

void use_profile(Scenario& scenario, const CommonOptions& options, const JobsCores& cores, BenchmarkSetting setting) {
  if (!names_model(scenario.runtime_model, kCalibrated)) return;
  const Profile& profile = *scenario.profile;
  setting.profile_name = profile_path(options);
  setting.programs = scenario.loaded.programs;
  const BenchmarkJobs jobs = set_benchmarks(scenario.workload(), profile, setting);
  if (profile.is_sample)
    scenario.notes.push_back(fmt::format("{}: is a sample, of no real machine", setting.profile_name));
  else if (const auto others = differences(profile.machine, machine_that_runs(cores, profile)); !others.empty())
    scenario.notes.push_back(
        fmt::format("{}: is the profile of another machine ({})", setting.profile_name, fmt::join(others, "; ")));
  else if (cores.kind == JobsCores::Kind::kElsewhere)
    scenario.notes.push_back(fmt::format(
        "{}: is of {}; whether that is the agent's machine is not known, but for the number of cores",
        setting.profile_name, profile.machine.name.empty() ? "a machine without a name" : profile.machine.name));
  scenario.notes.push_back(fmt::format("{} of {} jobs are benchmarks of {} ({}), with run times as measured",
                                       jobs.benchmarks, scenario.workload().jobs.size(), setting.profile_name,
                                       profile.date));
  scenario.notes.insert(scenario.notes.end(), jobs.notes.begin(), jobs.notes.end());
}

std::optional<std::string> note_on_turns(const Scenario& scenario, Duration turn) {
  const bool reads_pairs =
      names_model(scenario.runtime_model, kCalibrated) && names_model(scenario.runtime_model, "pairs");
  if (!reads_pairs || scenario.profile->pairs.empty() || scenario.profile->turn_s == seconds(turn)) return std::nullopt;
  const auto& measured = scenario.profile->turn_s;
  return fmt::format("jobs on the same cores take turns of {:g} ms, the pairs of the profile were measured with {}",
                     1000 * seconds(turn),
                     measured ? fmt::format("turns of {:g} ms", 1000 * *measured) : "turns that it does not state");
}

}  // namespace replay::experiment
