#include "traces/models/resampling.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "traces/history.hpp"

namespace replay {
namespace {

constexpr std::int64_t kDay = 86400;
constexpr std::size_t kWeekdays = 7;
constexpr int kMostCalendars = 50;
constexpr std::size_t kLeastTries = 1000;
constexpr std::size_t kTriesPerDay = 20;
constexpr Duration kSecond = std::chrono::seconds{1};

std::size_t at(LogFigure figure) { return static_cast<std::size_t>(figure); }

// Mean gap of jobs submitted from `first` to `last`.
double mean_gap(Duration first, Duration last, std::uint64_t jobs) {
  return jobs < 2 ? 0 : seconds(last - first) / static_cast<double>(jobs - 1);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

std::vector<SampledJob> read_logged_jobs(WorkloadReader& reader) {
  std::vector<SampledJob> jobs;
  for (TraceEntry entry; reader.next_entry(entry);) {
    const auto job = reader.job_of(entry);
    if (!job) continue;
    jobs.push_back(
        {entry, static_cast<double>(job->job.processes), seconds(job->truth.runtime), seconds(job->job.estimate)});
  }
  std::ranges::stable_sort(
      jobs, [](const SampledJob& a, const SampledJob& b) { return a.entry.record.submit < b.entry.record.submit; });
  return jobs;
}

// ---- a calendar under construction ----

/// Days chosen for a set, the first one a Monday. Keeps no jobs, so that an exchange costs as much as there are days.
class Resampler::Calendar {
 public:
  Calendar(const Resampler& log, Rng& rng, std::uint64_t count) : log_(log), rng_(rng), count_(count) {
    extend();
    means_ = measure();
  }

  [[nodiscard]] const Means& means() const { return means_; }
  [[nodiscard]] std::size_t days() const { return days_.size(); }

  /// Sum of squared relative deviations: what exchanges bring down.
  [[nodiscard]] double distance(const Means& means) const {
    double sum = 0;
    for (std::size_t i = 0; i < kFigures; ++i) sum += relative(means, i) * relative(means, i);
    return sum;
  }
  [[nodiscard]] double worst_deviation() const {
    double worst = 0;
    for (std::size_t i = 0; i < kFigures; ++i) worst = std::max(worst, std::abs(relative(means_, i)));
    return worst;
  }

  /// Puts another day of the same weekday in a random place, if that brings the means nearer.
  void try_exchange() {
    const std::size_t place = rng_.below(used_);
    const std::size_t before = days_[place];
    days_[place] = random_day(place);
    extend();
    const Means tried = measure();
    if (distance(tried) < distance(means_))
      means_ = tried;
    else
      days_[place] = before;
  }

  [[nodiscard]] std::vector<ResampledJob> jobs() const {
    std::vector<ResampledJob> result;
    for (std::size_t place = 0; place < days_.size() && result.size() < count_; ++place)
      for (const Placed& job : log_.days_[days_[place]].jobs)
        if (result.size() < count_) result.push_back({job.logged, begin_of(place) + job.offset});
    return result;
  }

 private:
  static Duration begin_of(std::size_t place) {
    return std::chrono::seconds{static_cast<std::int64_t>(place) * kDay + kDayCut};
  }
  [[nodiscard]] double relative(const Means& means, std::size_t figure) const {
    return log_.means_[figure] > 0 ? means[figure] / log_.means_[figure] - 1 : 0;
  }
  std::size_t random_day(std::size_t place) {
    const auto& pool = log_.pool_[place % kWeekdays];
    return pool[rng_.below(pool.size())];
  }

  // Adds days until there are enough jobs. Days behind the last job stay: an exchange may need them.
  void extend() {
    std::uint64_t jobs = 0;
    for (const std::size_t day : days_) jobs += log_.days_[day].jobs.size();
    while (jobs < count_) {
      days_.push_back(random_day(days_.size()));
      jobs += log_.days_[days_.back()].jobs.size();
    }
  }

  // The means of the first `count_` jobs.
  Means measure() {
    Means sums{};
    std::uint64_t jobs = 0;
    Duration first{-1};
    Duration last{};
    for (used_ = 0; jobs < count_; ++used_) {
      const Day& day = log_.days_[days_[used_]];
      if (day.jobs.empty()) continue;
      if (jobs == 0) first = begin_of(used_) + day.jobs.front().offset;
      const std::size_t taken = std::min<std::uint64_t>(day.jobs.size(), count_ - jobs);
      jobs += taken;
      last = begin_of(used_) + day.jobs[taken - 1].offset;
      add(sums, day, taken);
    }
    Means means = sums;
    for (double& mean : means) mean /= static_cast<double>(count_);
    means[at(LogFigure::kGap)] = mean_gap(first, last, count_);
    return means;
  }

  void add(Means& sums, const Day& day, std::size_t taken) const {
    if (taken == day.jobs.size()) {
      for (std::size_t i = 0; i < kFigures; ++i) sums[i] += day.sums[i];
      return;
    }
    for (std::size_t job = 0; job < taken; ++job) {
      const Means figures = log_.figures_of(day.jobs[job].logged);
      for (std::size_t i = 0; i < kFigures; ++i) sums[i] += figures[i];
    }
  }

  const Resampler& log_;
  Rng& rng_;
  std::uint64_t count_;
  std::vector<std::size_t> days_;
  std::size_t used_ = 0;  // days with jobs of the set, and those between
  Means means_{};
};

// ---- the log ----

Resampler::Resampler(std::vector<SampledJob> jobs, const LocalSecondOf& clock) : jobs_(std::move(jobs)) {
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    const Means figures = figures_of(job);
    for (std::size_t i = 0; i < kFigures; ++i) means_[i] += figures[i] / static_cast<double>(jobs_.size());
  }
  if (!jobs_.empty())
    means_[at(LogFigure::kGap)] =
        mean_gap(jobs_.front().entry.record.submit, jobs_.back().entry.record.submit, jobs_.size());
  cut_into_days(clock);
}

Means Resampler::figures_of(std::size_t logged) const {
  const SampledJob& job = jobs_[logged];
  return {job.size, job.runtime, job.estimate, job.size * job.runtime, 0};
}

// The days of the first and the last job are not whole: they do not count.
void Resampler::cut_into_days(const LocalSecondOf& clock) {
  const auto day_of = [&](std::size_t job) {
    return floor_divide(clock(jobs_[job].entry.record.submit) - kDayCut, kDay);
  };
  const std::int64_t first = jobs_.empty() ? 0 : day_of(0) + 1;
  const std::int64_t end = jobs_.empty() ? 0 : day_of(jobs_.size() - 1);
  days_.resize(static_cast<std::size_t>(std::max<std::int64_t>(end - first, 0)));
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    const std::int64_t day = day_of(job);
    if (day < first || day >= end) continue;
    const Duration submit = jobs_[job].entry.record.submit;
    const Duration offset = std::chrono::seconds{clock(submit) - kDayCut - day * kDay} + submit % kSecond;
    Day& into = days_[static_cast<std::size_t>(day - first)];
    into.jobs.push_back({job, offset});
    const Means figures = figures_of(job);
    for (std::size_t i = 0; i < kFigures; ++i) into.sums[i] += figures[i];
  }
  for (std::size_t day = 0; day < days_.size(); ++day) {
    // When summer time ends, an hour comes twice.
    std::ranges::stable_sort(days_[day].jobs, {}, &Placed::offset);
    const std::int64_t number = first + static_cast<std::int64_t>(day);
    pool_[static_cast<std::size_t>(number - floor_divide(number, kWeekdays) * static_cast<std::int64_t>(kWeekdays))]
        .push_back(day);
  }
  const bool any_jobs = std::ranges::any_of(days_, [](const Day& day) { return !day.jobs.empty(); });
  if (std::ranges::any_of(pool_, [](const auto& days) { return days.empty(); }) || !any_jobs)
    throw InputError(fmt::format(
        "the log is too short to draw days from: expected a whole day with jobs around it for each weekday, found {} "
        "whole days and {} jobs",
        days_.size(), jobs_.size()));
}

// Exchanges may end in a calendar that no single exchange improves; then another calendar is drawn.
ResampledSet Resampler::make_set(Seed seed, std::uint64_t set, std::uint64_t count, double tolerance) const {
  Rng rng(seed, fmt::format("from-log set {}", set));
  Means nearest{};
  double least = std::numeric_limits<double>::infinity();
  for (int start = 0; start < kMostCalendars; ++start) {
    Calendar calendar(*this, rng, count);
    const std::size_t tries = kLeastTries + kTriesPerDay * calendar.days();
    for (std::size_t i = 0; i < tries && calendar.worst_deviation() > tolerance; ++i) calendar.try_exchange();
    const double worst = calendar.worst_deviation();
    if (worst <= tolerance) return {calendar.jobs(), calendar.means(), worst};
    if (worst >= least) continue;
    least = worst;
    nearest = calendar.means();
  }
  std::string means;
  for (std::size_t i = 0; i < kFigures; ++i)
    add_item(means, ", ", "{} {:.4g} for {:.4g}", kFigureNames[i], nearest[i], means_[i]);
  throw UsageError(
      fmt::format("set {}: no days found whose means are within {} % of the log's: {}; try more jobs or a "
                  "larger --tolerance",
                  set, tolerance * 100, means));
}

TraceEntry resampled_entry(const SampledJob& job, std::uint64_t number, Duration submit, double factor) {
  TraceEntry entry = job.entry;
  entry.record.job = static_cast<std::int64_t>(number);
  entry.record.submit = submit;
  if (factor != 1) entry.record.submit = std::chrono::seconds{std::llround(seconds(submit) * factor)};
  entry.record.wait = kUnknownTime;
  entry.record.preceding = -1;
  entry.record.think_time = kUnknownTime;
  return entry;
}

SwfHeader resampled_header(SwfHeader header, std::uint64_t jobs, std::string_view command,
                           std::string_view clock_note) {
  forget_totals(header);
  for (const std::string_view label : {"UnixStartTime", "TimeZone", "TimeZoneString", "StartTime"})
    header.remove(label);
  header.add("MaxJobs", fmt::format("{}", jobs));
  header.add("MaxRecords", fmt::format("{}", jobs));
  header.add("Note", "a synthetic set of jobs, drawn from the log by whole days; time 0 is a Monday, 00:00");
  header.add("Note", clock_note);
  note_history(header, command);
  return header;
}

}  // namespace replay
