// The layout of a figure: panels above each other over one x axis, a legend below, and a title only if there is one. Sizes are in
// points; the text has the size of a caption.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/report/draw/axis.hpp"
#include "scheduler/report/draw/canvas.hpp"
#include "scheduler/report/draw/legend.hpp"

namespace replay::report {

inline constexpr double kPointsPerMm = 72 / 25.4;
/// Sizes of the text: names, and labels of ticks.
inline constexpr AxisStyle kFigureStyle{.text = 8, .small = 7};

struct Panel {
  Axis y{};
  std::string name{};  ///< above the panel; empty: none
  std::function<void(Canvas& canvas, const Plot& plot)> draw{};
};

struct Layout {
  Axis x{};
  std::vector<Panel> panels{};
  std::vector<LegendEntry> legend{};
  double panel_height = 100;
};

struct PageSize {
  double width = 240;              ///< of the figure
  std::optional<double> height{};  ///< nothing: as the panels need
};

/// The plot is that many points wide in a figure of this width.
[[nodiscard]] double plot_width(const Font& font, const Layout& layout, double width);

/// The file. Throws UsageError if the figure does not fit into the height.
[[nodiscard]] std::string draw_layout(const Layout& layout, const PageSize& size, const std::string& title,
                                      const std::string& description, const std::string& out);

}  // namespace replay::report
