#include "scheduler/report/page/levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace replay::report {
namespace {

constexpr std::size_t kFewRows = 20'000;  // drawn as they are
constexpr std::size_t kMostLevelRows = 250'000;
constexpr std::size_t kFiner = 4;  // columns of a level over those of the next coarser one
constexpr double kLeastUsed = 0.05, kHalf = 0.5;
constexpr double kRounding = 1e-4;  // of sums of floats

struct Cell {
  float used = 0;  // core-seconds
  float most = 0;  // of one stretch
  std::uint32_t stretch = 0;
};

class Grid {
 public:
  /// Of those that are suspended, or of the others.
  Grid(std::span<const StretchRow> rows, const Frame& frame, bool suspended)
      : rows_(rows),
        frame_(frame),
        width_(cell_seconds(frame)),
        height_(cell_cores(frame.cores)),
        bands_(static_cast<std::size_t>((frame.cores + height_ - 1) / height_)),
        cells_(frame.columns * bands_) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (((rows[i].flags & kSuspended) != 0) == suspended) add(i);
  }

  [[nodiscard]] std::vector<StretchRow> rectangles() const {
    std::vector<StretchRow> done, open, next;
    for (std::size_t column = 0; column < frame_.columns; ++column) {
      next = runs_of(column);
      // Both are in the order of their cores.
      auto before = open.begin();
      for (StretchRow& run : next) {
        while (before != open.end() && before->first < run.first) done.push_back(*before++);
        if (before == open.end() || before->first != run.first) continue;
        if (is_same(*before, run))
          run.from = before->from;
        else
          done.push_back(*before);
        ++before;
      }
      done.insert(done.end(), before, open.end());
      open.swap(next);
    }
    done.insert(done.end(), open.begin(), open.end());
    return done;
  }

 private:
  void add(std::size_t place) {
    const StretchRow& row = rows_[place];
    const std::size_t last_column = frame_.columns - 1;
    const double share = (row.flags & kMerged) != 0 ? used_quarters_of(row.flags) / 4.0 : 1;
    const std::size_t from = column_of(row.from), to = std::min(column_of(row.to), last_column);
    const auto low = static_cast<std::size_t>(row.first / height_), high = static_cast<std::size_t>(row.last / height_);
    for (std::size_t column = std::min(from, last_column); column <= to; ++column) {
      const double lasting = std::min(row.to, begin_of(column + 1)) - std::max(row.from, begin_of(column));
      if (lasting <= 0) continue;
      for (std::size_t band = low; band <= std::min(high, bands_ - 1); ++band) {
        const CoreCount first = static_cast<CoreCount>(band) * height_;
        const CoreCount cores =
            std::min<CoreCount>(row.last, first + height_ - 1) - std::max<CoreCount>(row.first, first) + 1;
        Cell& cell = cells_[column * bands_ + band];
        const auto area = static_cast<float>(lasting * cores * share);
        cell.used += area;
        if (area <= cell.most) continue;
        cell.most = area;
        cell.stretch = static_cast<std::uint32_t>(place);
      }
    }
  }

  // The used cells of a column, equal neighbours as one.
  [[nodiscard]] std::vector<StretchRow> runs_of(std::size_t column) const {
    std::vector<StretchRow> runs;
    for (std::size_t band = 0; band < bands_; ++band) {
      const std::optional<StretchRow> cell = rectangle(column, band);
      if (!cell) continue;
      if (!runs.empty() && runs.back().last + 1 == cell->first && has_same_look(runs.back(), *cell))
        runs.back().last = cell->last;
      else
        runs.push_back(*cell);
    }
    return runs;
  }
  [[nodiscard]] std::optional<StretchRow> rectangle(std::size_t column, std::size_t band) const {
    const Cell& cell = cells_[column * bands_ + band];
    const CoreCount first = static_cast<CoreCount>(band) * height_;
    const CoreCount last = std::min(first + height_, frame_.cores) - 1;
    const double whole = width_ * (last - first + 1);
    if (cell.used < kLeastUsed * whole) return std::nullopt;
    const bool is_merged = (rows_[cell.stretch].flags & kMerged) != 0 || cell.most < kHalf * whole;
    StretchRow drawn = rows_[cell.stretch];
    if (is_merged && !frame_.names_merged) drawn = {.flags = static_cast<std::uint8_t>(drawn.flags & kSuspended)};
    drawn.from = begin_of(column);
    drawn.to = begin_of(column + 1);
    drawn.first = first;
    drawn.last = last;
    if (!is_merged) return drawn;
    const int quarters = std::clamp(static_cast<int>(std::ceil(4 * cell.used / whole - kRounding)), 1, 4);
    drawn.flags = static_cast<std::uint8_t>((drawn.flags & ~kUsedBits) | kMerged | used_quarters(quarters));
    return drawn;
  }

  static bool has_same_look(const StretchRow& a, const StretchRow& b) {
    return a.job == b.job && a.flags == b.flags && a.mpl == b.mpl && a.processes == b.processes;
  }
  static bool is_same(const StretchRow& a, const StretchRow& b) { return a.last == b.last && has_same_look(a, b); }

  [[nodiscard]] double begin_of(std::size_t column) const {
    return column == frame_.columns ? frame_.end : frame_.begin + width_ * static_cast<double>(column);
  }
  [[nodiscard]] std::size_t column_of(double time) const {
    return static_cast<std::size_t>(std::max(0.0, std::floor((time - frame_.begin) / width_)));
  }

  std::span<const StretchRow> rows_;
  Frame frame_;
  double width_;
  CoreCount height_;
  std::size_t bands_;
  std::vector<Cell> cells_;
};

}  // namespace

std::vector<StretchRow> picture_of(std::span<const StretchRow> rows, const Frame& frame) {
  std::vector<StretchRow> drawn = Grid(rows, frame, false).rectangles();
  const auto is_suspended = [](const StretchRow& row) { return (row.flags & kSuspended) != 0; };
  if (std::ranges::none_of(rows, is_suspended)) return drawn;
  const std::vector<StretchRow> suspended = Grid(rows, frame, true).rectangles();
  drawn.insert(drawn.end(), suspended.begin(), suspended.end());
  return drawn;
}

std::vector<Level> levels_of(std::span<const StretchRow> rows, Frame frame) {
  std::vector<Level> levels;
  // In a window that a picture is too coarse for, there are about as many rows as its columns are a share of the run's.
  for (std::size_t in_window = rows.size(); in_window > kFewRows; in_window /= kFiner, frame.columns *= kFiner) {
    std::vector<StretchRow> drawn = picture_of(rows, frame);
    if (drawn.size() > kMostLevelRows || drawn.size() > rows.size() * 3 / 4) break;
    levels.insert(levels.begin(), Level{cell_seconds(frame), cell_cores(frame.cores), columns_of(drawn)});
  }
  return levels;
}

}  // namespace replay::report
