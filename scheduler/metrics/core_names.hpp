// Which cores each job used, for readers that want names: jobs.csv's allocated_resources, a Gantt chart. Where the log
// names cores they are taken from it. On a pool they are made up after the fact: a job gets the lowest-numbered free
// cores, gives back the highest of its own when it shrinks, and takes the lowest free ones again when it expands.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/model/job_index.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// first <= last, both included.
struct CoreRange {
  CoreId first;
  CoreId last;
  bool operator==(const CoreRange&) const = default;
};
/// Ascending, disjoint, not touching.
using CoreRanges = std::vector<CoreRange>;

/// The free cores of a pool. Its costs grow with the number of ranges of free cores, not of cores.
class NumberedPool {
 public:
  explicit NumberedPool(CoreCount cores = 0);
  /// Appends the `count` lowest-numbered free cores, ascending. Throws InputError if fewer are free: then the log is broken.
  void take(CoreCount count, CoreRanges& out);
  void give_back(const CoreRanges& ranges);
  [[nodiscard]] CoreCount free() const { return free_; }

 private:
  std::vector<CoreRange> ranges_;  // descending, so that the lowest are taken from the end
  CoreCount free_ = 0;
};

class CoreNames final : public log::Sink {
 public:
  /// Makes room for so many jobs at once. More may come.
  void expect(std::size_t jobs) {
    jobs_.reserve(jobs);
    used_ranges_.reserve(jobs);
  }

  void header(const log::Header& header) override;
  void record(const log::Record& record) override;

  /// The cores of `job`'s first allocation and those it gained later. Empty if it never ran.
  [[nodiscard]] std::span<const CoreRange> used(JobId job) const;
  /// The cores it has now. Empty if it has none. Valid until the next record.
  [[nodiscard]] std::span<const CoreRange> held(JobId job) const;

 private:
  struct Held {
    CoreRanges awake;
    CoreRanges asleep;  ///< what it had when it was suspended
  };
  struct Used {
    std::size_t begin = 0;  ///< in used_ranges_
    std::uint32_t count = 0;
    std::uint32_t slot = kNoSlot;  ///< in held_, from launch to end
  };
  struct OnRecord;
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  Used& launch(JobId job);
  void hold(Used& job, const Allocation& allocation);
  void note_used(Used& job, const CoreRanges& ranges);
  void suspend(Used& job);
  void resume(Used& job);
  void release(Used& job);
  [[nodiscard]] Used* on_cores(JobId job);
  [[nodiscard]] std::span<const CoreRange> used_of(const Used& job) const;

  bool names_cores_ = false;
  NumberedPool pool_;
  JobIndex index_;
  std::vector<Used> jobs_;
  std::vector<CoreRange> used_ranges_;  // of all jobs; a job that gains cores gets a new piece at the end
  std::vector<Held> held_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace replay::metrics
