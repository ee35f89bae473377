#include "scheduler/report/plot/cell_use.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace replay::report {
namespace {

// Core-seconds in use, by cell.
class UseGrid {
 public:
  UseGrid(std::span<const StretchRow> rows, const Frame& frame)
      : frame_(frame), bands_(static_cast<std::size_t>((frame.cores - 1) / cell_cores(frame.cores) + 1)) {
    used_.resize(frame.columns * bands_);
    for (const StretchRow& row : rows) add(row);
  }

  [[nodiscard]] std::size_t bands() const { return bands_; }
  [[nodiscard]] double begin_of(std::size_t column) const {
    return frame_.begin + cell_seconds(frame_) * static_cast<double>(column);
  }
  [[nodiscard]] std::size_t column_at(double time) const {
    const double column = std::floor((time - frame_.begin) / cell_seconds(frame_));
    return std::min(static_cast<std::size_t>(std::max(0.0, column)), frame_.columns - 1);
  }
  [[nodiscard]] std::size_t band_of(CoreCount core) const {
    return static_cast<std::size_t>(core / cell_cores(frame_.cores));
  }
  [[nodiscard]] CoreCount first_of(std::size_t band) const {
    return static_cast<CoreCount>(band) * cell_cores(frame_.cores);
  }
  [[nodiscard]] CoreCount last_of(std::size_t band) const { return std::min(first_of(band + 1), frame_.cores) - 1; }
  [[nodiscard]] std::size_t shade(std::size_t column, std::size_t band) const {
    const double whole = cell_seconds(frame_) * (last_of(band) - first_of(band) + 1);
    const double quarters = std::ceil(used_[column * bands_ + band] / whole * kUseShades - 1e-9);
    return static_cast<std::size_t>(std::clamp(quarters, 1.0, static_cast<double>(kUseShades))) - 1;
  }

 private:
  void add(const StretchRow& row) {
    for (std::size_t column = column_at(row.from); column <= column_at(row.to); ++column) {
      const double lasting = std::min(row.to, begin_of(column + 1)) - std::max(row.from, begin_of(column));
      if (lasting <= 0) continue;
      for (std::size_t band = band_of(row.first); band <= band_of(row.last); ++band)
        used_[column * bands_ + band] +=
            lasting * (std::min(row.last, last_of(band)) - std::max(row.first, first_of(band)) + 1);
    }
  }

  Frame frame_;
  std::size_t bands_;
  std::vector<double> used_;
};

}  // namespace

ShadedRows shaded_by_use(std::span<const StretchRow> merged, std::span<const StretchRow> rows, const Frame& frame) {
  const UseGrid grid(rows, frame);
  const double half = cell_seconds(frame) / 2;  // edges of cells are not exact
  std::vector<std::size_t> shades(frame.columns * grid.bands(), kUseShades);
  for (const StretchRow& of : merged)
    for (std::size_t column = grid.column_at(of.from + half); column <= grid.column_at(of.to - half); ++column)
      for (std::size_t band = grid.band_of(of.first); band <= grid.band_of(of.last); ++band)
        shades[column * grid.bands() + band] = grid.shade(column, band);

  // Equal neighbours in a column are one run; equal runs in neighbouring columns are one row.
  ShadedRows shaded;
  struct Run {
    std::size_t first = 0, last = 0, shade = 0;
    auto operator<=>(const Run&) const = default;
  };
  std::map<Run, std::size_t> open;  // to the column in which they begin
  for (std::size_t column = 0; column <= frame.columns; ++column) {
    std::map<Run, std::size_t> next;
    for (std::size_t band = 0; column < frame.columns && band < grid.bands();) {
      Run run{.first = band, .last = band, .shade = shades[column * grid.bands() + band]};
      while (++band < grid.bands() && shades[column * grid.bands() + band] == run.shade) run.last = band;
      if (run.shade == kUseShades) continue;
      const auto before = open.find(run);
      next.emplace(run, before == open.end() ? column : before->second);
    }
    for (const auto& [run, from] : open)
      if (!next.contains(run))
        shaded.at(run.shade).push_back({.from = grid.begin_of(from),
                                        .to = grid.begin_of(column),
                                        .first = grid.first_of(run.first),
                                        .last = grid.last_of(run.last),
                                        .flags = kMerged});
    open = std::move(next);
  }
  return shaded;
}

}  // namespace replay::report
