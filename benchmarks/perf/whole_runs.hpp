// Programs run as whole processes, and what each run cost: what the sections of simulator_bench share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::bench {

using Words = std::vector<std::string>;

struct Cost {
  double user_s = 0;
  double cpu_s = 0;  ///< user and system
  double peak_mb = 0;
  bool stopped = false;  ///< it took more CPU time than the limit
};

/// Runs a program without its standard output; a run that takes `limit_s` of CPU time is stopped (0: no limit). Throws
/// InputError if it cannot be started or fails otherwise.
Cost run(Words words, int limit_s = 0);

/// A copy without compression.
void copy(const std::string& from, const std::string& to);

/// The lines of an SWF file that are neither empty nor comments.
[[nodiscard]] std::uint64_t records_of(const std::string& path);

[[nodiscard]] Words all_policies();

/// A Lublin workload in `folder`; it replaces the one before. Returns its path.
std::string lublin(const TemporaryFolder& folder, const std::string& replay, std::uint64_t jobs,
                   std::uint64_t processors, const char* load);

}  // namespace replay::bench
