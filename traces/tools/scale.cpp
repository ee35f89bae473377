#include "traces/tools/scale.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "scheduler/base/error.hpp"
#include "traces/history.hpp"
#include "traces/offered_load.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

constexpr Duration kOneSecond = std::chrono::seconds{1};

// Where a time stands that becomes too long.
struct Place {
  std::string file;
  std::size_t line = 0;
};

// ---- one value ----

bool is_whole(Duration time) { return time.count() % kOneSecond.count() == 0; }

// With `keep_above_zero` a time above 0 stays above 0: at least 1 s if it was whole and not `exact`. Whole seconds stay
// whole, decimals stay decimals, so rounding can reverse the order of two times that are close: the caller has to
// restore it.
Duration scaled_time(const Place& place, int field, Duration time, double factor, bool exact, bool keep_above_zero) {
  if (time <= Duration::zero() || factor == 1) return time;
  const double micros = static_cast<double>(time.count()) * factor;
  if (micros > static_cast<double>(most_swf_seconds(field)) * 1e6)
    throw InputError(
        place.file, place.line,
        fmt::format("field {}: {} s times {} is more than {} s: expected a smaller factor{}", field, to_text(time),
                    factor, most_swf_seconds(field),
                    field == 2 ? ", or submit times that count from the first job: `replay trace cut --rebase`" : ""));
  if (exact || !is_whole(time)) return std::max(Duration{std::llround(micros)}, Duration{keep_above_zero ? 1 : 0});
  const Duration rounded = std::chrono::seconds{std::llround(micros / 1e6)};
  return keep_above_zero ? std::max(rounded, kOneSecond) : rounded;
}

std::int64_t nearest_power_of_two(double value) {
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max(value, 1.0))));
  return value - static_cast<double>(below) < static_cast<double>(2 * below) - value ? below : 2 * below;
}

// ---- a job ----

class Scale {
 public:
  Scale(const ScaleOptions& options, CoreCount from, std::string file)
      : options_(options), from_(from), place_{.file = std::move(file)} {}

  void multiply_arrivals(double factor) { arrivals_ *= factor; }
  void multiply_runtimes(double factor) { runtimes_ *= factor; }
  [[nodiscard]] double arrivals() const { return arrivals_; }
  [[nodiscard]] double runtimes() const { return runtimes_; }
  [[nodiscard]] bool changes_times() const { return arrivals_ != 1 || runtimes_ != 1; }

  // Whether a size changed. REQUIRES: the entries of a trace one after the other.
  bool apply(TraceEntry& entry, std::size_t line) {
    place_.line = line;
    SwfRecord& r = entry.record;
    const std::int32_t allocated = r.allocated, requested = r.requested;
    const Duration submit = r.submit;
    const bool within_request = r.requested_time > Duration::zero() && r.run <= r.requested_time;
    const auto time = [&](int field, Duration& t, double factor, bool keep_above_zero) {
      t = scaled_time(place_, field, t, factor, options_.exact, keep_above_zero);
    };
    if (changes_times() || options_.sizes) r.wait = kUnknownTime;
    time(2, r.submit, arrivals_, false), time(18, r.think_time, arrivals_, false);
    if (entry.traits.eligible) time(18, *entry.traits.eligible, arrivals_, false);
    time(4, r.run, runtimes_, true), time(9, r.requested_time, runtimes_, true), scale_cpu_time(r.average_cpu);
    if (submit >= last_submit_) r.submit = std::max(r.submit, last_scaled_submit_);
    last_submit_ = submit, last_scaled_submit_ = r.submit;
    if (within_request) r.requested_time = std::max(r.requested_time, r.run);
    if (!options_.sizes) return false;
    r.allocated = size(r.allocated), r.requested = size(r.requested);
    // The others in proportion, whatever becomes of powers of two: sizes have to ascend.
    scale_sizes(entry.traits, allocated,
                {.factor = static_cast<double>(*options_.sizes) / from_,
                 .own = [this](ProcessCount old) { return size(old); },
                 .others = [this](ProcessCount old) { return scaled_size(old, from_, *options_.sizes, false); }});
    return r.allocated != allocated || r.requested != requested;
  }

 private:
  [[nodiscard]] std::int32_t size(std::int32_t old) const {
    return scaled_size(old, from_, *options_.sizes, options_.powers_of_two);
  }

  // A decimal in many logs, and a ratio to the run time, so never rounded to seconds.
  void scale_cpu_time(Duration& cpu) const { cpu = scaled_time(place_, 6, cpu, runtimes_, true, true); }

  const ScaleOptions& options_;
  CoreCount from_;
  Place place_;
  double arrivals_ = options_.arrivals;
  double runtimes_ = options_.runtimes;
  Duration last_submit_ = Duration::max(), last_scaled_submit_{};
};

// ---- the load, judged by the cleaning rules as `replay trace info` does ----

class OfferedLoad {
 public:
  void add(const TracedJob& job) {
    const Duration submit = job.job.submitted.time_since_epoch();
    first_ = jobs_ == 0 ? submit : std::min(first_, submit);
    last_ = jobs_ == 0 ? submit : std::max(last_, submit);
    work_s_ += seconds(job.truth.runtime) * cores_needed(job.job);
    ++jobs_;
  }
  [[nodiscard]] std::optional<double> over(CoreCount machine) const {
    const double span = seconds(last_ - first_);
    if (span <= 0 || work_s_ <= 0) return std::nullopt;
    return work_s_ / (span * machine);
  }

 private:
  Duration first_{}, last_{};
  double work_s_ = 0;
  std::uint64_t jobs_ = 0;
};

CleaningRules rules_for(CoreCount machine, const ScaleOptions& options) {
  CleaningRules rules;
  rules.machine_size = machine;
  rules.oversize = options.oversize;
  return rules;
}

double load_of(const RereadableTrace& trace, Scale scale, const CleaningRules& rules) {
  WorkloadReader reader(trace.open(), rules);
  OfferedLoad load;
  for (TraceEntry entry; reader.next_entry(entry);) {
    scale.apply(entry, reader.swf().line());
    if (const auto job = reader.job_of(entry)) load.add(*job);
  }
  if (const auto found = load.over(reader.machine_size())) return *found;
  throw InputError(fmt::format("{}: has no load to change: expected jobs with work that are submitted over some time",
                               reader.swf().name()));
}

// ---- the header ----

void scale_count(SwfHeader& header, std::string_view label, double factor) {
  if (const auto value = header.number(label); value && *value > 0)
    header.set(label, fmt::format("{}", std::max<std::int64_t>(1, std::llround(static_cast<double>(*value) * factor))));
}

SwfHeader scaled_header(SwfHeader header, const Scale& scale, const ScaleOptions& options, CoreCount from,
                        std::string_view command) {
  const CoreCount machine = options.sizes.value_or(from);
  if (scale.changes_times()) header.remove("EndTime");
  if (scale.runtimes() != 1) scale_count(header, "MaxRuntime", scale.runtimes());
  if (options.sizes) scale_count(header, "MaxNodes", static_cast<double>(machine) / from);
  if (options.sizes || header.machine_size() != machine) header.set("MaxProcs", fmt::format("{}", machine));
  note_history(header, command);
  return header;
}

void check(const ScaleOptions& options) {
  const auto positive = [](std::string_view option, double value) {
    constexpr double kMost = 1e6;
    if (!(value > 0) || value > kMost)
      throw UsageError(fmt::format("{}: expected a number above 0, at most {}, found '{}'", option, kMost, value));
  };
  positive("--arrivals", options.arrivals);
  positive("--runtimes", options.runtimes);
  if (options.load) expect_offered_load(*options.load);
}

// What the log shows if nothing says it: by its waits, which the scaled trace does not have.
CoreCount machine_of(const RereadableTrace& trace, const SwfHeader& header, const ScaleOptions& options) {
  if (options.machine_size) return *options.machine_size;
  if (const auto size = header.machine_size()) return *size;
  if (options.sizes)
    throw InputError(
        fmt::format("{}: no MaxProcs and no MaxNodes in the header: --machine-size says how large the machine was",
                    header.source()));
  WorkloadReader reader(trace.open(), {});
  for (TracedJob job; reader.next(job);) continue;
  return reader.machine_size();
}

}  // namespace

std::int32_t scaled_size(std::int32_t size, CoreCount from, CoreCount to, bool powers_of_two) {
  if (size <= 0) return size;
  const bool is_power = std::has_single_bit(static_cast<std::uint32_t>(size));
  // In whole numbers where they suffice: 2 n to / (2 from), rounded half up.
  const std::int64_t product = std::int64_t{size} * to;
  std::int64_t scaled = (2 * product + from) / (2 * std::int64_t{from});
  std::int64_t most = to;
  if (powers_of_two && is_power) {
    scaled = nearest_power_of_two(static_cast<double>(product) / from);
    most = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint32_t>(to)));
  }
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(scaled, 1, most));
}

ScaleResult scale_trace(const RereadableTrace& trace, TraceWriter& writer, const ScaleOptions& options,
                        std::string_view command) {
  check(options);
  ScaleResult result;
  TraceReader opened = trace.open();
  result.machine_before = machine_of(trace, opened.header(), options);
  result.machine_after = options.sizes.value_or(result.machine_before);
  Scale scale(options, result.machine_before, opened.swf().name());
  if (options.load) {
    result.load_before = load_of(trace, scale, rules_for(result.machine_after, options));
    if (options.by == LoadBy::kArrivals)
      scale.multiply_arrivals(*result.load_before / *options.load);
    else
      scale.multiply_runtimes(*options.load / *result.load_before);
  }
  result.arrivals = scale.arrivals();
  result.runtimes = scale.runtimes();

  WorkloadReader reader(std::move(opened), rules_for(result.machine_after, options));
  writer.write(scaled_header(reader.header(), scale, options, result.machine_before, command));
  OfferedLoad load;
  for (TraceEntry entry; reader.next_entry(entry);) {
    if (scale.apply(entry, reader.swf().line())) ++result.sizes_changed;
    writer.write_comments(reader.swf().comments());
    writer.write(entry);
    ++result.records;
    if (const auto job = options.load ? reader.job_of(entry) : std::nullopt) load.add(*job);
  }
  writer.write_comments(reader.swf().comments());
  if (options.load) result.load_after = load.over(reader.machine_size());
  result.odd_lines = odd_line_report(reader.trace());
  return result;
}

}  // namespace replay
