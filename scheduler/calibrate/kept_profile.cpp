#include "scheduler/calibrate/kept_profile.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/sha256.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"

namespace replay::calibrate {
namespace fs = std::filesystem;
namespace {

std::string cores_text(const ProfileMachine& machine) {
  return machine.emulated.empty() ? "the machine's own cores" : machine.emulated;
}

std::string nodes_text(const ProfileMachine& machine) {
  return machine.nodes.empty() ? "one machine" : fmt::format("hosts, {}", machine.nodes);
}

Profile read_profile_of(const fs::path& path, const ProfileMachine& here) {
  constexpr const char* kWaysOut = "-o puts the figures elsewhere, --fresh replaces it";
  Profile there = read_profile(path.string());
  if (there.is_sample)
    throw InputError(fmt::format("{}: is a sample, of no real machine; {}", path.string(), kWaysOut));
  if (const auto others = differences(there.machine, here); !others.empty())
    throw InputError(fmt::format("{}: is the profile of another machine ({}); {}", path.string(),
                                 fmt::join(others, "; "), kWaysOut));
  if (there.machine.emulated != here.emulated)
    throw InputError(fmt::format("{}: is a profile of {}, expected one of {}; {}", path.string(),
                                 cores_text(there.machine), cores_text(here), kWaysOut));
  if (there.machine.nodes != here.nodes)
    throw InputError(fmt::format("{}: is a profile of {}, expected one of {}; {}", path.string(),
                                 nodes_text(there.machine), nodes_text(here), kWaysOut));
  return there;
}

}  // namespace

KeptProfile::KeptProfile(fs::path path, const ProfileMachine& here, bool fresh) : path_(std::move(path)) {
  if (!fresh && fs::exists(path_)) profile_ = read_profile_of(path_, here);
  drop_rebuilt();
  profile_.machine = here;
}

void KeptProfile::drop_rebuilt() {
  for (const ProfileEntry& entry : profile_.entries) {
    const auto program = benchmark(entry.benchmark);
    if (!program || entry.program_sha256.empty() || entry.program_sha256 == digest_of(*program).sha256) continue;
    if (std::ranges::find(rebuilt_, entry.benchmark) == rebuilt_.end()) rebuilt_.push_back(entry.benchmark);
  }
  const auto is_of_one = [this](const std::string& name) {
    return std::ranges::find(rebuilt_, name) != rebuilt_.end();
  };
  std::erase_if(profile_.entries, [&](const ProfileEntry& entry) { return is_of_one(entry.benchmark); });
  std::erase_if(profile_.pairs,
                [&](const PairSlowdown& pair) { return is_of_one(pair.benchmark) || is_of_one(pair.neighbour); });
}

std::size_t KeptProfile::measure_in_turns(double turn_s) {
  const std::size_t before = profile_.pairs.size();
  if (profile_.turn_s != turn_s) profile_.pairs.clear();
  profile_.turn_s = turn_s;
  return before - profile_.pairs.size();
}

void KeptProfile::expect_writable() const {
  std::error_code error;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), error);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", path_.parent_path().string(), error.message()));
  if (fs::is_directory(path_, error))
    throw InputError(fmt::format("{}: expected a file to write the profile to, found a directory", path_.string()));
  if (::access(path_.has_parent_path() ? path_.parent_path().c_str() : ".", W_OK | X_OK) != 0)
    throw InputError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
}

void KeptProfile::sign(const Measurement& measurement) {
  if (measurement.kind != Kind::kRunTime) return;
  for (ProfileEntry& entry : profile_.entries)
    if (entry.command == command_of(measurement.kernel) && entry.processes == measurement.processes)
      entry.program_sha256 = digest_of(*benchmark(measurement.kernel.name)).sha256;
}

void KeptProfile::write() {
  profile_.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  write_profile(profile_, path_.string());
}

}  // namespace replay::calibrate
