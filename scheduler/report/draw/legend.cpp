#include "scheduler/report/draw/legend.hpp"

#include <array>
#include <utility>

namespace replay::report {
namespace {

struct CurveLook {
  std::uint32_t colour;
  Dashes dashes;
};
constexpr std::array<CurveLook, kMostCurves> kLooks{{{0x0072b2, {}},
                                                     {0xd55e00, {4, 2}},
                                                     {0x222222, {1, 2}},
                                                     {0x009e73, {6, 2, 1, 2}},
                                                     {0xb0407f, {8, 3}},
                                                     {0xa67c00, {2, 1}},
                                                     {0x3a8fc7, {5, 1, 1, 1}},
                                                     {0x777777, {3, 3}}}};

constexpr double kSampleWidth = 18, kSampleHeight = 6, kBeforeName = 4, kBetween = 10, kLine = 1.3;
constexpr double kMarker = 1.7;

struct EntryPlace {
  double x = 0, y = 0;
};

struct LegendLayout {
  std::vector<EntryPlace> places;
  double height = 0;
};

LegendLayout legend_layout(const Font& font, std::span<const LegendEntry> entries, double width, double size) {
  LegendLayout layout;
  double x = 0, y = 0;
  for (const LegendEntry& entry : entries) {
    const double own = kSampleWidth + kBeforeName + font.width(entry.name, size);
    if (x > 0 && x + own > width) x = 0, y += size * kLine;
    layout.places.push_back({x, y});
    x += own + kBetween;
  }
  layout.height = entries.empty() ? 0 : y + size * kLine;
  return layout;
}

Polyline around(Point at, std::span<const Point> shape) {
  Polyline points;
  for (const Point& step : shape) points.push_back({at.x + step.x * kMarker, at.y + step.y * kMarker});
  return points;
}

constexpr Point kSquare[] = {{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}};
constexpr Point kTriangle[] = {{0, -1.2}, {1.1, .8}, {-1.1, .8}};
constexpr Point kDiamond[] = {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}};
constexpr Point kDownward[] = {{0, 1.2}, {1.1, -.8}, {-1.1, -.8}};

}  // namespace

Stroke curve_stroke(std::size_t number) {
  const CurveLook& look = kLooks[number % kMostCurves];
  return {.colour = Colour::of(look.colour), .width = 1, .dashes = look.dashes};
}

void draw_marker(Canvas& canvas, Point at, std::size_t number) {
  const Colour colour = Colour::of(kLooks[number % kMostCurves].colour);
  const auto polygon = [&](std::span<const Point> shape) { canvas.fill(around(at, shape), colour); };
  switch (number % kMostCurves) {
    case 0: canvas.fill_circle(at, kMarker, colour); break;
    case 1: polygon(kSquare); break;
    case 2: polygon(kTriangle); break;
    case 3: polygon(kDiamond); break;
    case 4: polygon(kDownward); break;
    default:  // with a white middle
      if (number % 2 == 1) {
        polygon(kSquare);
      } else {
        canvas.fill_circle(at, kMarker, colour);
      }
      canvas.fill_circle(at, kMarker * 0.55, kWhite);
  }
}

LegendEntry marked_curve_entry(std::string name, std::size_t number) {
  return {std::move(name), [number](Canvas& canvas, const Box& box) {
            const double y = box.y + box.height / 2;
            canvas.line({box.x, y}, {box.right(), y}, curve_stroke(number));
            draw_marker(canvas, {box.x + box.width / 2, y}, number);
          }};
}

double legend_height(const Font& font, std::span<const LegendEntry> entries, double width, double size) {
  return legend_layout(font, entries, width, size).height;
}

void draw_legend(Canvas& canvas, Point at, std::span<const LegendEntry> entries, double width, double size) {
  const LegendLayout layout = legend_layout(canvas.font(), entries, width, size);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double x = at.x + layout.places[i].x, y = at.y + layout.places[i].y;
    const double middle = y + size * kLine / 2;
    entries[i].sample(canvas, {x, middle - kSampleHeight / 2, kSampleWidth, kSampleHeight});
    canvas.text({x + kSampleWidth + kBeforeName, middle + size * 0.36},
                canvas.font().cut(entries[i].name, size, width - layout.places[i].x - kSampleWidth - kBeforeName),
                {.size = size});
  }
}

}  // namespace replay::report
