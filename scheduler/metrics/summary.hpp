// The metrics of a run. Each metric has a name, a unit and a definition in one table (summary.cpp), which also feeds
// the documentation and metrics.json. Times of jobs count over the jobs that ran; a value that cannot be had (a mean
// over no jobs) is NaN. Sources: FCFS-malleable paper, section 3.1, formulas (1) and (2), and Table 3; dynP paper
// (SLDwA); G-LOMARC-TS paper, section 3 (high-load phases).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/large_pages.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

struct SummaryOptions {
  Duration bound = std::chrono::seconds{10};  ///< of the bounded slowdown; > 0
  double trim_percent = 0;                    ///< of the jobs, in submit order, left out at each end; 0 up to below 50
  bool completed_only = false;                ///< means over jobs that completed; otherwise over all that ran
  /// Which jobs count, for figures per class or user; none: all. Figures of the machine stay those of the whole machine.
  std::function<bool(const JobRow&)> filter{};
};

/// Adds doubles without losing the small ones (Neumaier 1974), in a given order: the same bytes on every machine.
class CompensatedSum {
 public:
  void add(double value) {
    const double next = total_ + value;
    lost_ += std::abs(total_) >= std::abs(value) ? (total_ - next) + value : (value - next) + total_;
    total_ = next;
  }
  [[nodiscard]] double total() const { return total_ + lost_; }

 private:
  double total_ = 0;
  double lost_ = 0;
};

struct Metric {
  std::string_view name;  ///< of static storage, as the unit
  std::string_view unit;  ///< s, core_s, ratio (shares too), jobs or times
  std::string definition;
  double value;
};

struct Summary {
  std::vector<Metric> metrics;  ///< in the order of the table; those of nodes only if the log tells of nodes

  /// REQUIRES: there is a metric of that name.
  [[nodiscard]] double value(std::string_view name) const;
  [[nodiscard]] const Metric* find(std::string_view name) const;
};

/// The sums that a summary is made from, added job by job: for runs that do not keep their rows.
class JobSums {
 public:
  /// Throws UsageError for options that make no sense.
  explicit JobSums(SummaryOptions options = {});

  /// Makes room for so many jobs at once, if the number, which may be out of a file, is likely. More may come.
  void expect(std::size_t jobs) { times_.reserve(std::min(jobs, kMostExpected)); }
  /// In the order of submission.
  void add(const JobRow& row);

  [[nodiscard]] const SummaryOptions& options() const { return options_; }
  /// Jobs that count, with any outcome.
  [[nodiscard]] std::int64_t jobs() const { return jobs_; }
  [[nodiscard]] std::int64_t with(Outcome outcome) const { return ended_[static_cast<std::size_t>(outcome)]; }
  [[nodiscard]] std::int64_t unfinished() const;
  [[nodiscard]] std::int64_t shrinks() const { return shrinks_; }
  [[nodiscard]] std::int64_t expands() const { return expands_; }
  [[nodiscard]] std::int64_t requeues() const { return requeues_; }
  /// Of runs that ended as a node went down, in core-seconds.
  [[nodiscard]] double lost_work() const { return lost_work_.total(); }
  /// Of those that the means are over, in the order in which they were added.
  [[nodiscard]] std::span<const JobTimes> times() const { return times_; }
  /// Sum of processes * expanded run time, of the same jobs, in processor-microseconds.
  [[nodiscard]] Wide work() const { return work_; }
  /// Sum of processes * response, likewise.
  [[nodiscard]] Wide response_area() const { return response_area_; }
  /// Sum of the mean multiprogramming levels, likewise.
  [[nodiscard]] double mpl() const { return mpl_.total(); }

 private:
  static constexpr std::size_t kMostExpected = std::size_t{1} << 24;

  SummaryOptions options_;
  std::int64_t jobs_ = 0;
  std::array<std::int64_t, enum_count<Outcome>()> ended_{};
  std::int64_t shrinks_ = 0;
  std::int64_t expands_ = 0;
  std::int64_t requeues_ = 0;
  CompensatedSum lost_work_;
  std::vector<JobTimes, LargePages<JobTimes>> times_;
  Wide work_ = 0;
  Wide response_area_ = 0;
  CompensatedSum mpl_;
};

/// Of jobs that were all added. REQUIRES: the series saw the same run; nothing is to be trimmed. O(jobs).
[[nodiscard]] Summary summarise(const JobSums& sums, const Series& series);

/// REQUIRES: the series saw the same log as the table, and kept its points if jobs are trimmed. O(jobs).
/// Throws UsageError for options that make no sense.
[[nodiscard]] Summary summarise(const JobTable& table, const Series& series, const SummaryOptions& options = {});

/// Every metric's name.
[[nodiscard]] std::vector<std::string_view> metric_names();
/// "s", "ratio"; empty if there is no such metric.
[[nodiscard]] std::string_view unit_of(std::string_view metric);

/// The summary that Batsim writes (`_schedule.json`), under its names and by its definitions: slowdown is response over
/// execution time as it was. Energy is left out. Over the jobs that count.
[[nodiscard]] std::vector<std::pair<std::string_view, double>> batsim_summary(const JobSums& sums,
                                                                              const Series& series);

}  // namespace replay::metrics
