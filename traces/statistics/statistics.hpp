// Describes a log: the machine, the load, the distributions of sizes, run times, requests and
// arrivals, the users, and every quirk that the cleaning rules or the header show.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/cleaning.hpp"
#include "traces/statistics/declared_sizes.hpp"

namespace replay {

inline constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;  // seconds

struct TraceInfoOptions {
  std::string file;  ///< "-": standard input
  CleaningRules rules{};
  bool strict = false;  ///< a broken line is an error
};

/// Of the jobs kept.
struct Distribution {
  std::uint64_t count = 0;  ///< 0: the fields below are invalid
  double mean = 0, least = 0, p25 = 0, p50 = 0, p75 = 0, p90 = 0, p95 = 0, p99 = 0, most = 0;
};

struct HistogramBin {
  std::string label;
  double most = 0;        ///< values up to here, and above the bin before
  double job_share = 0;   ///< 0..1
  double work_share = 0;  ///< of processor-seconds, 0..1
};

struct UserShare {
  std::int32_t user;
  double job_share, work_share;
};

/// Work submitted in each period, relative to what the machine could do in that time.
struct LoadSeries {
  Duration period{};                ///< an hour, a day, a week or several
  std::vector<std::string> labels;  ///< first local day of each period, or its number where the header has no date
  std::vector<double> offered;      ///< work of the jobs submitted then / (machine x period)
  std::vector<double> used;  ///< processors in use by logged waits and run times / machine; empty if none are logged
};

struct TraceInfo {
  std::string computer, installation, acknowledge, start_time, end_time;
  CoreCount machine_size = 1;
  std::string machine_source;  ///< WorkloadReader::machine_source()
  std::optional<std::int32_t> nodes;
  CleaningReport report;

  std::uint64_t jobs = 0;
  Duration first_submit{}, last_submit{};
  double work_s = 0;                   ///< sum of processors x run time, processor-seconds
  std::optional<double> offered_load;  ///< work / (machine x time from first to last submit)
  Distribution processors, runtime_s, request_s, request_per_runtime, interarrival_s, wait_s;
  double mean_overestimation = 0;                   ///< mean request / mean run time of the jobs that have a request
  double serial_share = 0, power_of_two_share = 0;  ///< of jobs; powers of two count from 2
  std::vector<HistogramBin> processor_bins, runtime_bins;

  std::uint64_t users = 0, groups = 0, executables = 0, queues = 0, programs = 0;
  std::vector<UserShare> busiest_users;               ///< by work, at most five
  std::optional<std::array<double, 24>> hour_shares;  ///< of submissions, by the log's local clock (LogClock)
  std::optional<std::array<double, 7>> day_shares;    ///< from Monday
  DeclaredSizes declared;
  LoadSeries load;
  std::optional<CoreCount> logged_peak;  ///< most processors in use at once by logged waits and run times
  std::vector<std::string> quirks;
};

/// Reads the whole log. Throws InputError.
[[nodiscard]] TraceInfo analyse_trace(const TraceInfoOptions& options);

}  // namespace replay
