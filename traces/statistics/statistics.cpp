#include "traces/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "scheduler/base/percentile.hpp"
#include "traces/local_time.hpp"
#include "traces/logged_use.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

// ---- numbers ----

Distribution distribution_of(std::vector<double> values) {
  Distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  std::ranges::sort(values);
  d.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  d.least = values.front();
  d.most = values.back();
  Percentiles percentiles(values);
  d.p25 = percentiles.at(0.25), d.p50 = percentiles.at(0.5), d.p75 = percentiles.at(0.75);
  d.p90 = percentiles.at(0.9), d.p95 = percentiles.at(0.95), d.p99 = percentiles.at(0.99);
  return d;
}

// Counts jobs and their work per bin; the last bin takes whatever is beyond its edge.
class Histogram {
 public:
  void add_bin(std::string label, double most) { bins_.push_back({std::move(label), most, 0, 0}); }
  void add(double value, double work) {
    auto bin = std::ranges::lower_bound(bins_, value, {}, &HistogramBin::most);
    if (bin == bins_.end()) --bin;
    bin->job_share += 1;
    bin->work_share += work;
  }
  [[nodiscard]] std::vector<HistogramBin> shares() const {
    double jobs = 0, work = 0;
    for (const HistogramBin& bin : bins_) jobs += bin.job_share, work += bin.work_share;
    std::vector<HistogramBin> result = bins_;
    for (HistogramBin& bin : result) {
      if (jobs > 0) bin.job_share /= jobs;
      if (work > 0) bin.work_share /= work;
    }
    return result;
  }

 private:
  std::vector<HistogramBin> bins_;
};

Histogram powers_of_two_up_to(double most) {
  Histogram histogram;
  for (std::int64_t from = 1, to = 1;; from = to + 1, to *= 2) {
    histogram.add_bin(from == to ? fmt::format("{}", to) : fmt::format("{}-{}", from, to), static_cast<double>(to));
    if (static_cast<double>(to) >= most) return histogram;
  }
}

Histogram runtime_scale() {
  Histogram histogram;
  histogram.add_bin("0 s", 0);
  histogram.add_bin("to 10 s", 10);
  histogram.add_bin("to 1 min", 60);
  histogram.add_bin("to 10 min", 600);
  histogram.add_bin("to 1 h", kHour);
  histogram.add_bin("to 3 h", 3 * kHour);
  histogram.add_bin("to 10 h", 10 * kHour);
  histogram.add_bin("to 1 d", kDay);
  histogram.add_bin("to 3 d", 3 * kDay);
  histogram.add_bin("longer", HUGE_VAL);
  return histogram;
}

// ---- load over time ----

// An hour for spans of days, a day for months, one week or several beyond, so that a curve has some hundred points.
std::int64_t period_for(std::int64_t span_s) {
  constexpr std::int64_t kMostPeriods = 200;
  if (span_s <= 5 * kDay) return kHour;
  if (span_s <= 120 * kDay) return kDay;
  return 7 * kDay * (1 + span_s / (7 * kDay * kMostPeriods));
}

// "1996-09-23", with the hour where periods are hours.
std::string date_text(const LogClock& clock, std::int64_t since_zero_s, std::int64_t unit) {
  const std::string text = to_date_text(clock.local(std::chrono::seconds{since_zero_s}));
  return text.substr(
      0, unit == kHour ? std::string_view{"1996-09-23 14:00"}.size() : std::string_view{"1996-09-23"}.size());
}

// The name of a period if the header has no date: "week 12" of the log.
std::string period_number(std::int64_t start_s, std::int64_t period_s) {
  if (period_s == kHour) return fmt::format("hour {}", start_s / kHour + 1);
  if (period_s == kDay) return fmt::format("day {}", start_s / kDay + 1);
  return fmt::format("week {}", start_s / (7 * kDay) + 1);
}

// ---- gathering ----

class Gatherer {
 public:
  explicit Gatherer(const TraceInfoOptions& options)
      : reader_(options.file, options.rules, {.strict = options.strict}), queue_from_(options.rules.queue_from) {
    clock_ = LogClock::of(reader_.header());
  }

  TraceInfo gather() {
    for (TraceEntry entry; reader_.next_entry(entry);) {
      const auto job = reader_.job_of(entry);
      if (!job) continue;
      if (queue_from_ == QueueFrom::kEligible) wait_from_eligible(entry);
      add(*job, entry.record);
    }
    return finish();
  }

 private:
  struct ByUser {
    double jobs = 0, work = 0;
  };

  void add(const TracedJob& traced, const SwfRecord& record) {
    const double run = seconds(traced.truth.runtime);
    const double request = seconds(traced.job.estimate);
    const double work = run * cores_needed(traced.job);
    processors_.push_back(cores_needed(traced.job));
    runtimes_.push_back(run);
    if (record.requested_time > Duration::zero()) {
      requests_.push_back(request);
      requested_run_s_ += run;
      if (run > 0) ratios_.push_back(request / run);
    }
    submits_.push_back(traced.job.submitted.time_since_epoch());
    if (record.wait >= Duration::zero()) add_logged(record);
    ByUser& user = users_[traced.job.user];
    user.jobs += 1;
    user.work += work;
    if (traced.job.group >= 0) groups_.insert(traced.job.group);
    if (traced.job.queue >= 0) queues_.insert(traced.job.queue);
    if (traced.truth.executable >= 0) executables_.insert(traced.truth.executable);
    info_.work_s += work;
    info_.declared.add(traced, reader_.machine_size());
  }

  void add_logged(const SwfRecord& record) {
    waits_.push_back(seconds(record.wait));
    if (record.run > Duration::zero() && record.allocated > 0)
      use_.add(record.submit + record.wait, record.run, record.allocated);
  }

  TraceInfo finish() {
    set_header_facts();
    set_sizes_and_times();
    set_offered();
    set_arrivals();
    set_users();
    set_peak();
    set_used();
    set_quirks();
    return std::move(info_);
  }

  void set_header_facts() {
    const SwfHeader& header = reader_.header();
    info_.computer = header.computer();
    info_.installation = header.installation();
    info_.acknowledge = header.find("Acknowledge").value_or("");
    info_.start_time = header.find("StartTime").value_or("");
    info_.end_time = header.find("EndTime").value_or("");
    info_.nodes = header.max_nodes();
    info_.machine_size = reader_.machine_size();
    info_.machine_source = reader_.machine_source();
    info_.report = reader_.report();
    info_.programs = reader_.programs().size();
    info_.jobs = processors_.size();
  }

  void set_sizes_and_times() {
    double serial = 0, powers = 0;
    Histogram sizes = powers_of_two_up_to(processors_.empty() ? 1 : std::ranges::max(processors_));
    Histogram times = runtime_scale();
    for (std::size_t i = 0; i < processors_.size(); ++i) {
      const auto n = static_cast<std::uint32_t>(processors_[i]);
      serial += n == 1 ? 1 : 0;
      powers += n > 1 && std::has_single_bit(n) ? 1 : 0;
      sizes.add(processors_[i], processors_[i] * runtimes_[i]);
      times.add(runtimes_[i], processors_[i] * runtimes_[i]);
    }
    const double jobs = std::max(1.0, static_cast<double>(info_.jobs));
    info_.serial_share = serial / jobs;
    info_.power_of_two_share = powers / jobs;
    info_.processor_bins = sizes.shares();
    info_.runtime_bins = times.shares();
    info_.processors = distribution_of(processors_);
    info_.runtime_s = distribution_of(runtimes_);
    info_.request_s = distribution_of(requests_);
    info_.request_per_runtime = distribution_of(ratios_);
    info_.wait_s = distribution_of(waits_);
    if (requested_run_s_ > 0)
      info_.mean_overestimation = info_.request_s.mean * static_cast<double>(requests_.size()) / requested_run_s_;
  }

  void set_arrivals() {
    std::ranges::sort(submits_);
    if (submits_.empty()) return;
    info_.first_submit = submits_.front();
    info_.last_submit = submits_.back();
    const double span = seconds(info_.last_submit - info_.first_submit);
    if (span > 0) info_.offered_load = info_.work_s / (span * info_.machine_size);
    std::vector<double> gaps;
    for (std::size_t i = 1; i < submits_.size(); ++i) gaps.push_back(seconds(submits_[i] - submits_[i - 1]));
    info_.interarrival_s = distribution_of(std::move(gaps));
    if (clock_) set_week();
  }

  // REQUIRES: submit times not sorted yet: their order is that of the other columns.
  void set_offered() {
    if (submits_.empty()) return;
    const auto [first, last] = std::ranges::minmax(submits_);
    const std::int64_t span = (last - first).count() / 1'000'000;
    period_s_ = period_for(span);
    // Days begin at local midnight and weeks on Monday, if the header has the date.
    const std::int64_t first_s = first.count() / 1'000'000;
    constexpr std::int64_t kMonday = 3 * kDay;  // 1970-01-01 was a Thursday
    from_s_ = first_s - (clock_ ? (clock_->local(first) + kMonday) % period_s_ : 0);
    LoadSeries& load = info_.load;
    load.period = std::chrono::seconds{period_s_};
    load.offered.resize(static_cast<std::size_t>((last.count() / 1'000'000 - from_s_) / period_s_ + 1));
    const double capacity = static_cast<double>(period_s_) * info_.machine_size;
    for (std::size_t i = 0; i < submits_.size(); ++i)
      load.offered[static_cast<std::size_t>((submits_[i].count() / 1'000'000 - from_s_) / period_s_)] +=
          processors_[i] * runtimes_[i] / capacity;
    for (std::size_t i = 0; i < load.offered.size(); ++i) {
      const std::int64_t start = from_s_ + static_cast<std::int64_t>(i) * period_s_;
      // Three hours later is the same day, even if the local clock has been changed since the first one.
      const std::int64_t inside = period_s_ == kHour ? start : start + 3 * kHour;
      load.labels.push_back(clock_ ? date_text(*clock_, inside, period_s_) : period_number(start, period_s_));
    }
  }

  void set_used() {
    if (use_.is_empty() || info_.load.offered.empty()) return;
    std::vector<double>& used = info_.load.used;
    used.resize(info_.load.offered.size());
    const double period = static_cast<double>(period_s_);
    const double end = period * static_cast<double>(used.size());
    double now = 0, processors = 0;
    for (const LoggedUse::Change& change : use_.in_order()) {
      const double at = std::clamp(seconds(change.at) - static_cast<double>(from_s_), 0.0, end);
      while (now < at) {
        const auto slot = std::min(static_cast<std::size_t>(now / period), used.size() - 1);
        const double until = std::min(at, static_cast<double>(slot + 1) * period);
        used[slot] += processors * (until - now) / (period * info_.machine_size);
        if (until <= now) break;
        now = until;
      }
      processors += static_cast<double>(change.processors);
    }
  }

  void set_week() {
    info_.hour_shares.emplace();
    info_.day_shares.emplace();
    const double share = 1 / static_cast<double>(submits_.size());
    for (const Duration submit : submits_) {
      const LocalSeconds local = clock_->local(submit);
      (*info_.hour_shares)[static_cast<std::size_t>(hour_of_day(local))] += share;
      (*info_.day_shares)[static_cast<std::size_t>(day_of_week(local))] += share;
    }
  }

  void set_users() {
    constexpr std::size_t kMost = 5;
    const double jobs = std::max(1.0, static_cast<double>(info_.jobs));
    const double work = info_.work_s > 0 ? info_.work_s : 1;
    for (const auto& [user, sum] : users_)
      if (user >= 0) info_.busiest_users.push_back({user, sum.jobs / jobs, sum.work / work});
    info_.users = info_.busiest_users.size();
    info_.groups = groups_.size();
    info_.queues = queues_.size();
    info_.executables = executables_.size();
    std::ranges::stable_sort(info_.busiest_users, std::ranges::greater{}, &UserShare::work_share);
    if (info_.busiest_users.size() > kMost)
      info_.busiest_users.erase(info_.busiest_users.begin() + kMost, info_.busiest_users.end());
  }

  void set_peak() {
    if (!use_.is_empty()) info_.logged_peak = static_cast<CoreCount>(std::min<std::int64_t>(use_.most(), INT32_MAX));
  }

  void set_quirks() {
    std::vector<std::string> lines = info_.report.to_lines();
    info_.quirks.assign(lines.begin() + 1, lines.end());  // the first is the sum
    if (info_.logged_peak && *info_.logged_peak > info_.machine_size)
      info_.quirks.push_back(
          fmt::format("the logged schedule has up to {} processors in use, the machine has {}: its waits cannot be "
                      "replayed exactly",
                      *info_.logged_peak, info_.machine_size));
    if (info_.wait_s.count == 0) info_.quirks.emplace_back("no waits are logged");
    if (info_.request_s.count == 0) info_.quirks.emplace_back("no times are requested: estimates are the run times");
  }

  WorkloadReader reader_;
  QueueFrom queue_from_;
  std::optional<LogClock> clock_;
  std::vector<double> processors_, runtimes_, requests_, ratios_, waits_;
  double requested_run_s_ = 0;  // run times of the jobs that have a request
  std::vector<Duration> submits_;
  std::int64_t period_s_ = kHour, from_s_ = 0;  // of info_.load
  LoggedUse use_;
  std::map<std::int32_t, ByUser> users_;
  std::set<std::int32_t> groups_, queues_, executables_;
  TraceInfo info_;
};

}  // namespace

TraceInfo analyse_trace(const TraceInfoOptions& options) { return Gatherer(options).gather(); }

}  // namespace replay
