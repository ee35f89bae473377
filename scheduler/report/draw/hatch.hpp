// Diagonal lines over boxes, to tell areas apart without colour. The lines of all boxes lie on one grid, so that neighbours with the
// same hatch look like one area.
#pragma once

#include <span>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

struct Hatch {
  Stroke stroke;
  double spacing = 3;    ///< across the page, from line to line; > 0
  bool is_down = false;  ///< from the upper left to the lower right; else from the lower left to the upper right
};

void hatch(Canvas& canvas, std::span<const Box> boxes, const Hatch& hatch);

}  // namespace replay::report
