// An index of the jobs of a queue by what they need, so that a search for a job that fits skips those that cannot. For
// nested stretches of a long queue the least estimate of the jobs of at most 1, 2, 4, ... cores is stored; a short
// queue is scanned. On an overloaded log (KTH-SP2, submissions twice as fast) a scan of all costs `easy` 60 % more
// instructions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "scheduler/base/powers_of_two.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// What a policy looks for in the queue: jobs of at most `cores` cores that are estimated to take at most
/// `estimate` or, whatever their estimate, of at most `narrow` cores.
struct Wanted {
  CoreCount cores;
  Duration estimate;
  CoreCount narrow = 0;

  [[nodiscard]] bool admits(CoreCount of_cores, Duration of_estimate) const {
    return of_cores <= cores && (of_estimate <= estimate || of_cores <= narrow);
  }
};

class QueueIndex {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  [[nodiscard]] std::size_t size() const { return needs_.size(); }
  void clear();
  /// At position size().
  void add(const Job& job) { needs_.push_back({job.estimate, cores_needed(job)}); }
  /// A position, size(), that no search finds.
  void add_hole() { needs_.push_back(kNoJob); }
  /// The position stays, and no search finds it.
  void remove(std::size_t at);
  /// Jobs move up to the positions that no search finds, in order.
  void close_holes();

  /// The first position at or after `from` with a wanted job; kNone if there is none. About O(log size).
  [[nodiscard]] std::size_t find(std::size_t from, const Wanted& wanted) const;

 private:
  // What a job needs; kNoJob where it was removed.
  struct Need {
    Duration estimate;
    CoreCount cores;
  };
  static constexpr CoreCount kNoJobs = std::numeric_limits<CoreCount>::max();
  static constexpr Need kNoJob{Duration::max(), kNoJobs};

  // What is searched, and the first size class that may have jobs of so many cores.
  struct Search {
    Wanted wanted;
    std::size_t size;
  };

  // Lower bounds of what the jobs of a stretch need. After a removal they may be too low until a search that finds
  // nothing there computes them again.
  class Least {
   public:
    Least() { estimates_.fill(Duration::max()); }
    void add(const Need& need);
    void add(const Least& other);
    void note_removal() { is_loose_ = true; }
    /// There was a removal since the bounds were computed.
    [[nodiscard]] bool is_loose() const { return is_loose_; }
    /// Whether one of them may be wanted; false is certain.
    [[nodiscard]] bool may_be(const Search& search) const {
      if (cores_ > search.wanted.cores) return false;
      return cores_ <= search.wanted.narrow || estimates_[search.size] <= search.wanted.estimate;
    }
    /// The first size class that may have jobs that need so many cores.
    [[nodiscard]] static std::size_t size_of(CoreCount cores) { return std::min(log2_above(cores), kSizes - 1); }

   private:
    static constexpr std::size_t kSizes = 12;

    CoreCount cores_ = kNoJobs;
    bool is_loose_ = false;
    std::array<Duration, kSizes> estimates_;  // of jobs of at most 1, 2, 4, ... cores; the last one of all
  };

  void index_whole_stretches() const;
  [[nodiscard]] std::size_t find_among(std::size_t from, std::size_t to, const Wanted& wanted) const;
  [[nodiscard]] std::size_t find_in(std::size_t node, std::size_t from, const Search& search) const;
  [[nodiscard]] std::size_t find_below(std::size_t level, std::size_t node, std::size_t from,
                                       const Search& search) const;

  std::vector<Need> needs_;  // by position
  // Bounds by 16 positions, by 256, ...: the last level has one stretch of all indexed positions. Only the first
  // indexed_ positions are indexed, whole stretches of 16, and only when the queue has become long.
  mutable std::vector<std::vector<Least>> levels_ = std::vector<std::vector<Least>>(1);
  mutable std::size_t indexed_ = 0;
};

}  // namespace replay
