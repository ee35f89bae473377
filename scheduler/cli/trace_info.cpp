#include "scheduler/cli/trace_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "traces/workload_reader.hpp"

namespace replay {
namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

// ---- numbers ----

Distribution distribution_of(std::vector<double> values) {
  Distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  std::ranges::sort(values);
  const auto percentile = [&values](double percent) {
    const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  d.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  d.least = values.front();
  d.p25 = percentile(25), d.p50 = percentile(50), d.p75 = percentile(75);
  d.p90 = percentile(90), d.p95 = percentile(95), d.p99 = percentile(99);
  d.most = values.back();
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

// ---- the log's local time ----

constexpr std::string_view kDays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

// Seconds from Monday 00:00 to the log's zero in local time, from "StartTime: Mon Sep 23 14:00:31 CEST 1996". That
// label is dependable where TimeZone is not. Nothing if it is missing or written otherwise.
std::optional<std::int64_t> second_of_week(std::string_view start_time) {
  const auto day = std::ranges::find(kDays, start_time.substr(0, 3));
  const std::size_t colon = start_time.find(':');
  if (day == std::end(kDays) || colon == std::string_view::npos || colon < 2 || start_time.size() < colon + 6)
    return std::nullopt;
  int parts[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    std::string_view digits = start_time.substr(colon - 2 + 3 * i, 2);
    if (digits.front() == ' ') digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parts[i]);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  }
  return (day - std::begin(kDays)) * kDay + parts[0] * kHour + parts[1] * kMinute + parts[2];
}

// ---- gathering ----

class Gatherer {
 public:
  explicit Gatherer(const TraceInfoOptions& options)
      : reader_(options.file, options.rules, {.strict = options.strict}), has_own_size_(options.rules.machine_size) {
    week_offset_ = second_of_week(reader_.header().find("StartTime").value_or(""));
  }

  TraceInfo gather() {
    for (SwfRecord record; reader_.next_record(record);)
      if (const auto job = reader_.job_of(record)) add(*job, record);
    return finish();
  }

 private:
  struct ByUser {
    double jobs = 0, work = 0;
  };
  struct Change {
    Duration at;
    std::int32_t processors;  // released ones first at one instant
    auto operator<=>(const Change&) const = default;
  };

  void add(const TracedJob& traced, const SwfRecord& record) {
    const double run = seconds(traced.truth.runtime);
    const double request = seconds(traced.job.estimate);
    const double work = run * traced.job.processes;
    processors_.push_back(traced.job.processes);
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
  }

  void add_logged(const SwfRecord& record) {
    waits_.push_back(seconds(record.wait));
    const Duration start = record.submit + record.wait;
    if (record.run == Duration::zero() || record.allocated <= 0) return;
    changes_.push_back({start, record.allocated});
    changes_.push_back({start + record.run, -record.allocated});
  }

  TraceInfo finish() {
    set_header_facts();
    set_sizes_and_times();
    set_arrivals();
    set_users();
    set_peak();
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
    info_.machine_source = has_own_size_        ? "--machine-size"
                           : header.max_procs() ? "MaxProcs"
                           : header.max_nodes() ? "MaxNodes"
                                                : "the widest job";
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
    if (week_offset_) set_week();
  }

  void set_week() {
    info_.hour_shares.emplace();
    info_.day_shares.emplace();
    const double share = 1 / static_cast<double>(submits_.size());
    for (const Duration submit : submits_) {
      const std::int64_t second = *week_offset_ + submit.count() / 1'000'000;
      (*info_.hour_shares)[static_cast<std::size_t>(second % kDay / kHour)] += share;
      (*info_.day_shares)[static_cast<std::size_t>(second / kDay % 7)] += share;
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
    if (changes_.empty()) return;
    std::ranges::sort(changes_);
    std::int64_t used = 0, peak = 0;
    for (const Change& change : changes_) peak = std::max(peak, used += change.processors);
    info_.logged_peak = static_cast<CoreCount>(std::min<std::int64_t>(peak, INT32_MAX));
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
  bool has_own_size_;
  std::optional<std::int64_t> week_offset_;
  std::vector<double> processors_, runtimes_, requests_, ratios_, waits_;
  double requested_run_s_ = 0;  // run times of the jobs that have a request
  std::vector<Duration> submits_;
  std::vector<Change> changes_;
  std::map<std::int32_t, ByUser> users_;
  std::set<std::int32_t> groups_, queues_, executables_;
  TraceInfo info_;
};

// ---- text ----

std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string time_text(double s) {
  if (s == 0) return "0 s";
  if (s < 100) return s == std::floor(s) ? fmt::format("{:.0f} s", s) : fmt::format("{:.1f} s", s);
  if (s < 2 * kHour) return fmt::format("{:.1f} min", s / 60);
  if (s < 2 * kDay) return fmt::format("{:.1f} h", s / kHour);
  return fmt::format("{:.1f} d", s / kDay);
}

std::string number_text(double x) {
  if (x == std::floor(x) && x < 1e9) return fmt::format("{:.0f}", x);
  return x < 100 ? fmt::format("{:.2f}", x) : x < 1e6 ? fmt::format("{:.0f}", x) : fmt::format("{:.1e}", x);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// A bar of `width` columns for 1.0, in eighths of a column.
std::string bar(double share, int width) {
  static constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  const int used = eighths / 8 + (eighths % 8 != 0 ? 1 : 0);
  return text.append(static_cast<std::size_t>(width - used), ' ');
}

template <std::size_t N>
std::string columns(const std::array<double, N>& shares, int width) {
  static constexpr std::string_view kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = std::max(std::ranges::max(shares), 1e-9);
  std::string text;
  for (const double share : shares)
    for (int i = 0; i < width; ++i) text += kHeights[static_cast<int>(std::lround(share / most * 7))];
  return text;
}

class Page {
 public:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    while (text_.ends_with(' ')) text_.pop_back();
    text_ += '\n';
  }
  void fact(std::string_view name, const std::string& value) { wrapped(fmt::format("  {:<16}", name), value); }
  void wrapped(std::string first, std::string_view value) {
    constexpr std::size_t kColumns = 100;
    const std::string indent(first.size(), ' ');
    while (first.size() + value.size() > kColumns) {
      std::size_t cut = value.rfind(' ', kColumns - first.size());
      if (cut == std::string_view::npos || cut == 0) cut = std::min(value.find(' '), value.size());
      line("{}{}", first, value.substr(0, cut));
      value.remove_prefix(std::min(cut + 1, value.size()));
      first = indent;
    }
    if (!value.empty()) line("{}{}", first, value);
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string joined(const std::string& a, const std::string& b) {
  return one_line(a.empty() || b.empty() ? a + b : a + ", " + b);
}

void write_facts(Page& page, const TraceInfo& info) {
  const std::string where = joined(info.computer, info.installation);
  std::string machine =
      fmt::format("{} processors ({})", grouped(static_cast<std::uint64_t>(info.machine_size)), info.machine_source);
  if (info.nodes && *info.nodes != info.machine_size)
    machine += fmt::format(", {} nodes", grouped(static_cast<std::uint64_t>(*info.nodes)));
  if (!where.empty()) page.fact("computer", where);
  page.fact("machine", machine);
  if (!info.acknowledge.empty()) page.fact("thanks to", one_line(info.acknowledge));
  if (!info.start_time.empty()) page.fact("log", fmt::format("{} to {}", info.start_time, info.end_time));
  page.fact("jobs", fmt::format("{} of {} records", grouped(info.jobs), grouped(info.report.read)));
  const double span = seconds(info.last_submit - info.first_submit);
  page.fact("submitted", fmt::format("over {}, from {} s to {} s", time_text(span), to_text(info.first_submit),
                                     to_text(info.last_submit)));
  if (info.offered_load)
    page.fact("offered load", fmt::format("{:.3f} (work {} processor-hours)", *info.offered_load,
                                          grouped(static_cast<std::uint64_t>(info.work_s / kHour))));
  page.fact("sizes", fmt::format("{} serial, {} parallel powers of two", percent(info.serial_share),
                                 percent(info.power_of_two_share)));
  if (info.request_s.count > 0)
    page.fact("overestimation", fmt::format("{:.3f} = mean request / mean run time; {} of the jobs have a request",
                                            info.mean_overestimation,
                                            percent(static_cast<double>(info.request_s.count) /
                                                    static_cast<double>(std::max<std::uint64_t>(info.jobs, 1)))));
  if (info.logged_peak)
    page.fact("logged peak",
              fmt::format("{} processors in use", grouped(static_cast<std::uint64_t>(*info.logged_peak))));
  if (info.programs > 0) page.fact("programs", fmt::format("{} in the header's table", info.programs));
}

void write_distributions(Page& page, const TraceInfo& info) {
  struct Row {
    std::string_view name;
    const Distribution& values;
    std::string (*text)(double);
  };
  const Row rows[] = {
      {"processors", info.processors, number_text},        {"run time", info.runtime_s, time_text},
      {"requested time", info.request_s, time_text},       {"request / run", info.request_per_runtime, number_text},
      {"between submits", info.interarrival_s, time_text}, {"logged wait", info.wait_s, time_text}};
  page.line("");
  page.line("  {:<16}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "mean", "min", "25 %", "50 %", "75 %",
            "90 %", "99 %", "max");
  for (const auto& [name, d, text] : rows)
    if (d.count > 0)
      page.line("  {:<16}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}", name, text(d.mean), text(d.least),
                text(d.p25), text(d.p50), text(d.p75), text(d.p90), text(d.p99), text(d.most));
}

void write_histogram(Page& page, std::string_view name, const std::vector<HistogramBin>& bins) {
  constexpr int kWidth = 28;
  double most = 1e-9;
  for (const HistogramBin& bin : bins) most = std::max({most, bin.job_share, bin.work_share});
  page.line("");
  page.line("  {:<13}  {:<{}} {:>7}   {:<{}} {:>7}", name, "jobs", kWidth, "", "work", kWidth, "");
  for (const HistogramBin& bin : bins)
    if (bin.job_share > 0)
      page.line("  {:>13}  {} {:>7}   {} {:>7}", bin.label, bar(bin.job_share / most, kWidth), percent(bin.job_share),
                bar(bin.work_share / most, kWidth), percent(bin.work_share));
}

void write_people(Page& page, const TraceInfo& info) {
  page.line("");
  if (info.users > 0) {
    page.fact("users", fmt::format("{} in {} groups; {} executables, {} queues", grouped(info.users), info.groups,
                                   grouped(info.executables), info.queues));
    std::string list;
    for (const UserShare& user : info.busiest_users)
      list += fmt::format("{}user {}: {} of the work, {} of the jobs", list.empty() ? "" : "; ", user.user,
                          percent(user.work_share), percent(user.job_share));
    page.fact("busiest", list);
  }
  if (!info.hour_shares) return;
  page.line("  {:<16}{}   {}", "submissions", columns(*info.hour_shares, 2), columns(*info.day_shares, 4));
  page.line("  {:<16}{:<12}{:<12}{:<12}{:<12}   Mon Tue Wed Thu Fri Sat Sun", "by local hour", "0 h", "6 h", "12 h",
            "18 h");
}

nlohmann::json json_of(const Distribution& d) {
  if (d.count == 0) return nullptr;
  return {{"count", d.count}, {"mean", d.mean}, {"min", d.least}, {"p25", d.p25}, {"p50", d.p50},
          {"p75", d.p75},     {"p90", d.p90},   {"p95", d.p95},   {"p99", d.p99}, {"max", d.most}};
}

nlohmann::json json_of(const std::vector<HistogramBin>& bins) {
  nlohmann::json list = nlohmann::json::array();
  for (const HistogramBin& bin : bins)
    list.push_back({{"label", bin.label},
                    {"max", std::isfinite(bin.most) ? nlohmann::json(bin.most) : nlohmann::json(nullptr)},
                    {"job_share", bin.job_share},
                    {"work_share", bin.work_share}});
  return list;
}

nlohmann::json json_of(const CleaningReport& report) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& f : report.findings)
    findings.push_back(
        {{"rule", f.rule}, {"action", f.action}, {"count", f.count}, {"text", f.text}, {"lines", f.lines}});
  return {{"read", report.read},     {"kept", report.kept},  {"skipped", report.skipped},
          {"broken", report.broken}, {"findings", findings}, {"broken_messages", report.broken_messages}};
}

template <class Value>
nlohmann::json json_of(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

TraceInfo analyse_trace(const TraceInfoOptions& options) { return Gatherer(options).gather(); }

std::string to_text(const TraceInfo& info) {
  Page page;
  page.line("{}", info.report.file);
  write_facts(page, info);
  write_distributions(page, info);
  write_histogram(page, "processors", info.processor_bins);
  write_histogram(page, "run time", info.runtime_bins);
  write_people(page, info);
  if (!info.quirks.empty()) page.line("\n  quirks");
  for (const std::string& quirk : info.quirks) page.wrapped("  - ", quirk);
  return std::move(page).text();
}

nlohmann::json to_json(const TraceInfo& info) {
  nlohmann::json users = nlohmann::json::array();
  for (const UserShare& user : info.busiest_users)
    users.push_back({{"user", user.user}, {"job_share", user.job_share}, {"work_share", user.work_share}});
  return {{"file", info.report.file},
          {"computer", info.computer},
          {"installation", info.installation},
          {"acknowledge", info.acknowledge},
          {"machine_processors", info.machine_size},
          {"machine_source", info.machine_source},
          {"nodes", json_of(info.nodes)},
          {"jobs", info.jobs},
          {"first_submit_s", seconds(info.first_submit)},
          {"last_submit_s", seconds(info.last_submit)},
          {"work_processor_s", info.work_s},
          {"offered_load", json_of(info.offered_load)},
          {"processors", json_of(info.processors)},
          {"runtime_s", json_of(info.runtime_s)},
          {"request_s", json_of(info.request_s)},
          {"request_per_runtime", json_of(info.request_per_runtime)},
          {"interarrival_s", json_of(info.interarrival_s)},
          {"logged_wait_s", json_of(info.wait_s)},
          {"mean_overestimation", info.mean_overestimation},
          {"serial_share", info.serial_share},
          {"power_of_two_share", info.power_of_two_share},
          {"processor_histogram", json_of(info.processor_bins)},
          {"runtime_histogram", json_of(info.runtime_bins)},
          {"users", info.users},
          {"groups", info.groups},
          {"executables", info.executables},
          {"queues", info.queues},
          {"programs", info.programs},
          {"busiest_users", users},
          {"hour_shares", json_of(info.hour_shares)},
          {"day_shares", json_of(info.day_shares)},
          {"logged_peak_processors", json_of(info.logged_peak)},
          {"cleaning", json_of(info.report)},
          {"quirks", info.quirks}};
}

void print_text(const TraceInfo& info, std::FILE* out) { fmt::print(out, "{}", to_text(info)); }

int run_trace_info(const TraceInfoOptions& options) {
  const TraceInfo info = analyse_trace(options);
  if (options.json)
    fmt::print("{}\n", to_json(info).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    print_text(info, stdout);
  return 0;
}

}  // namespace replay
