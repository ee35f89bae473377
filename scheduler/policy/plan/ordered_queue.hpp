// The waiting jobs of a planning policy in the order in which they are planned, with a search for the next job of a set
// of shapes. Jobs lie in blocks; a block knows the least estimate of its jobs of at most 1, 2, 4, ... cores, and a
// search skips blocks that cannot match.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <vector>

#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/plan/shapes.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

class OrderedQueue {
 public:
  struct Entry {
    const Job* job;  ///< valid while it waits
    Duration estimate;
    CoreCount cores;
    Instant submitted;
    JobId id;

    friend CoreCount cores_needed(const Entry& entry) { return entry.cores; }
  };
  /// The place of a job; valid until the next change.
  struct Place {
    std::size_t block = 0;
    std::size_t entry = 0;
    auto operator<=>(const Place&) const = default;
  };

  explicit OrderedQueue(JobOrder order) : order_(order) {}

  /// Takes in the submissions and cancellations of a pass. O(changes x log queue), or O(queue log queue) where the view
  /// has another queue than expected.
  void follow(const ClusterView& view);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] Place begin() const { return {}; }
  [[nodiscard]] Place end() const { return {blocks_.size(), 0}; }
  /// REQUIRES: not end(), likewise the next one.
  [[nodiscard]] const Entry& at(Place place) const { return blocks_[place.block]->entries[place.entry]; }
  [[nodiscard]] Place after(Place place) const;

  /// The first job at or after `from` whose shape is one of `shapes`; end() if there is none. O(blocks + a block).
  [[nodiscard]] Place find(Place from, const Shapes& shapes) const;

  /// Nothing happens if it is there. O(log queue).
  void insert(const Job& job);
  /// Nothing happens if it is not there. O(log queue).
  void remove(const Job& job);

 private:
  static constexpr std::size_t kBlock = 64;  // entries of a block, at most
  static constexpr std::size_t kSizes = 12;

  struct Block {
    std::vector<Entry> entries;             // in order
    std::array<Duration, kSizes> shortest;  // of jobs of at most 1, 2, 4, ... cores; the last one of all
    void measure();
    [[nodiscard]] bool may_match(const Shapes& shapes) const;
  };

  [[nodiscard]] Place lower_bound(const Entry& entry) const;
  void split(std::size_t block);
  void clear();

  JobOrder order_;
  std::vector<std::unique_ptr<Block>> blocks_;  // none is empty
  std::size_t size_ = 0;
};

}  // namespace replay
