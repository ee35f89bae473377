// The queue of waiting jobs, as policies see it.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/policy/view/queue_index.hpp"

namespace replay {

/// Waiting jobs by (submitted, job number), contiguous in memory. Removal leaves a hole; holes are closed when there
/// are many. A job must outlive its stay in the queue.
class WaitingQueue {
 public:
  class iterator {
   public:
    using value_type = const Job*;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const Job* const* at, const Job* const* end) : at_(at), end_(end) { skip_holes(); }
    const Job* operator*() const { return *at_; }
    iterator& operator++() {
      ++at_;
      skip_holes();
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    friend class WaitingQueue;
    void skip_holes() {
      while (at_ != end_ && *at_ == nullptr) ++at_;
    }
    const Job* const* at_ = nullptr;
    const Job* const* end_ = nullptr;
  };

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// REQUIRES: not empty.
  [[nodiscard]] const Job& head() const { return **begin(); }
  [[nodiscard]] iterator begin() const { return {slots_.data() + first_, slots_.data() + slots_.size()}; }
  [[nodiscard]] iterator end() const { return {slots_.data() + slots_.size(), slots_.data() + slots_.size()}; }

  /// The first wanted job at or after `from`; end() if there is none. About O(log queue).
  [[nodiscard]] iterator find(iterator from, const Wanted& wanted) const;

  /// O(1) when `job` comes last in order, else O(queue).
  void insert(const Job& job);
  /// Nothing happens if it is not there. O(log queue).
  void remove(const Job& job);

 private:
  // Position of a job in the order of the queue.
  struct Place {
    Instant submitted;
    JobId job;
    auto operator<=>(const Place&) const = default;
  };
  // The slot of `job`; any if it is not there.
  [[nodiscard]] std::size_t slot_of(const Job& job) const;
  void close_holes();

  std::vector<const Job*> slots_;  // in order; nullptr: a hole
  std::vector<Place> order_;       // by slot, for the search; kept for holes, as their jobs may no longer exist
  mutable QueueIndex index_;       // by slot: of the first ones, until a search needs the others
  std::size_t first_ = 0;          // slots before it are holes
  std::size_t size_ = 0;
};

}  // namespace replay
