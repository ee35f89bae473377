// Gives the jobs of a trace that are benchmarks of a profile their measured values. The run time is the one measured at
// the job's size, with launch and end, because in a real run a job's time counts from the cores being given to the
// processes being gone; the CPU utilisation is the measured one. Other jobs (those that run `phases`, or no program)
// keep what the trace says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/workload.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay {

/// How the jobs will be run, or would be.
struct BenchmarkSetting {
  std::map<std::int32_t, std::string> programs{};  ///< the trace's table: SWF field 14 to command
  std::string everywhere{};                        ///< the program of all jobs instead; empty: the table's
  std::string profile_name{};                      ///< of the file, for messages
  double time_scale = 1;                           ///< real seconds per second of the trace
  /// Launch and end come on top of the run time of a job that is no benchmark. Not on emulated cores, where `phases` takes
  /// them off its own work, nor in a real run, where the run time is an argument of the program.
  bool adds_overheads = true;
};

struct BenchmarkJobs {
  std::size_t benchmarks = 0;      ///< jobs that are benchmarks of the profile
  std::vector<std::string> notes;  ///< what a reader of the results has to know, one line each
};

/// Sets Behaviour::application, CPU utilisation and run time of the jobs, declared and true ones alike. An estimate
/// that is the traced run time (a perfect one, or one that was missing) follows the new one, others stay. Throws
/// InputError naming the job, what the profile lacks and the command that measures it.
[[nodiscard]] BenchmarkJobs set_benchmarks(Workload& workload, const Profile& profile, const BenchmarkSetting& setting);

/// The speedup of the benchmark and class that `command` runs; blanks between words do not matter. Null if the profile
/// has no such command or no speedup of it. Valid as long as the profile.
[[nodiscard]] const ProfileSpeedup* speedup_of(const Profile& profile, std::string_view command);

}  // namespace replay
