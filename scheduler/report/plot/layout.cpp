#include "scheduler/report/plot/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scheduler/base/error.hpp"
#include "scheduler/report/draw/canvas_file.hpp"

namespace replay::report {
namespace {

constexpr double kMargin = 1.5, kBetweenPanels = 5, kAboveLegend = 3, kBelowTitle = 4;
constexpr double kLeastPanel = 20;

double left_of(const Font& font, const Layout& layout) {
  double left = 0;
  for (const Panel& panel : layout.panels) left = std::max(left, room_left(font, panel.y, kFigureStyle));
  return left;
}

// Half of the last tick's label stands right of the plot.
double right_margin(const Font& font, const Layout& layout) {
  double half = 0;
  if (!layout.x.ticks.empty() && layout.x.share(layout.x.ticks.back().value) > 0.97)
    half = font.width(layout.x.ticks.back().label, kFigureStyle.small) / 2;
  return std::max(kMargin, half);
}

double name_height(const Panel& panel) { return panel.name.empty() ? 0 : kFigureStyle.text * 1.2; }

}  // namespace

double plot_width(const Font& font, const Layout& layout, double width) {
  return width - left_of(font, layout) - right_margin(font, layout);
}

std::string draw_layout(const Layout& layout, const PageSize& size, const std::string& title,
                        const std::string& description, const std::string& out) {
  const Font font;
  const double left = left_of(font, layout), width = plot_width(font, layout, size.width);
  const double legend = legend_height(font, layout.legend, width, kFigureStyle.small);
  const double top = kMargin + (title.empty() ? kFigureStyle.small * 0.4 : kFigureStyle.text + kBelowTitle);
  double rest = top + room_below(kFigureStyle) + (legend > 0 ? legend + kAboveLegend : 0) + kMargin;
  const auto panels = static_cast<double>(layout.panels.size());
  AxisStyle inner = kFigureStyle;
  inner.has_x_labels = false;
  rest += (panels - 1) * (kBetweenPanels + room_below(inner));
  for (const Panel& panel : layout.panels) rest += name_height(panel);
  const double panel_height = size.height ? (*size.height - rest) / panels : layout.panel_height;
  if (panel_height < kLeastPanel)
    throw UsageError(fmt::format("--height: expected at least {:.0f} mm for this figure, found {:.0f}",
                                 std::ceil((rest + panels * kLeastPanel) / kPointsPerMm),
                                 size.height.value_or(0) / kPointsPerMm));
  const double height = rest + panels * panel_height;
  const std::unique_ptr<Canvas> canvas = canvas_for(out, size.width, height);
  if (!title.empty())
    canvas->text({left + width / 2, kMargin + kFigureStyle.text * 0.8}, font.cut(title, kFigureStyle.text, width),
                 {.size = kFigureStyle.text, .anchor = Anchor::kMiddle});
  double y = top;
  for (std::size_t i = 0; i < layout.panels.size(); ++i) {
    const Panel& panel = layout.panels[i];
    y += name_height(panel);
    if (!panel.name.empty())
      canvas->text({left, y - 2.5}, font.cut(panel.name, kFigureStyle.text, width), {.size = kFigureStyle.text});
    const Plot plot{.area = {left, y, width, panel_height}, .x = layout.x, .y = panel.y};
    panel.draw(*canvas, plot);
    const AxisStyle& style = i + 1 == layout.panels.size() ? kFigureStyle : inner;
    draw_axes(*canvas, plot, style);
    y += panel_height + room_below(style) + kBetweenPanels;
  }
  draw_legend(*canvas, {left, y - kBetweenPanels + kAboveLegend}, layout.legend, width, kFigureStyle.small);
  return canvas->finish(title.empty() ? description : title);
}

}  // namespace replay::report
