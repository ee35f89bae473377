// Finds where two runs part, and the differences of their jobs. Decisions are compared job by job: the k-th decision on
// a job in one run and in the other are the same if they say the same and lie no further apart than the tolerance. So
// the order of decisions on different jobs within the tolerance does not matter, and at a tolerance of zero that within
// an instant. The runs part at the earliest decision that has no equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/compare/decision_list.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

struct ComparisonOptions {
  Duration tolerance{};     ///< >= 0
  bool placements = false;  ///< jobs have to be on the same cores, not just on as many
};

/// The state of one run at the parting.
struct PartingSide {
  std::optional<Decision> decision;  ///< the one without an equal in the other run; none: the run has no such decision
  std::vector<Decision> did;         ///< its decisions without an equal from the parting to the tolerance after it
  std::uint64_t record = 0;          ///< the first record that does not belong to "just before"
};

struct Parting {
  Instant at{};
  JobId job{};
  PartingSide a, b;
};

/// Nothing: every decision of each run has its equal in the other. O(n log n) for n decisions.
[[nodiscard]] std::optional<Parting> first_difference(const DecisionList& a, const DecisionList& b,
                                                      const ComparisonOptions& options);

/// A difference of the events on which decisions depend: a job's submission or end at different instants in the two
/// runs, or its different outcome.
struct EventDifference {
  enum class Kind : std::uint8_t { kSubmission, kEnd, kOutcome } kind{};
  JobId job{};
  Instant a{}, b{};  ///< kNever: it was not submitted, or did not end
};
/// The earliest one; nothing if there is none. Jobs that only one run has count as not submitted in the other.
[[nodiscard]] std::optional<EventDifference> first_event_difference(const metrics::JobTable& a,
                                                                    const metrics::JobTable& b, Duration tolerance);

/// Both runs over the jobs that ran in both. NaN where there is none.
struct MeanPair {
  double a = 0;
  double b = 0;
};

struct JobDifference {
  JobId job{};
  Instant a{}, b{};  ///< when it was launched
  [[nodiscard]] Duration later() const { return b - a; }
};

struct JobDifferences {
  std::size_t shared = 0;  ///< jobs that both have
  std::size_t only_a = 0;  ///< jobs of a that b does not have
  std::size_t only_b = 0;
  std::size_t ran = 0;               ///< jobs that ran in both: what follows is over them
  std::size_t started_elsewhen = 0;  ///< launched at instants further apart than the tolerance
  std::size_t ended_elsewhen = 0;
  std::size_t other_outcome = 0;  ///< of all shared jobs: ended differently, or in one run only
  double mean = 0, mean_size = 0, median_size = 0, max_size = 0;  ///< seconds: start in b less start in a; its size
  MeanPair wait, response, bounded_slowdown;                      ///< means
  std::vector<JobDifference> largest;                             ///< by size, then job number; only different starts

  [[nodiscard]] bool none() const {
    return only_a == 0 && only_b == 0 && started_elsewhen == 0 && ended_elsewhen == 0 && other_outcome == 0;
  }
};

/// `largest` has at most `most` entries. Bounded slowdown with a bound of 10 s. O(n log n).
[[nodiscard]] JobDifferences job_differences(const metrics::JobTable& a, const metrics::JobTable& b, Duration tolerance,
                                             std::size_t most);

}  // namespace replay::compare
