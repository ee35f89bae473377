// `replay plot RUN...`: a figure for a paper, of runs from their event logs, or of a study from its sweep.csv.

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/experiment/logged/logged_runs.hpp"
#include "scheduler/report/page/runs.hpp"
#include "scheduler/report/plot/figure.hpp"
#include "scheduler/sweep/answer/metric_over.hpp"

namespace replay::cli {
namespace {

using report::CurvesBy;
using report::JobMetric;

constexpr Choice<JobMetric> kMetrics[] = {
    {"wait", JobMetric::kWait}, {"response", JobMetric::kResponse}, {"slowdown", JobMetric::kSlowdown}};
constexpr Choice<CurvesBy> kCurves[] = {{"class", CurvesBy::kClass}, {"size", CurvesBy::kSize}};
constexpr DurationRange kBound{.least = Duration{1}, .expected = "a time above 0, such as 10s"};
constexpr DurationRange kSinceZero{.least = Duration::zero(), .expected = "a time since the trace's zero, such as 36h"};

struct PlotGiven {
  std::vector<std::string> runs;
  std::string out;
  report::FigureOptions options;
  std::optional<sweep::MetricOverOptions> metric_over;  // the figure is one of a study
  std::vector<std::string> where;
};

std::vector<std::string_view> figure_names() {
  std::vector<std::string_view> names{report::kFigureNames.begin(), report::kFigureNames.end()};
  names.push_back(sweep::kMetricOver);
  return names;
}

report::FigureKind figure_named(const std::string& name) {
  const auto* const found = std::ranges::find(report::kFigureNames, name);
  if (found == report::kFigureNames.end())
    throw UsageError(fmt::format("--figure: there is no figure '{}'{}", name, suggestion(name, figure_names())));
  return static_cast<report::FigureKind>(found - report::kFigureNames.begin());
}

// Millimetres.
double length_of(const std::string& option, const std::string& text, double least, double most) {
  if (const auto value = parse_number(text, least, most)) return *value;
  throw UsageError(fmt::format("{}: expected {}millimetres from {} to {}, found '{}'", option,
                               option == "--width" ? "single, double or " : "", least, most, text));
}

double width_named(const std::string& text) {
  if (text == "single") return report::kSingleColumn;
  if (text == "double") return report::kDoubleColumn;
  return length_of("--width", text, 40, 1000);
}

void plot_study(const CLI::App& command, const PlotGiven& given) {
  for (const char* const option : {"--metric", "--by", "--bound", "--from", "--to"})
    if (command.count(option) > 0)
      throw UsageError(fmt::format("{}: is for figures of runs, found with {}", option, sweep::kMetricOver));
  if (given.runs.size() != 1)
    throw UsageError(
        fmt::format("--figure {}: expected the folder of one study, found {}", sweep::kMetricOver, given.runs.size()));
  sweep::MetricOverOptions options = *given.metric_over;
  for (const std::string& where : given.where) {
    const std::size_t cut = where.find('=');
    if (cut == std::string::npos || cut == 0)
      throw UsageError(fmt::format("--where: expected AXIS=VALUE, such as malleable=0.5, found '{}'", where));
    options.where.emplace_back(where.substr(0, cut), where.substr(cut + 1));
  }
  options.size.width = given.options.width_mm * report::kPointsPerMm;
  if (given.options.height_mm) options.size.height = *given.options.height_mm * report::kPointsPerMm;
  options.title = given.options.title;
  options.labels = given.options.labels;
  sweep::write_metric_over(given.runs[0], options, given.out);
}

int plot(const CLI::App& command, const PlotGiven& given) {
  experiment::LoggedRuns logged;
  if (given.metric_over)
    plot_study(command, given);
  else if (!given.where.empty())
    throw UsageError(fmt::format("--where: is for the figure {}", sweep::kMetricOver));
  else
    report::write_figure(report::logs_of(logged.runs_of(given.runs)), given.options, given.out);
  fmt::print("{}\n", clean_line(given.out));
  return 0;
}

void add_figure_options(CLI::App& command, report::FigureOptions& options) {
  add_choice(command, "--metric", options.metric, kMetrics,
             "of ecdf and slowdown-by-size: wait, response or slowdown (default: wait, of slowdown-by-size slowdown)",
             Words::kInHelp)
      ->type_name("METRIC");
  add_choice(command, "--by", options.by, kCurves, "ecdf: a curve for each class, or size, of jobs", Words::kInHelp)
      ->type_name("WHAT");
  add_duration(command, "--bound", "", options.bound, kBound, "of the bounded slowdown (default: 10s)");
  const auto add_time = [&command](const std::string& name, std::optional<Instant>& time, const char* help) {
    const auto read = [name, &time](const std::string& text) {
      time = Instant{} + duration_of(name, text, kSinceZero);
    };
    add_read(command, name, "TIME", read, help);
  };
  add_time("--from", options.from, "what is drawn begins there, such as 36h since the trace's zero");
  add_time("--to", options.to, "and ends there; of jobs those count that were submitted between");
  add_read(
      command, "--width", "MM", [&options](const std::string& text) { options.width_mm = width_named(text); },
      "single (84 mm, the default), double (174 mm), or millimetres");
  const auto read_height = [&options](const std::string& text) {
    options.height_mm = length_of("--height", text, 20, 1000);
  };
  add_read(command, "--height", "MM", read_height, "of the figure, in millimetres (default: by the figure)");
  add_text(command, "--title", options.title, "TEXT", "above the figure (default: none)");
  add_texts(command, "--label", options.labels, "NAME",
            "name of a run, or of a policy of a study, once for each (default: its policy, or its folder)");
}

}  // namespace

Command add_plot(CLI::App& app) {
  CLI::App& command = add_command(
      app, "plot", "a figure of runs or of a study for a paper: SVG, PDF or TikZ",
      "RUN is a run's folder (or the folder of several policies' runs, of seeds, or of `replay validate`), an "
      "events.log, or a log in SWF\nwith waits (.gz too); of metric-over it is the folder of a study (`replay "
      "sweep`).\n"
      "The same runs and options give the same bytes. Its figures are described in docs/plot.md.\n"
      "Examples: replay plot runs/20261121-040000-easy --figure gantt --to 12h -o gantt.pdf\n"
      "          replay plot runs/compare --figure ecdf --metric slowdown -o slowdown.tikz\n"
      "          replay plot malleability --figure metric-over:load:mean_wait --where malleable=0.5 -o wait.pdf");
  auto given = std::make_shared<PlotGiven>();
  command.add_option("RUN", given->runs, "the runs, in the order of their curves; or the folder of a study")
      ->required();
  const auto read_figure = [given](const std::string& name) {
    given->metric_over = sweep::metric_over_named(name);
    if (!given->metric_over) given->options.kind = figure_named(name);
  };
  add_read(
      command, "--figure", "FIGURE", read_figure,
      fmt::format("one of {}; of a study {}:AXIS[:METRIC]", fmt::join(report::kFigureNames, ", "), sweep::kMetricOver))
      ->required();
  add_text(command, "-o,--out", given->out, "FILE", "the file, written whole: .svg, .pdf, or for \\input .tikz or .tex")
      ->required();
  add_texts(command, "--where", given->where, "AXIS=VALUE",
            "of metric-over: only cells with this value, such as malleable=0.5; may be repeated");
  add_figure_options(command, given->options);
  return [given, &command] { return plot(command, *given); };
}

}  // namespace replay::cli
