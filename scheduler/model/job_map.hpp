// Something for each of the jobs that are there now, found by job number. The memory of a job that has left is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
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
    return slot == JobIndex::kNone ? nullptr : &slot_of(slot).value;
  }
  [[nodiscard]] const Value* find(JobId job) const {
    const std::uint32_t slot = index_.find(job);
    return slot == JobIndex::kNone ? nullptr : &slot_of(slot).value;
  }
  /// REQUIRES: it is there.
  [[nodiscard]] Value& at(JobId job) {
    Value* found = find(job);
    INVARIANT(found != nullptr, "job {} is not there", static_cast<std::int64_t>(job));
    return *found;
  }

  /// A new value. REQUIRES: the job has none.
  Value& add(JobId job) {
    return add(job, [](Value& value) { value = Value{}; });
  }
  /// The same, but fill(Value&) makes it, of what another job may have left there.
  template <class Fill>
  Value& add(JobId job, Fill fill) {
    if (free_.empty()) grow();
    const std::uint32_t number = free_.back();
    free_.pop_back();
    index_.set(job, number);
    ++size_;
    Slot& slot = slot_of(number);
    slot.job = job;
    slot.is_used = true;
    fill(slot.value);
    return slot.value;
  }

  /// REQUIRES: it is there.
  void erase(JobId job) {
    const std::uint32_t number = index_.erase(job);
    INVARIANT(number != JobIndex::kNone, "job {} is not there", static_cast<std::int64_t>(job));
    Slot& slot = slot_of(number);
    if constexpr (!std::is_trivially_destructible_v<Value>) slot.value = Value{};  // gives back what it holds
    slot.is_used = false;
    free_.push_back(number);
    --size_;
  }

  /// visit(JobId, Value&) for each job, in no order that means anything.
  template <class Visit>
  void for_each(Visit visit) {
    visit_all([&visit](Slot& slot) { visit(slot.job, slot.value); });
  }
  template <class Visit>
  void for_each(Visit visit) const {
    visit_all([&visit](const Slot& slot) { visit(slot.job, slot.value); });
  }

 private:
  struct Slot {
    JobId job{};
    bool is_used = false;
    Value value{};
  };

  static constexpr std::size_t kBlock = 64;  // slots

  [[nodiscard]] Slot& slot_of(std::uint32_t number) const { return blocks_[number / kBlock][number % kBlock]; }

  template <class Visit>
  void visit_all(Visit visit) const {
    for (const std::unique_ptr<Slot[]>& block : blocks_)
      for (std::size_t i = 0; i < kBlock; ++i)
        if (block[i].is_used) visit(block[i]);
  }

  void grow() {
    const std::size_t first = blocks_.size() * kBlock;
    blocks_.push_back(std::make_unique<Slot[]>(kBlock));
    for (std::size_t number = first + kBlock; number-- > first;) free_.push_back(static_cast<std::uint32_t>(number));
  }

  JobIndex index_;
  std::vector<std::unique_ptr<Slot[]>> blocks_;  // they stay where they are
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace replay
