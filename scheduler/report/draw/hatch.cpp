#include "scheduler/report/draw/hatch.hpp"

#include <algorithm>
#include <cmath>

namespace replay::report {
namespace {

// The lines x + s * y = n * spacing inside of the box, where s is -1 for lines that go down and 1 for those that go up.
void add_hatch_lines(std::vector<Polyline>& lines, const Box& box, const Hatch& hatch) {
  const double s = hatch.is_down ? -1 : 1;
  const double least = box.x + std::min(s * box.y, s * box.bottom());
  const double most = box.right() + std::max(s * box.y, s * box.bottom());
  for (double n = std::ceil(least / hatch.spacing); n * hatch.spacing <= most; ++n) {
    const double sum = n * hatch.spacing;
    const double at_top = sum - s * box.y, at_bottom = sum - s * box.bottom();
    const double from = std::max(box.x, std::min(at_top, at_bottom));
    const double to = std::min(box.right(), std::max(at_top, at_bottom));
    if (to - from < 0.1) continue;
    lines.push_back({{from, s * (sum - from)}, {to, s * (sum - to)}});
  }
}

}  // namespace

void hatch(Canvas& canvas, std::span<const Box> boxes, const Hatch& hatch) {
  std::vector<Polyline> lines;
  for (const Box& box : boxes) add_hatch_lines(lines, box, hatch);
  canvas.stroke(lines, hatch.stroke);
}

}  // namespace replay::report
