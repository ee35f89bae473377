// Something for each of the jobs that are there now, found by job number. The memory of a job that has left is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "scheduler/model/error.hpp"
#include "scheduler/model/job_index.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// `Value` can be default-constructed and assigned. Pointers to values stay valid until erase().
template <class Value>
class JobMap {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// nullptr if there is none.
  [[nodiscard]] Value* find(JobId job) {
    const std::uint32_t slot = index_.find(job);
    return slot == JobIndex::kNone ? nullptr : &slots_[slot].value;
  }
  [[nodiscard]] const Value* find(JobId job) const {
    const std::uint32_t slot = index_.find(job);
    return slot == JobIndex::kNone ? nullptr : &slots_[slot].value;
  }
  /// REQUIRES: it is there.
  [[nodiscard]] Value& at(JobId job) {
    Value* found = find(job);
    INVARIANT(found != nullptr, "job {} is not there", static_cast<std::int64_t>(job));
    return *found;
  }

  /// A new value. REQUIRES: the job has none.
  Value& add(JobId job) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    index_.set(job, slot);
    ++size_;
    slots_[slot].job = job;
    slots_[slot].is_used = true;
    return slots_[slot].value;
  }

  /// REQUIRES: it is there.
  void erase(JobId job) {
    const std::uint32_t slot = index_.find(job);
    INVARIANT(slot != JobIndex::kNone, "job {} is not there", static_cast<std::int64_t>(job));
    index_.erase(job);
    slots_[slot].value = Value{};
    slots_[slot].is_used = false;
    free_.push_back(slot);
    --size_;
  }

  /// visit(JobId, Value&) for each job, in no order that means anything.
  template <class Visit>
  void for_each(Visit visit) {
    for (Slot& slot : slots_)
      if (slot.is_used) visit(slot.job, slot.value);
  }

 private:
  struct Slot {
    JobId job{};
    bool is_used = false;
    Value value{};
  };

  JobIndex index_;
  std::deque<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace replay
