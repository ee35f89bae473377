#include "scheduler/report/trace_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/report/chart.hpp"
#include "scheduler/report/draw/canvas_file.hpp"
#include "scheduler/report/draw/markup.hpp"

namespace replay::report {
namespace {

constexpr double kWidth = 1180, kMargin = 24, kGap = 36;
constexpr double kHalf = (kWidth - 2 * kMargin - kGap) / 2;
constexpr double kTop = 92, kRow = 330;

std::string cut_to(std::string text, std::size_t most) {
  std::ranges::replace(text, '\n', ' ');
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // does not split a character
  return text.substr(0, end) + "...";
}

bool is_page_name(std::string_view name) { return name.ends_with(".html"); }

std::string title_of(const TraceInfo& info) {
  const std::string file = info.report.file == "standard input"
                               ? info.report.file
                               : std::filesystem::path(info.report.file).filename().string();
  return fmt::format("{}: {} on {}", file, counted(info.jobs, "job"), counted(info.machine_size, "processor"));
}

void draw_title(Canvas& canvas, const TraceInfo& info) {
  canvas.text({kMargin, 34}, cut_to(title_of(info), 100), {.size = 22});
  std::string where = info.computer;
  if (!info.installation.empty()) add_item(where, ", ", "{}", info.installation);
  if (where.empty()) where = "the header does not name the machine";
  canvas.text({kMargin, 56}, cut_to(where, 150), {.size = 13});
  std::string facts = fmt::format("machine size from {}", info.machine_source);
  if (info.offered_load) facts += fmt::format("; offered load {:.3f}", *info.offered_load);
  if (!info.start_time.empty()) facts += fmt::format("; from {}", info.start_time);
  if (!info.end_time.empty()) facts += fmt::format(" to {}", info.end_time);
  canvas.text({kMargin, 74}, cut_to(facts, 150), {.size = 13});
}

BarChart distribution_chart(std::string title, std::string x_name, const std::vector<HistogramBin>& bins) {
  BarChart chart{.title = std::move(title),
                 .x_name = std::move(x_name),
                 .y_name = "share, %",
                 .labels = {},
                 .series = {{"jobs", {}}, {"work (processors x run time)", {}}}};
  for (const HistogramBin& bin : bins) {
    chart.labels.push_back(bin.label);
    chart.series[0].values.push_back(bin.job_share * 100);
    chart.series[1].values.push_back(bin.work_share * 100);
  }
  return chart;
}

BarChart arrival_chart(std::string title, std::string x_name, std::vector<std::string> labels,
                       std::span<const double> shares) {
  BarChart chart{.title = std::move(title),
                 .x_name = std::move(x_name),
                 .y_name = "share of jobs, %",
                 .labels = std::move(labels),
                 .series = {{"jobs", {}}}};
  for (const double share : shares) chart.series[0].values.push_back(share * 100);
  return chart;
}

void draw_arrivals(Canvas& canvas, const TraceInfo& info, double y) {
  if (!info.hour_shares || !info.day_shares) {
    canvas.text({kMargin, y + 16}, "Arrivals by hour and weekday", {.size = 15});
    canvas.text({kMargin, y + 40}, "The header has no StartTime, so the local hours of this trace are not known.",
                {.size = 13});
    return;
  }
  std::vector<std::string> hours;
  hours.reserve(24);
  for (int hour = 0; hour < 24; ++hour) hours.push_back(fmt::format("{}", hour));
  draw(canvas, {.x = kMargin, .y = y, .width = kHalf, .height = kRow - 30},
       arrival_chart("Arrivals by hour", "local hour of the day", hours, *info.hour_shares));
  draw(canvas, {.x = kMargin + kHalf + kGap, .y = y, .width = kHalf, .height = kRow - 30},
       arrival_chart("Arrivals by weekday", "local day of the week", {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"},
                     *info.day_shares));
}

std::string period_text(Duration period) {
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(period).count();
  constexpr std::int64_t kHoursADay = 24;
  constexpr std::int64_t kWeek = 7 * kHoursADay;
  if (hours < kHoursADay) return "hour";
  if (hours < kWeek) return "day";
  return hours == kWeek ? "week" : fmt::format("{} weeks", hours / kWeek);
}

std::string period_begins(Duration length, const std::string& period) {
  if (length < std::chrono::days{1}) return "start of the hour";
  return length < std::chrono::days{2} ? std::string{"day"} : fmt::format("first day of the {}", period);
}

TimeChart load_chart(const TraceInfo& info) {
  const std::string period = period_text(info.load.period);
  TimeChart chart{.title = fmt::format("Load over time, by the {}", period),
                  .x_name = period_begins(info.load.period, period),
                  .y_name = "share of the machine, %",
                  .labels = info.load.labels,
                  .bars = {},
                  .bars_name = fmt::format("offered: work of the jobs submitted in that {}", period),
                  .line = {},
                  .line_name = "in use, by the log's waits",
                  .mark = 100.0,
                  .mark_name = fmt::format("the machine, {} processors", info.machine_size)};
  // Where the header has no date the labels are numbers of hours, days or weeks.
  if (!info.load.labels.empty() &&
      !(info.load.labels.front().front() >= '0' && info.load.labels.front().front() <= '9'))
    chart.x_name = "time since the start of the trace";
  for (const double share : info.load.offered) chart.bars.push_back(share * 100);
  for (const double share : info.load.used) chart.line.push_back(share * 100);
  return chart;
}

}  // namespace

std::string draw_trace(const TraceInfo& info, const std::string& name) {
  const double arrivals = info.hour_shares ? kRow : 70;
  const double load_at = kTop + kRow + 20 + arrivals;
  const std::unique_ptr<Canvas> drawing =
      canvas_for(is_page_name(name) ? "page.svg" : name, kWidth, load_at + kRow + 30, "");
  Canvas& canvas = *drawing;
  draw_title(canvas, info);
  if (info.jobs == 0) {
    canvas.text({kMargin, kTop + 30}, "No jobs.", {.size = 15});
  } else {
    draw(canvas, {.x = kMargin, .y = kTop, .width = kHalf, .height = kRow},
         distribution_chart("Sizes", "processors of a job", info.processor_bins));
    draw(canvas, {.x = kMargin + kHalf + kGap, .y = kTop, .width = kHalf, .height = kRow},
         distribution_chart("Run times", "run time of a job", info.runtime_bins));
    draw_arrivals(canvas, info, kTop + kRow + 20);
    draw(canvas, {.x = kMargin, .y = load_at, .width = kWidth - 2 * kMargin, .height = kRow}, load_chart(info));
    if (!info.acknowledge.empty())
      canvas.text({kMargin, load_at + kRow + 20}, cut_to(fmt::format("Thanks to {}", info.acknowledge), 170),
                  {.size = 11, .colour = Colour::of(0x555555)});
  }
  const std::string file = canvas.finish(title_of(info));
  return is_page_name(name) ? as_html(file, title_of(info)) : file;
}

void write_plot(const TraceInfo& info, const std::string& path, bool force) {
  if (!is_page_name(path)) expect_drawing_name("--plot", path, ".html");
  std::error_code ignored;
  if (!force && std::filesystem::exists(path, ignored))
    throw InputError(fmt::format("{}: exists already: --force replaces it", path));
  write_whole_file(path, draw_trace(info, path));
}

}  // namespace replay::report
