// A map from job numbers to small numbers: rows of a table, slots of a store. Job numbers of traces are usually compact
// and are looked up in the pages of a table; the few that are far off (or negative) go into a hash map. A page that has
// no jobs left is released. With one std::unordered_map in its place a simulation takes a quarter more instructions
// (KTH-SP2: `fcfs` 28 %, `easy` 24 %).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay {

class JobIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The row of `job`, kNone if it has none.
  [[nodiscard]] std::uint32_t find(JobId job) const {
    const auto number = static_cast<std::uint64_t>(job);
    if (number < near_) [[likely]]
      return rows_[number / kPage][number % kPage];
    return far_.empty() ? kNone : find_far(number);
  }

  /// The next row, for `job`: 0, 1, 2, ... in the order in which the jobs come. REQUIRES: it has none yet.
  std::uint32_t add(JobId job) {
    const std::uint32_t row = count_;
    set(job, row);
    return row;
  }

  /// REQUIRES: it has none yet.
  void set(JobId job, std::uint32_t row) {
    const auto number = static_cast<std::uint64_t>(job);
    ++count_;
    if (number < near_) [[likely]]
      set_near(number, row);
    else
      set_beyond(number, row);
  }

  /// Removes the row of `job` and returns it; kNone if it had none.
  std::uint32_t erase(JobId job) {
    const auto number = static_cast<std::uint64_t>(job);
    if (number >= near_) [[unlikely]]
      return erase_far(number);
    const std::uint32_t row = rows_[number / kPage][number % kPage];
    if (row != kNone) erase_near(number);
    return row;
  }

  /// visit(JobId, row) for each job that has one, in unspecified order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (!pages_[page]) continue;
      for (std::uint64_t i = 0; i < kPage; ++i)
        if (const std::uint32_t row = rows_[page][i]; row != kNone) visit(static_cast<JobId>(page * kPage + i), row);
    }
    for (const auto& [number, row] : far_) visit(static_cast<JobId>(number), row);
  }

 private:
  static constexpr std::uint64_t kPage = 1024;  // numbers
  static constexpr std::uint64_t kAlwaysNear = 1 << 16;
  static constexpr std::uint64_t kSpread = 8;

  struct Page {
    Page() { rows.fill(kNone); }
    std::array<std::uint32_t, kPage> rows;
    std::uint32_t used = 0;
  };

  void set_near(std::uint64_t number, std::uint32_t row) {
    std::unique_ptr<Page>& page = pages_[number / kPage];
    if (!page) [[unlikely]]
      open(number / kPage);
    page->rows[number % kPage] = row;
    ++page->used;
  }

  void erase_near(std::uint64_t number) {
    Page& page = *pages_[number / kPage];
    page.rows[number % kPage] = kNone;
    if (--page.used == 0) [[unlikely]]
      close(number / kPage);
  }

  [[gnu::noinline]] void open(std::size_t page) {
    pages_[page] = spare_ ? std::move(spare_) : std::make_unique<Page>();
    rows_[page] = pages_[page]->rows.data();
  }

  [[gnu::noinline]] void close(std::size_t page) {
    spare_ = std::move(pages_[page]);
    rows_[page] = kEmpty.rows.data();
  }

  [[nodiscard]] std::uint32_t find_far(std::uint64_t number) const {
    const auto found = far_.find(number);
    return found == far_.end() ? kNone : found->second;
  }

  [[gnu::noinline]] std::uint32_t erase_far(std::uint64_t number) {
    const auto found = far_.find(number);
    if (found == far_.end()) return kNone;
    const std::uint32_t row = found->second;
    far_.erase(found);
    return row;
  }

  // find() looks for a number below near_ only in the pages: numbers in far_ that the new pages cover move there.
  [[gnu::noinline]] void set_beyond(std::uint64_t number, std::uint32_t row) {
    if (number >= kAlwaysNear + kSpread * std::uint64_t{count_ - 1}) {
      far_[number] = row;
      return;
    }
    pages_.resize(number / kPage + 1);
    rows_.resize(pages_.size(), kEmpty.rows.data());
    near_ = kPage * pages_.size();
    for (auto at = far_.begin(); at != far_.end();) {
      const auto [moved, its_row] = *at;
      if (moved < near_) {
        set_near(moved, its_row);
        at = far_.erase(at);
      } else {
        ++at;
      }
    }
    set_near(number, row);
  }

  static const Page kEmpty;

  std::uint64_t near_ = 0;                  // numbers below it have a place in a page
  std::vector<const std::uint32_t*> rows_;  // of pages_; of kEmpty where there is no page
  std::vector<std::unique_ptr<Page>> pages_;
  std::unique_ptr<Page> spare_;  // empty
  std::unordered_map<std::uint64_t, std::uint32_t> far_;
  std::uint32_t count_ = 0;  // calls of set()
};

inline const JobIndex::Page JobIndex::kEmpty;

}  // namespace replay
