// The ten of each kind are kept in order by insertion; nearly every number is rejected at once.
#include "benchmarks/mpi/mg/mg_problem.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "benchmarks/mpi/common/nas_random.hpp"

namespace replay::bench {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr int kGatheredEdge = 8;

/// Puts `point` where it belongs in `sorted`, of which the last one drops out.
template <typename Before>
void insert(std::array<RandomPoint, Extremes::kCount>& sorted, const RandomPoint& point, Before before) {
  std::size_t i = sorted.size() - 1;
  for (; i > 0 && before(point.value, sorted[i - 1].value); --i) sorted[i] = sorted[i - 1];
  sorted[i] = point;
}

}  // namespace

Extremes::Extremes() {
  smallest.fill({std::numeric_limits<double>::infinity(), -1});
  largest.fill({-std::numeric_limits<double>::infinity(), -1});
}

void Extremes::add(const RandomPoint& point) {
  if (point.index < 0) return;
  if (point.value < smallest.back().value) insert(smallest, point, std::less<>{});
  if (point.value > largest.back().value) insert(largest, point, std::greater<>{});
}

Extremes find_extremes(int n, Block planes) {
  const std::int64_t plane = std::int64_t{n} * n;
  NasRandom random{kSeed, kNasMultiplier};
  random.skip(static_cast<std::uint64_t>(planes.begin * plane));
  Extremes extremes;
  for (std::int64_t i = planes.begin * plane; i < planes.end * plane; ++i) extremes.add({random.next(), i});
  return extremes;
}

std::vector<Level> make_levels(int n, int ranks) {
  std::vector<Level> levels;
  Level level{n, {}, false};
  for (int rank = 0; rank < ranks; ++rank) level.parts.push_back(block_of(n, rank, ranks));
  for (; level.n >= 2; level.n /= 2) {
    const bool somebody_has_none = std::ranges::any_of(level.parts, [](const Block& part) { return part.size() == 0; });
    level.is_gathered = ranks > 1 && level.n < n && (level.n <= kGatheredEdge || somebody_has_none);
    levels.push_back(level);
    for (Block& part : level.parts) part = {part.begin / 2, part.end / 2};
  }
  std::ranges::reverse(levels);
  return levels;
}

}  // namespace replay::bench
