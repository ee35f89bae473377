#include "scheduler/report/trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/model/units.hpp"

namespace replay::report {
namespace {

std::string time_text(double s) { return length_text(from_seconds(s)); }

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
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
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
  void table(const std::vector<std::vector<std::string>>& rows) { text_ += '\n' + aligned(rows); }
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
  std::string machine = fmt::format("{} ({})", counted(info.machine_size, "processor"), info.machine_source);
  if (info.nodes && *info.nodes != info.machine_size) machine += ", " + counted(*info.nodes, "node");
  if (!where.empty()) page.fact("computer", where);
  page.fact("machine", machine);
  if (!info.acknowledge.empty()) page.fact("thanks to", one_line(info.acknowledge));
  if (!info.start_time.empty())
    page.fact("log", info.end_time.empty() ? "from " + info.start_time
                                           : fmt::format("{} to {}", info.start_time, info.end_time));
  page.fact("jobs", fmt::format("{} of {}", info.jobs, counted(info.report.read, "record")));
  page.fact("submitted", fmt::format("over {}, from {} s to {} s", length_text(info.last_submit - info.first_submit),
                                     to_text(info.first_submit), to_text(info.last_submit)));
  const bool in_hours = info.work_s >= 10 * kHour;
  if (info.offered_load)
    page.fact("offered load",
              fmt::format("{:.3f} (work {} processor-{})", *info.offered_load,
                          std::llround(in_hours ? info.work_s / kHour : info.work_s), in_hours ? "hours" : "seconds"));
  page.fact("sizes", fmt::format("{} serial, {} parallel powers of two", percent(info.serial_share),
                                 percent(info.power_of_two_share)));
  if (info.request_s.count > 0)
    page.fact("overestimation", fmt::format("{:.3f} = mean request / mean run time; {} of the jobs have a request",
                                            info.mean_overestimation,
                                            percent(static_cast<double>(info.request_s.count) /
                                                    static_cast<double>(std::max<std::uint64_t>(info.jobs, 1)))));
  if (info.logged_peak) page.fact("logged peak", fmt::format("{} processors in use", *info.logged_peak));
  if (info.programs > 0) page.fact("programs", fmt::format("{} in the header's table", info.programs));
}

void write_declared(Page& page, const DeclaredSizes& declared) {
  const auto jobs = static_cast<double>(declared.rigid + declared.moldable + declared.malleable);
  if (jobs == 0) return;
  const auto share = [jobs](std::uint64_t count) { return percent(static_cast<double>(count) / jobs); };
  page.fact("flexibility", fmt::format("{} moldable, {} malleable, {} rigid", share(declared.moldable),
                                       share(declared.malleable), share(declared.rigid)));
  if (declared.curves() == 0) {
    page.fact("speedup",
              "no job declares a curve, and none stands in: policies that choose sizes start every job with its "
              "submitted one, as a rigid job; what a malleable job takes on other numbers of cores is the runtime "
              "model's to say, under `speedup` a linear speedup; `replay trace declare --speedup three-point` adds "
              "curves");
    return;
  }
  std::string laws;
  if (declared.three_point_n.jobs > 0)
    add_item(laws, "; ", "{} three-point, mean n {}", share(declared.three_point_n.jobs),
             number_text(declared.three_point_n.mean()));
  if (declared.downey_a.jobs > 0)
    add_item(laws, "; ", "{} downey, mean A {}, sigma {}", share(declared.downey_a.jobs),
             number_text(declared.downey_a.mean()), number_text(declared.downey_sigma.mean()));
  if (declared.linear > 0) add_item(laws, "; ", "{} linear", share(declared.linear));
  page.fact("speedup", laws);
  if (declared.least.jobs > 0)
    page.fact("sizes offered", fmt::format("{} to {} processes on average", number_text(declared.least.mean()),
                                           number_text(declared.most.mean())));
  static constexpr std::string_view kClasses[] = {"short", "medium", "long"};
  std::string optima;
  for (std::size_t i = 0; i < declared.optimum.size(); ++i)
    if (const MeanOfJobs& of = declared.optimum[i]; of.jobs > 0)
      add_item(optima, ", ", "{} {} ({} of jobs)", kClasses[i], number_text(of.mean()), share(of.jobs));
  page.fact("optimum size", optima);
}

void write_distributions(Page& page, const TraceInfo& info) {
  std::vector<std::vector<std::string>> rows{{""},       {"  mean"}, {"  min"},  {"  25 %"}, {"  50 %"},
                                             {"  75 %"}, {"  90 %"}, {"  99 %"}, {"  max"}};
  const auto add = [&rows](const char* name, const Distribution& d, std::string (*text)(double)) {
    if (d.count == 0) return;  // an empty trace has none of them
    const double values[] = {d.mean, d.least, d.p25, d.p50, d.p75, d.p90, d.p99, d.most};
    rows[0].emplace_back(name);
    for (std::size_t i = 0; i < std::size(values); ++i) rows[i + 1].push_back(text(values[i]));
  };
  add("processors", info.processors, number_text);
  add("run time", info.runtime_s, time_text);
  add("requested time", info.request_s, time_text);
  add("request / run", info.request_per_runtime, number_text);
  add("between submits", info.interarrival_s, time_text);
  add("logged wait", info.wait_s, time_text);
  page.table(rows);
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
    page.fact("users", fmt::format("{} in {} groups; {} executables, {} queues", info.users, info.groups,
                                   info.executables, info.queues));
    page.fact("busiest", joined(info.busiest_users, "; ", [](const UserShare& user) {
                return fmt::format("user {}: {} of the work, {} of the jobs", user.user, percent(user.work_share),
                                   percent(user.job_share));
              }));
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

nlohmann::json json_of(const DeclaredSizes& declared) {
  const auto mean = [](const MeanOfJobs& of) {
    return of.jobs == 0 ? nlohmann::json(nullptr) : nlohmann::json(of.mean());
  };
  const auto optimum = [&](std::size_t i) {
    return nlohmann::json{{"jobs", declared.optimum.at(i).jobs}, {"mean", mean(declared.optimum.at(i))}};
  };
  return {{"rigid", declared.rigid},
          {"moldable", declared.moldable},
          {"malleable", declared.malleable},
          {"linear", declared.linear},
          {"three_point", declared.three_point_n.jobs},
          {"three_point_mean_n", mean(declared.three_point_n)},
          {"downey", declared.downey_a.jobs},
          {"downey_mean_a", mean(declared.downey_a)},
          {"downey_mean_sigma", mean(declared.downey_sigma)},
          {"mean_least", mean(declared.least)},
          {"mean_most", mean(declared.most)},
          {"optimum", {{"short", optimum(0)}, {"medium", optimum(1)}, {"long", optimum(2)}}}};
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

std::string to_text(const TraceInfo& info) {
  Page page;
  page.line("{}", info.report.file);
  write_facts(page, info);
  write_declared(page, info.declared);
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
          {"declared", json_of(info.declared)},
          {"cleaning", json_of(info.report)},
          {"quirks", info.quirks}};
}

}  // namespace replay::report
