// A run as a gnuplot script and its two tables: NAME.gp draws cores over time and below it queue and busy cores, from
// NAME_gantt.dat (a rectangle a line) and NAME_load.dat (a state a line).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/metrics/stretches.hpp"
#include "scheduler/results/export/point_stream.hpp"
#include "scheduler/results/export/text_block.hpp"
#include "scheduler/results/export/writers.hpp"

namespace replay::results {
namespace {

constexpr std::size_t kManyRectangles = 20'000;  // more of them are drawn as pixels, not as SVG

// In single quotes, in which gnuplot knows no escape but the doubled quote.
std::string gnuplot_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : clean_line(text)) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted += '\'';
}

class GnuplotTables final : private metrics::StretchReader, private PointReader {
 public:
  GnuplotTables(ByteSink& gantt, ByteSink& load) : gantt_(gantt), load_(load) {
    gantt_.put("# x_mid_s y_mid half_width_s half_height job state(0 runs, 1 shrunk, 2 suspended) mpl\n");
    load_.put("# time_s queued_jobs waiting_processors running_jobs suspended_jobs busy_cores processes\n");
  }
  [[nodiscard]] history::Follower& follower() { return follower_; }
  void finish(Instant last) {
    last_ = last;
    points_.finish();
    stretches_.open(last, *this);
    if (rectangles_ == 0) gantt_.put("0 0 0 0 0 0 1\n");  // gnuplot stops at an empty table
    if (!first_) load_.put("0 0 0 0 0 0 0\n");
    gantt_.flush();
    load_.flush();
  }

  [[nodiscard]] const history::Follower& run() const { return follower_; }
  [[nodiscard]] std::size_t rectangles() const { return rectangles_; }
  [[nodiscard]] Instant first() const { return first_.value_or(Instant{}); }
  [[nodiscard]] Instant last() const { return last_; }

 private:
  void stretch(const metrics::Stretch& stretch) override {
    if (stretch.from >= stretch.to) return;
    const bool is_suspended = stretch.kind == metrics::Stretch::Kind::kSuspended;
    const int state = is_suspended ? 2 : stretch.is_shrunk() ? 1 : 0;
    const double half = seconds(stretch.to - stretch.from) / 2;
    for (const CoreRange& range : stretch.cores) {
      ++rectangles_;
      gantt_.print("{} {} {} {} {} {} {}\n", seconds(stretch.from) + half,
                   number(range.first) + static_cast<double>(range.size()) / 2, half,
                   static_cast<double>(range.size()) / 2, number(stretch.job), state, stretch.mpl);
    }
  }
  void point(const metrics::Point& point) override {
    if (!first_) first_ = point.at;
    load_.print("{} {} {} {} {} {} {}\n", to_text(point.at), point.queued, point.waiting_processors, point.running,
                point.suspended, point.busy_cores, point.processes);
  }

  TextBlock gantt_, load_;
  PointStream points_{*this};
  metrics::Stretches stretches_{*this};
  history::Follower follower_{{&points_, &stretches_}};
  std::size_t rectangles_ = 0;
  std::optional<Instant> first_;
  Instant last_{};
};

void write_script(ByteSink& sink, const ExportFiles& files, const GnuplotTables& tables) {
  const auto name_of = [](const std::string& file) { return std::filesystem::path(file).filename().string(); };
  const std::string script = name_of(files[0]);
  const std::string stem = script.substr(0, script.rfind(".gp"));
  const bool is_large = tables.rectangles() > kManyRectangles;
  const Instant end = std::max(tables.last(), tables.first() + from_seconds(1e-6));
  TextBlock text(sink);
  text.print("# Draws {0} as {1}: gnuplot {2}, in this folder. Made by replay.\n",
             clean_line(tables.run().of_run().value("trace")), clean_line(stem + (is_large ? ".png" : ".svg")),
             clean_line(script));
  text.print("set terminal {}\nset output {}\n", is_large ? "pngcairo size 1600,1000" : "svg size 1000,640 dynamic",
             gnuplot_text(stem + (is_large ? ".png" : ".svg")));
  text.print("gantt = {}\nload = {}\ncores = {}\n", gnuplot_text(name_of(files[1])), gnuplot_text(name_of(files[2])),
             tables.run().machine().size());
  text.print("set multiplot layout 2,1 title {} noenhanced\n",
             gnuplot_text(fmt::format("{}, {} on {}",
                                      std::filesystem::path(tables.run().of_run().value("trace")).filename().string(),
                                      tables.run().of_run().value("policy"), tables.run().of_run().value("machine"))));
  text.print(
      "set xrange [{}:{}]\nset lmargin 9\nset rmargin 9\nset key outside top right horizontal\nset style fill solid "
      "0.9 noborder\n",
      to_text(tables.first()), to_text(end));
  text.put(R"(set palette model HSV functions gray,0.55,0.85
unset colorbox
hue(job) = (job * 0.61803398875) - floor(job * 0.61803398875)

set ylabel 'core'
)");
  text.print(
      "set yrange [0:cores]\nplot gantt using 1:2:3:4:($6 == 2 ? NaN : hue($5)) with boxxyerror palette notitle{}\n\n",
      is_large ? ""  // a hatching of lines closer than pixels would hide the colours
               : ", \\\n     gantt using 1:2:3:($6 == 1 ? $4 : NaN) with boxxyerror lc rgb '#303030' "
                 "fill transparent pattern 4 noborder title 'shrunk'");
  text.put(R"(set xlabel 'time (s)'
set ylabel 'jobs'
set y2label 'cores'
set y2tics
set ytics nomirror
set yrange [0:*]
set y2range [0:cores * 1.05]
plot load using 1:6 with steps axes x1y2 lc rgb '#0072b2' title 'busy cores', \
     load using 1:2 with steps lc rgb '#d55e00' title 'queued jobs', \
     load using 1:5 with steps lc rgb '#777777' title 'suspended jobs'
unset multiplot
)");
  text.flush();
}

}  // namespace

Remarks export_gnuplot(const RunLog& run, const ExportFiles& files) {
  std::vector<std::unique_ptr<ByteSink>> sinks;
  for (const std::string& file : files) sinks.push_back(open_sink(file));
  GnuplotTables tables{*sinks[1], *sinks[2]};
  tables.finish(run.read(tables.follower()).last);
  write_script(*sinks[0], files, tables);
  for (const auto& sink : sinks) sink->finish();
  for (const auto& sink : sinks) sink->close();
  return {};
}

}  // namespace replay::results
