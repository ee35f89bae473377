// The rectangles of a Gantt chart as columns: a job on adjacent cores from one change to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace replay::report {

/// Bits of StretchRows::flags.
inline constexpr std::uint8_t kSuspended = 1, kShareable = 2, kShrunk = 4, kInGroup = 8, kMerged = 16;

/// Of a merged cell, in the flags: how many quarters of it are used. 1 to 4, rounded up.
inline constexpr std::uint8_t kUsedBits = 96;
[[nodiscard]] constexpr std::uint8_t used_quarters(int quarters) {
  return static_cast<std::uint8_t>((quarters - 1) << 5);
}
[[nodiscard]] constexpr int used_quarters_of(std::uint8_t flags) { return ((flags & kUsedBits) >> 5) + 1; }

/// One rectangle.
struct StretchRow {
  double from = 0, to = 0;           ///< seconds
  std::int32_t job = -1;             ///< row of the job; -1: several jobs
  std::int32_t first = 0, last = 0;  ///< cores, both included
  std::int32_t processes = 0;        ///< of the job; 0: several jobs
  std::uint8_t flags = 0;
  std::uint8_t mpl = 1;  ///< most processes of the job on one core; 255: so many or more
};

/// The same, column by column; rows are sorted by `from`, then as they were added.
struct StretchColumns {
  std::vector<std::int32_t> job, first, last, processes;
  std::vector<double> from, to;
  std::vector<std::uint8_t> flags, mpl;

  [[nodiscard]] std::size_t size() const { return job.size(); }
};

/// Sorts `rows`. O(n log n).
[[nodiscard]] StretchColumns columns_of(std::vector<StretchRow>& rows);

}  // namespace replay::report
