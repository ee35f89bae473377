// The figure `gantt`: cores over time, the lowest core at the bottom; nodes as bands of two shades. A job is a rectangle with its
// number where there is room, hatched where it is shrunk, barred above where it shares nodes in a group, beside its neighbour where two
// share cores, and hatched in grey where it is suspended and holds no core. A node that is not up is a hatched grey band. Of very many rectangles a picture in cells of less than a millimetre is drawn.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/report/draw/hatch.hpp"
#include "scheduler/report/page/levels.hpp"
#include "scheduler/report/plot/figures.hpp"
#include "scheduler/report/plot/shared_cores.hpp"

namespace replay::report {
namespace {

constexpr double kGanttPanel = 118, kManyGanttPanel = 92;
constexpr int kGanttTimeParts = 7, kCoreParts = 8;
constexpr std::size_t kMostBoxes = 4000;  // more are drawn as a picture
constexpr double kCellsPerPoint = 1.5;
constexpr CoreCount kFewCores = 16;                      // each has its number at the axis
constexpr double kLeastText = 4.5, kMostText = 7;        // sizes of job numbers
constexpr double kLeastWidth = 1.5, kLeastHeight = 1.2;  // of a box with an outline

constexpr double kBar = 1.5;  // height of the bar of a job in a group

constexpr Colour kBand = Colour::of(0xefefef), kGroupBar = Colour::of(0x333333);
// Of cells with several jobs, by the quarters of them that are used.
constexpr std::array<Colour, 4> kSeveralJobs{Colour::of(0xe2e2e2), Colour::of(0xc6c6c6), Colour::of(0xa4a4a4),
                                             Colour::of(0x7c7c7c)};
// Light tints for neighbours in the order of submission; each differs in lightness from the next.
constexpr std::array<Colour, 6> kTints{Colour::of(0x9ecae1), Colour::of(0xfee0b6), Colour::of(0xa6dba0),
                                       Colour::of(0xe7d4e8), Colour::of(0xd9b36c), Colour::of(0xd1e5f0)};
constexpr Stroke kOutline{.colour = Colour::of(0x444444), .width = 0.25};
const Hatch kShrunkHatch{.stroke = {.colour = Colour::of(0x555555), .width = 0.35}, .spacing = 3};
const Hatch kSuspendedHatch{.stroke = {.colour = Colour::of(0x8a8a8a), .width = 0.35}, .spacing = 2.5, .is_down = true};
constexpr Colour kClosed = Colour::of(0xd4d4d4);
const Hatch kClosedHatch{.stroke = {.colour = Colour::of(0x9a9a9a), .width = 0.35}, .spacing = 5};

// What a panel draws.
struct GanttPicture {
  std::vector<StretchRow> closed;  // nodes
  std::vector<StretchRow> suspended;
  std::vector<GanttBox> running;
  std::vector<StretchRow> several_jobs{};  // of a coarse picture
  bool is_coarse = false;

  [[nodiscard]] bool is_empty() const { return suspended.empty() && running.empty() && several_jobs.empty(); }
};

std::vector<StretchRow> rows_within(const PlotRun& run, const Window& window, bool suspended) {
  std::vector<StretchRow> rows;
  for (StretchRow row : run.records->stretches()) {
    if (((row.flags & kSuspended) != 0) != suspended || row.to <= window.from || row.from >= window.to) continue;
    row.from = std::max(row.from, window.from);
    row.to = std::min(row.to, window.to);
    if (row.from < row.to) rows.push_back(row);
  }
  return rows;
}

std::vector<StretchRow> closed_within(const PlotRun& run, const Window& window) {
  std::vector<StretchRow> rows;
  for (const ClosedSpan& span : run.records->closed()) {
    const CoreRange cores = run.machine.cores_of(span.change.node);
    const StretchRow row{.from = std::max(seconds(span.from), window.from),
                         .to = std::min(seconds(std::min(span.to, run.records->last())), window.to),
                         .first = number(cores.first),
                         .last = number(cores.last)};
    if (row.from < row.to) rows.push_back(row);
  }
  return rows;
}

GanttPicture picture_for(const PlotRun& run, const Window& window, double width) {
  GanttPicture picture{
      .closed = closed_within(run, window), .suspended = rows_within(run, window, true), .running = {}};
  std::vector<StretchRow> running = rows_within(run, window, false);
  picture.is_coarse = running.size() + picture.suspended.size() > kMostBoxes;
  if (!picture.is_coarse) {
    picture.running = shared_cores(running);
    return picture;
  }
  const Frame frame{.begin = window.from,
                    .end = window.to,
                    .cores = run.machine.size(),
                    .columns = static_cast<std::size_t>(std::max(1.0, std::floor(width * kCellsPerPoint))),
                    .names_merged = false};
  for (const StretchRow& row : picture_of(running, frame)) {
    if ((row.flags & kMerged) != 0)
      picture.several_jobs.push_back(row);
    else
      picture.running.push_back({.row = row});
  }
  picture.suspended = picture_of(picture.suspended, frame);
  return picture;
}

// Hosts that have names stand in the middle of their cores.
Axis core_axis(const Machine& machine, const log::NodeNames& names) {
  const CoreCount cores = machine.size();
  Axis axis{.low = 0, .high = static_cast<double>(cores), .name = names.hosts().empty() ? "core" : "host"};
  if (!names.hosts().empty()) {
    for (int node = 0; node < machine.nodes(); ++node) {
      const CoreRange of = machine.cores_of(NodeId{node});
      axis.ticks.push_back({(number(of.first) + number(of.last) + 1) / 2.0, names.of(NodeId{node})});
    }
    return axis;
  }
  if (cores <= kFewCores) {
    for (CoreCount core = 0; core < cores; ++core) axis.ticks.push_back({core + 0.5, fmt::format("{}", core)});
    return axis;
  }
  // Halves, quarters and eighths, which are whole nodes as a rule.
  CoreCount step = 1;
  while (cores % (2 * step) == 0 && cores / step > kCoreParts) step *= 2;
  if (cores / step > kCoreParts) step = static_cast<CoreCount>(std::max(1.0, nice_step(cores, kCoreParts)));
  for (CoreCount core = 0; core <= cores; core += step)
    axis.ticks.push_back({static_cast<double>(core), fmt::format("{}", core)});
  return axis;
}

void draw_bands(Canvas& canvas, const Plot& plot, const Machine& machine) {
  if (machine.nodes() < 2) return;
  std::vector<Box> bands;
  for (int node = 1; node < machine.nodes(); node += 2) {
    const CoreRange cores = machine.cores_of(NodeId{node});
    const double top = plot.at_y(number(cores.last) + 1);
    bands.push_back({plot.area.x, top, plot.area.width, plot.at_y(number(cores.first)) - top});
  }
  canvas.fill(bands, kBand);
}

Box box_of(const Plot& plot, const GanttBox& of) {
  const double left = plot.at_x(of.row.from), bottom = plot.at_y(of.row.first), top = plot.at_y(of.row.last + 1);
  const double lane = (bottom - top) / of.lanes;
  return {left, bottom - lane * (of.lane + 1), plot.at_x(of.row.to) - left, lane};
}

// The sign of a job in a group: the upper edge of its box.
Box bar_of(const Box& box) { return {box.x, box.y, box.width, std::min(kBar, box.height / 3)}; }

Colour shade_of(const StretchRow& merged) {
  return kSeveralJobs.at(static_cast<std::size_t>(used_quarters_of(merged.flags) - 1));
}

// The size in which the text fits; 0: it does not.
double text_size_in(const Canvas& canvas, const Box& box, const std::string& text) {
  const double size = std::min({kMostText, box.height * 0.85, (box.width - 1) / canvas.width_of(text, 1)});
  return size < kLeastText ? 0 : size;
}

// In the largest of the boxes that a job has from one instant on, so that its ranges of cores are not all numbered.
void draw_numbers(Canvas& canvas, const Plot& plot, const PlotRun& run, std::span<const GanttBox> boxes) {
  std::map<std::pair<std::int32_t, double>, Box> largest;
  for (const GanttBox& of : boxes) {
    const Box box = box_of(plot, of);
    Box& known = largest[{of.row.job, of.row.from}];
    if (box.width * box.height > known.width * known.height) known = box;
  }
  for (const auto& [key, box] : largest) {
    const metrics::JobRow& row = run.records->table().rows()[static_cast<std::size_t>(key.first)];
    const std::string text = fmt::format("{}", number(row.job));
    const double size = text_size_in(canvas, box, text);
    if (size > 0)
      canvas.text({box.x + box.width / 2, box.y + box.height / 2 + size * 0.36}, text,
                  {.size = size, .anchor = Anchor::kMiddle});
  }
}

void draw_picture(Canvas& canvas, const Plot& plot, const PlotRun& run, const GanttPicture& picture) {
  draw_bands(canvas, plot, run.machine);
  std::vector<Box> closed, suspended, shrunk, bars;
  for (const StretchRow& row : picture.closed) closed.push_back(box_of(plot, {.row = row}));
  canvas.fill(closed, kClosed);
  hatch(canvas, closed, kClosedHatch);
  for (const StretchRow& row : picture.suspended) suspended.push_back(box_of(plot, {.row = row}));
  hatch(canvas, suspended, kSuspendedHatch);
  std::map<Colour, std::vector<Box>> fills;
  std::vector<Polyline> outlines;
  for (const GanttBox& of : picture.running) {
    const Box box = box_of(plot, of);
    fills[kTints[static_cast<std::size_t>(of.row.job) % kTints.size()]].push_back(box);
    const bool is_large = box.width >= kLeastWidth && box.height >= kLeastHeight;
    if (is_large && (of.row.flags & kShrunk) != 0) shrunk.push_back(box);
    if (is_large && (of.row.flags & kInGroup) != 0) bars.push_back(bar_of(box));
    if (is_large && !picture.is_coarse)
      outlines.push_back(
          {{box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()}, {box.x, box.bottom()}, {box.x, box.y}});
  }
  for (const StretchRow& row : picture.several_jobs) fills[shade_of(row)].push_back(box_of(plot, {.row = row}));
  for (const auto& [colour, boxes] : fills) canvas.fill(boxes, colour);
  hatch(canvas, shrunk, kShrunkHatch);
  canvas.fill(bars, kGroupBar);
  canvas.stroke(outlines, kOutline);
  if (!picture.is_coarse) draw_numbers(canvas, plot, run, picture.running);
}

LegendEntry hatch_entry(std::string name, std::optional<Colour> fill, const Hatch& with) {
  return {std::move(name), [fill, with](Canvas& canvas, const Box& box) {
            if (fill) canvas.fill(box, *fill);
            hatch(canvas, std::span(&box, 1), with);
            canvas.frame(box, kOutline);
          }};
}

LegendEntry shared_entry() {
  return {"shared cores", [](Canvas& canvas, const Box& box) {
            const Box upper{box.x, box.y, box.width, box.height / 2};
            const Box lower{box.x, box.y + box.height / 2, box.width, box.height / 2};
            canvas.fill(upper, kTints[0]);
            canvas.fill(lower, kTints[1]);
            canvas.frame(upper, kOutline);
            canvas.frame(lower, kOutline);
          }};
}

LegendEntry group_entry() {
  return {"in a group", [](Canvas& canvas, const Box& box) {
            canvas.fill(box, kTints[0]);
            canvas.fill(bar_of(box), kGroupBar);
            canvas.frame(box, kOutline);
          }};
}

// What the pictures have.
void add_gantt_legend(Layout& layout, std::span<const GanttPicture> pictures) {
  const auto has = [&pictures](const auto& condition) {
    return std::ranges::any_of(
        pictures, [&condition](const GanttPicture& of) { return std::ranges::any_of(of.running, condition); });
  };
  if (has([](const GanttBox& of) { return (of.row.flags & kShrunk) != 0; }))
    layout.legend.push_back(hatch_entry("shrunk", kTints[0], kShrunkHatch));
  if (has([](const GanttBox& of) { return of.lanes > 1; })) layout.legend.push_back(shared_entry());
  if (has([](const GanttBox& of) { return (of.row.flags & kInGroup) != 0; })) layout.legend.push_back(group_entry());
  if (std::ranges::any_of(pictures, [](const GanttPicture& of) { return !of.suspended.empty(); }))
    layout.legend.push_back(hatch_entry("suspended", std::nullopt, kSuspendedHatch));
  if (std::ranges::any_of(pictures, [](const GanttPicture& of) { return !of.closed.empty(); }))
    layout.legend.push_back(hatch_entry("node closed", kClosed, kClosedHatch));
  if (std::ranges::any_of(pictures, [](const GanttPicture& of) { return !of.several_jobs.empty(); }))
    layout.legend.push_back({"several jobs, by use", [](Canvas& canvas, const Box& box) {
                               const double width = box.width / static_cast<double>(kSeveralJobs.size());
                               double x = box.x;
                               for (const Colour shade : kSeveralJobs) {
                                 canvas.fill({x, box.y, width, box.height}, shade);
                                 x += width;
                               }
                             }});
}

}  // namespace

Layout gantt_layout(std::span<const PlotRun> runs, const Window& window, double width) {
  Layout layout{.x = time_axis("time", window.from, window.to, kGanttTimeParts),
                .panels = {},
                .panel_height = runs.size() == 1 ? kGanttPanel : kManyGanttPanel};
  for (const PlotRun& run : runs)
    layout.panels.push_back(
        {.y = core_axis(run.machine, run.names), .name = runs.size() > 1 ? run.label : "", .draw = {}});
  const double plot = plot_width(Font{}, layout, width);
  auto pictures = std::make_shared<std::vector<GanttPicture>>();
  for (const PlotRun& run : runs) pictures->push_back(picture_for(run, window, plot));
  if (std::ranges::all_of(*pictures, &GanttPicture::is_empty))
    throw InputError(fmt::format("{}: expected a job on cores between {:.6g} s and {:.6g} s, found none",
                                 runs.front().log.string(), window.from, window.to));
  add_gantt_legend(layout, *pictures);
  for (std::size_t i = 0; i < runs.size(); ++i)
    layout.panels[i].draw = [pictures, i, &run = runs[i]](Canvas& canvas, const Plot& at) {
      draw_picture(canvas, at, run, (*pictures)[i]);
    };
  return layout;
}

}  // namespace replay::report
