// The profile's file during a calibration: it is added to, and written after every figure. Figures of benchmarks that were
// built anew since (another SHA-256) are dropped, so that they are measured again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/calibrate/measurement.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay::calibrate {

class KeptProfile {
 public:
  /// The profile in the file; an empty one if there is no file, or with `fresh`. Its machine is `here` from now on. Throws
  /// InputError if the file has a sample or a profile of another machine.
  KeptProfile(std::filesystem::path path, const ProfileMachine& here, bool fresh);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] Profile& profile() { return profile_; }
  [[nodiscard]] const Profile& profile() const { return profile_; }
  /// Benchmarks whose figures were dropped.
  [[nodiscard]] const std::vector<std::string>& rebuilt() const { return rebuilt_; }
  /// Pairs are measured in turns of that length, s, from now on; 0: without turns. Drops those that were not, or that do not say it.
  /// Returns how many.
  std::size_t measure_in_turns(double turn_s);

  /// Makes the file's folder. Throws InputError if the file cannot be written: call it before the first measurement.
  void expect_writable() const;
  /// Stores the SHA-256 of the measured program beside its run time.
  void sign(const Measurement& measurement);
  /// Writes the file, with today's date. Throws InputError.
  void write();

 private:
  void drop_rebuilt();

  std::filesystem::path path_;
  Profile profile_;
  std::vector<std::string> rebuilt_;
};

}  // namespace replay::calibrate
