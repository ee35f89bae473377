// Flurries: "rare surges of activity with a repetitive nature, caused by a single user, that dominate the workload for
// a relatively short period" (Tsafrir and Feitelson 2006; Feitelson and Tsafrir 2006). The authors find them by eye and
// give no thresholds; here each part of the definition is a number. A burst is a sequence of one user's jobs in which
// none comes more than `gap` after the one before. It is a flurry if it has at least `jobs` jobs (a surge), makes up at
// least `share` of all jobs that are submitted from its first to its last (dominates), at least `alike` of it has one
// and the same size (repetitive), and it lasts at most `longest` (short). Memory grows with the users, not with the
// log.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

struct FlurryRule {
  std::uint64_t jobs = 500;
  Duration gap = std::chrono::hours{1};
  double share = 0.5;
  double alike = 0.5;
  Duration longest = std::chrono::hours{24 * 60};
};

struct Flurry {
  std::int32_t user = -1;
  std::uint64_t jobs = 0;
  std::int64_t first_job = 0, last_job = 0;       ///< job numbers
  std::uint64_t first_index = 0, last_index = 0;  ///< counted among the jobs given to the finder, from 0
  Duration from{}, to{};                          ///< submit times
  double share = 0;                               ///< of all jobs from its first to its last
  ProcessCount size = 0;                          ///< the most frequent one
  double alike = 0;                               ///< the share of its jobs that have that size
};

class FlurryFinder {
 public:
  explicit FlurryFinder(FlurryRule rule) : rule_(rule) {}

  /// In the order of the trace. Jobs without a user make no flurry.
  void add(const TracedJob& job);
  /// By first job. Call it once, after the last job.
  [[nodiscard]] std::vector<Flurry> finish();

 private:
  struct Burst {
    Flurry flurry;
    std::map<ProcessCount, std::uint64_t> sizes;
  };
  void close(Burst& burst);

  FlurryRule rule_;
  std::uint64_t seen_ = 0;
  std::unordered_map<std::int32_t, Burst> open_;  // by user
  std::vector<Flurry> found_;
};

/// Tells which jobs belong to a flurry; asked in the order of the trace.
class FlurryFilter {
 public:
  explicit FlurryFilter(const std::vector<Flurry>& flurries) : flurries_(flurries) {}
  [[nodiscard]] bool takes(const TracedJob& job);

 private:
  const std::vector<Flurry>& flurries_;
  std::uint64_t index_ = 0;
};

}  // namespace replay
