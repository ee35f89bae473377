// Synthetic job sets made of a log's own days, as a calibrated block bootstrap: a calendar of weeks takes for each
// weekday a random logged day of that weekday with all its jobs, and days are exchanged until the means of the set are
// those of the log. Within a day everything stays together: which user submits what when, and in which bursts.
// docs/resampling.md gives the reasons. The log's jobs are held in memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "traces/models/random.hpp"
#include "traces/trace_stream.hpp"
#include "traces/workload_reader.hpp"

namespace replay {

/// Local time of the log: seconds since the beginning of some Monday, for a time since the log's zero.
using LocalSecondOf = std::function<std::int64_t(Duration since_zero)>;

inline constexpr std::int64_t kDayCut = std::int64_t{5} * 3600;  ///< a day goes from 05:00 to 05:00, the quietest hour

/// A job of the log: the entry as it stands, and the values that a simulator uses.
struct SampledJob {
  TraceEntry entry;
  double size = 1;      ///< processes
  double runtime = 0;   ///< s, cut at the estimate
  double estimate = 0;  ///< s
};

/// The figures that a set has in common with its log.
enum class LogFigure : std::uint8_t { kSize, kRuntime, kEstimate, kWork, kGap };
inline constexpr std::size_t kFigures = 5;
inline constexpr std::string_view kFigureNames[kFigures] = {"size", "run time", "estimate", "work",
                                                            "inter-arrival time"};
using Means = std::array<double, kFigures>;  ///< by LogFigure; times in s, work in processor-seconds

/// All jobs that the cleaning rules keep, in order of submission. Throws what WorkloadReader throws.
[[nodiscard]] std::vector<SampledJob> read_logged_jobs(WorkloadReader& reader);

/// A job of a set: which one of the log, and when.
struct ResampledJob {
  std::size_t logged = 0;  ///< index into Resampler::jobs()
  Duration submit{};       ///< since Monday 00:00
};

struct ResampledSet {
  std::vector<ResampledJob> jobs;  ///< in order of submission
  Means means{};
  double worst_deviation = 0;  ///< from the log's means, relative
};

class Resampler {
 public:
  /// Throws InputError for a log that has no whole day of some weekday.
  Resampler(std::vector<SampledJob> jobs, const LocalSecondOf& clock);

  [[nodiscard]] const std::vector<SampledJob>& jobs() const { return jobs_; }
  /// Of the whole log.
  [[nodiscard]] const Means& means() const { return means_; }
  [[nodiscard]] std::size_t days() const { return days_.size(); }

  /// Set number `set` (from 1) of the seed, with `count` jobs and means within `tolerance` (relative) of the log's.
  /// Throws UsageError where that is not reached, naming what was. REQUIRES: count >= 2.
  [[nodiscard]] ResampledSet make_set(Seed seed, std::uint64_t set, std::uint64_t count, double tolerance) const;

 private:
  struct Placed {
    std::size_t logged;
    Duration offset;  // since the day's 05:00
  };
  struct Day {
    std::vector<Placed> jobs;  // by offset
    Means sums{};              // of all but the gap
  };
  class Calendar;
  [[nodiscard]] Means figures_of(std::size_t logged) const;
  void cut_into_days(const LocalSecondOf& clock);

  std::vector<SampledJob> jobs_;
  Means means_{};
  std::vector<Day> days_;                         // whole ones, in order
  std::array<std::vector<std::size_t>, 7> pool_;  // days of each weekday, from Monday
};

/// The entry of a job of a set: numbered anew, its submit time multiplied by `factor` and then rounded to seconds (1:
/// as it is). Wait and preceding job are those of the log's schedule, and become unknown.
[[nodiscard]] TraceEntry resampled_entry(const SampledJob& job, std::uint64_t number, Duration submit, double factor);

/// The log's header for a set of it: acknowledgements and notes kept, totals and times replaced. `clock_note` says
/// where the local time came from.
[[nodiscard]] SwfHeader resampled_header(SwfHeader header, std::uint64_t jobs, std::string_view command,
                                         std::string_view clock_note);

}  // namespace replay
