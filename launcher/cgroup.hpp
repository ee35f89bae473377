// How many cores' worth of time the process's control groups grant: containers limit time rather than cores, and a
// process per core would then be throttled as a whole, which no schedule could explain.
#pragma once

#include <filesystem>
#include <optional>

namespace replay::launcher {

/// The tightest limit between this process's group and the root, as a number of cores (1.5: one and a half). Version 2
/// (cpu.max) and version 1 (cpu.cfs_quota_us). Nothing: no limit, or no control groups. `root` is "/" but in tests.
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const std::filesystem::path& root = "/");

}  // namespace replay::launcher
