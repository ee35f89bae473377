#include "scheduler/experiment/profile_use.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/experiment/hardware.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"

namespace replay::experiment {
namespace {

// What is not known stays empty, and is not compared.
ProfileMachine machine_that_runs(const JobsCores& cores, const Profile& profile) {
  using enum JobsCores::Kind;
  const bool is_of_hosts = !profile.machine.nodes.empty();
  if (cores.kind == kElsewhere || (cores.kind == kVirtual && is_of_hosts)) {
    ProfileMachine nodes;
    nodes.cores = cores.machine.size();
    if (is_of_hosts) nodes.nodes = cores.machine.to_text();
    nodes.hosts = cores.hosts;
    return nodes;
  }
  const bool are_counted = cores.kind == kHere || !profile.machine.emulated.empty();
  return machine_here(are_counted ? cores.machine.size() : cores_here());
}

}  // namespace

std::string profile_path(const RunSpec& spec) {
  if (!spec.profile.empty()) return spec.profile;
  const bool is_of_hosts = spec.world != World::kSimulated && is_elsewhere(spec.machine);
  return (is_of_hosts ? default_profile_path(kProfileOfHosts) : default_profile_path()).string();
}

std::shared_ptr<const Profile> load_profile(const RunSpec& spec) {
  const std::string path = profile_path(spec);
  std::error_code ignored;
  if (spec.profile.empty() && !std::filesystem::exists(path, ignored))
    throw InputError(
        fmt::format("{}: there is no profile of this machine: `replay calibrate` makes one, --profile FILE "
                    "names another",
                    path));
  return std::make_shared<const Profile>(read_profile(path));
}

void use_profile(Prepared& run, const JobsCores& cores, BenchmarkSetting setting) {
  if (!names_model(run.spec.runtime_model, kCalibrated)) return;
  const Profile& profile = *run.profile;
  setting.profile_name = profile_path(run.spec);
  setting.programs = run.loaded.programs;
  const BenchmarkJobs jobs = set_benchmarks(run.workload(), profile, setting);
  if (profile.is_sample)
    run.notes.push_back(fmt::format("{}: is a sample, of no real machine", setting.profile_name));
  else if (const auto others = differences(profile.machine, machine_that_runs(cores, profile)); !others.empty())
    run.notes.push_back(
        fmt::format("{}: is the profile of another machine ({})", setting.profile_name, fmt::join(others, "; ")));
  else if (cores.kind == JobsCores::Kind::kHere && !profile.machine.emulated.empty())
    run.notes.push_back(fmt::format("{}: is of as many virtual cores ({}), and jobs run on real ones",
                                    setting.profile_name, profile.machine.emulated));
  else if (cores.kind == JobsCores::Kind::kElsewhere && (cores.hosts.empty() || profile.machine.hosts.empty()))
    run.notes.push_back(fmt::format(
        "{}: is of {}; whether that is the agent's machine is not known, but for the number of cores",
        setting.profile_name, profile.machine.name.empty() ? "a machine without a name" : profile.machine.name));
  run.notes.push_back(fmt::format("{} of {} are benchmarks of {} ({}), with run times as measured", jobs.benchmarks,
                                  counted(run.workload().jobs.size(), "job"), setting.profile_name, profile.date));
  run.notes.insert(run.notes.end(), jobs.notes.begin(), jobs.notes.end());
}

std::optional<std::string> note_on_turns(const Prepared& run, Duration turn) {
  const bool reads_pairs =
      names_model(run.spec.runtime_model, kCalibrated) && names_model(run.spec.runtime_model, "pairs");
  if (!reads_pairs || run.profile->pairs.empty() || run.profile->turn_s == seconds(turn)) return std::nullopt;
  const auto& measured = run.profile->turn_s;
  return fmt::format("jobs on the same cores take turns of {:g} ms, the pairs of the profile were measured with {}",
                     1000 * seconds(turn),
                     measured ? fmt::format("turns of {:g} ms", 1000 * *measured) : "turns that it does not state");
}

}  // namespace replay::experiment
