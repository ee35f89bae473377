// A map from job number to a value, for the jobs that exist now. Freed slots are reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/model/job_index.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// `Value` can be default-constructed and assigned. Pointers to values stay valid until erase().
template <class Value>
class JobMap {
 public:
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return free_.size() - free_count_; }

  /// nullptr if there is none.
  [[nodiscard]] Value* find(JobId job) {
    const std::uint32_t slot = index_.find(job);
    return slot == JobIndex::kNone ? nullptr : &value_at(slot);
  }
  [[nodiscard]] const Value* find(JobId job) const {
    const std::uint32_t slot = index_.find(job);
    return slot == JobIndex::kNone ? nullptr : &value_at(slot);
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
  /// The same, but fill(Value&) sets the value, which may still hold data of another job.
  template <class Fill>
  Value& add(JobId job, Fill fill) {
    if (free_count_ == 0) grow();
    const std::uint32_t number = free_[--free_count_];
    index_.set(job, number);
    Value& value = value_at(number);
    fill(value);
    return value;
  }

  /// REQUIRES: it is there.
  void erase(JobId job) {
    const bool was_there = erase_if_there(job);
    INVARIANT(was_there, "job {} is not there", static_cast<std::int64_t>(job));
  }
  /// False if it is not there.
  bool erase_if_there(JobId job) {
    return take_out(job, [](const Value&) {});
  }
  /// The same, after a call of use(Value&).
  template <class Use>
  bool take_out(JobId job, Use use) {
    const std::uint32_t number = index_.erase(job);
    if (number == JobIndex::kNone) return false;
    Value& value = value_at(number);
    use(value);
    if constexpr (!std::is_trivially_destructible_v<Value>) value = Value{};  // frees what it holds
    free_[free_count_++] = number;
    return true;
  }

  /// As erase_if_there(), but the value keeps what it holds until an add() fills its slot again.
  bool release(JobId job) {
    const std::uint32_t number = index_.erase(job);
    if (number == JobIndex::kNone) return false;
    free_[free_count_++] = number;
    return true;
  }

  /// visit(JobId, Value&) for each job, in unspecified order.
  template <class Visit>
  void for_each(Visit visit) {
    index_.for_each([&](JobId job, std::uint32_t slot) { visit(job, value_at(slot)); });
  }
  template <class Visit>
  void for_each(Visit visit) const {
    index_.for_each([&](JobId job, std::uint32_t slot) { visit(job, std::as_const(value_at(slot))); });
  }

 private:
  static constexpr std::size_t kBlock = 64;  // slots

  [[nodiscard]] Value& value_at(std::uint32_t slot) const { return blocks_[slot / kBlock][slot % kBlock]; }

  void grow() {
    const std::size_t first = blocks_.size() * kBlock;
    blocks_.push_back(std::make_unique<Value[]>(kBlock));
    free_.resize(first + kBlock);
    for (std::size_t number = first + kBlock; number-- > first;)
      free_[free_count_++] = static_cast<std::uint32_t>(number);
  }

  JobIndex index_;
  std::vector<std::unique_ptr<Value[]>> blocks_;  // blocks never move
  std::vector<std::uint32_t> free_;               // one entry per slot; the first free_count_ are the free slots
  std::size_t free_count_ = 0;
};

}  // namespace replay
