// Job numbers to small numbers: rows of a table, slots of a store. Job numbers of traces are compact as a rule, so a vector
// answers; the few that are far off (or negative) go into a hash map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay {

class JobIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The row of `job`, kNone if it has none.
  [[nodiscard]] std::uint32_t find(JobId job) const {
    const auto number = static_cast<std::uint64_t>(job);
    if (number < near_.size()) return near_[number];
    if (far_.empty()) return kNone;
    const auto found = far_.find(number);
    return found == far_.end() ? kNone : found->second;
  }

  /// The next row, for `job`: 0, 1, 2, ... in the order in which the jobs come. REQUIRES: it has none yet.
  std::uint32_t add(JobId job) {
    const std::uint32_t row = count_;
    set(job, row);
    return row;
  }

  void set(JobId job, std::uint32_t row) {
    const auto number = static_cast<std::uint64_t>(job);
    ++count_;
    if (number < near_.size()) [[likely]]
      near_[number] = row;
    else
      set_beyond(number, row);
  }

  /// Nothing happens if it has no row.
  void erase(JobId job) {
    const auto number = static_cast<std::uint64_t>(job);
    if (number < near_.size())
      near_[number] = kNone;
    else
      far_.erase(number);
  }

 private:
  static constexpr std::uint64_t kAlwaysNear = 1 << 16;
  static constexpr std::uint64_t kSpread = 8;

  // A number that went into far_ before the vector had grown past it must not be looked for in the vector: what is
  // added to near_ by growing is therefore filled from far_.
  [[gnu::noinline]] void set_beyond(std::uint64_t number, std::uint32_t row) {
    if (number < kAlwaysNear + kSpread * std::uint64_t{count_ - 1}) grow_to(number);
    if (number < near_.size())
      near_[number] = row;
    else
      far_[number] = row;
  }

  // Beyond it, so that numbers which ascend one by one do not each have to.
  void grow_to(std::size_t past) {
    const std::size_t before = near_.size();
    near_.resize(past + 1 + past / 2, kNone);
    if (far_.empty()) return;
    for (std::size_t number = before; number < near_.size(); ++number)
      if (const auto found = far_.find(number); found != far_.end()) near_[number] = found->second;
  }

  std::vector<std::uint32_t> near_;
  std::unordered_map<std::uint64_t, std::uint32_t> far_;
  std::uint32_t count_ = 0;  // of set()
};

}  // namespace replay
