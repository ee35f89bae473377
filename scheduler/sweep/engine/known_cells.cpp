#include "scheduler/sweep/engine/known_cells.hpp"

#include <algorithm>

namespace replay::sweep {

void KnownCells::Ids::add(std::vector<CellId> more) {
  recent_.insert(recent_.end(), more.begin(), more.end());
  std::ranges::sort(recent_);
  constexpr std::size_t kMostRecent = 1024;
  if (recent_.size() < kMostRecent) return;
  const auto middle = static_cast<std::ptrdiff_t>(sorted_.size());
  sorted_.insert(sorted_.end(), recent_.begin(), recent_.end());
  std::inplace_merge(sorted_.begin(), sorted_.begin() + middle, sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  recent_.clear();
}

bool KnownCells::Ids::has(CellId id) const {
  return std::ranges::binary_search(sorted_, id) || std::ranges::binary_search(recent_, id);
}

void KnownCells::refresh() {
  const auto started = std::chrono::steady_clock::now();
  std::vector<CellId> done, failed;
  files_.read_new([&](const LineHead& head, std::string_view) {
    if (head.version == version_) (head.has_failed ? failed : done).push_back(head.id);
  });
  done_.add(std::move(done));
  failed_.add(std::move(failed));
  refreshed_ = std::chrono::steady_clock::now();
  took_ = refreshed_ - started;
}

void KnownCells::refresh_now_and_then() {
  const auto pause = std::max<std::chrono::steady_clock::duration>(std::chrono::seconds{1}, 50 * took_);
  if (std::chrono::steady_clock::now() - refreshed_ > pause) refresh();
}

}  // namespace replay::sweep
