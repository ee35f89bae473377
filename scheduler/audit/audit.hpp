// Checks whether a schedule follows a rule. The rules are stated in docs/audit.md and coded here once more, plainly and
// apart from the policies: an audit that shares code with what it audits proves nothing. The schedule is replayed as it
// is. At each of its instants the rule says which jobs must start in the state that the schedule has reached; if that
// differs from what happened there is a finding, and the audit goes on from what happened. So one wrong start is one
// finding, and not thousands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/audit/schedule.hpp"
#include "scheduler/model/units.hpp"

namespace replay::audit {

enum class RuleName : std::uint8_t { kFcfs, kEasy, kConservative };
/// A pass after each single event, submissions before ends; or one for all events of an instant, ends before
/// submissions.
enum class Pass : std::uint8_t { kEvent, kInstant };
/// The order in which waiting jobs move up when processors become free before their time (conservative).
enum class Compress : std::uint8_t { kArrival, kStartOrder };
/// Which end of a job makes waiting jobs move up (conservative).
enum class CompressAt : std::uint8_t { kEarlyEnd, kEveryEnd };

struct Options {
  RuleName rule = RuleName::kEasy;
  Pass pass = Pass::kEvent;
  Compress compress = Compress::kArrival;
  CompressAt compress_at = CompressAt::kEarlyEnd;
  CoreCount machine_size = 1;      ///< >= 1
  Duration tolerance{};            ///< >= 0; a start that comes so much later than the rule's is right
  std::size_t most_findings = 20;  ///< kept with their reasons; all are counted
  /// Called now and then with the number of jobs that have started.
  std::function<void(std::size_t)> progress;
};

enum class FindingKind : std::uint8_t {
  kNotStarted,          ///< the rule starts it, the schedule does not
  kLaterThanGuarantee,  ///< the same, and it starts later than the rule promised when it was submitted (conservative)
  kAgainstRule,         ///< the schedule starts it, the rule does not
  kBeforeSubmission,
  kTooManyProcessors,  ///< more than the machine has, alone or with those that run
};
inline constexpr std::size_t kFindingKinds = 5;

/// "not-started", "later-than-guarantee", "against-rule", "before-submission", "too-many-processors".
[[nodiscard]] std::string_view to_text(FindingKind kind);

struct Finding {
  FindingKind kind{};
  Index job = 0;
  Instant at{};               ///< where rule and schedule part
  Instant expected = kNever;  ///< when the rule starts it; kNever: not now, and it does not say when
  Instant found = kNever;     ///< when it started; kNever: never
  std::string reason;         ///< in words
};

struct Report {
  std::size_t jobs = 0;                               ///< that started: all of them were checked
  std::size_t never_started = 0;                      ///< they waited, and left or were still there at the end
  std::size_t overran = 0;                            ///< ran beyond their estimate
  std::array<std::size_t, kFindingKinds> findings{};  ///< by kind
  std::size_t jobs_with_findings = 0;
  std::vector<Finding> first;  ///< in time order

  [[nodiscard]] std::size_t count(FindingKind kind) const { return findings[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::size_t total() const;
};

/// Fcfs and easy: O(log jobs) for each event and O(queue) for each pass. Conservative: O(queue * (queue + running))
/// for each end before its time.
[[nodiscard]] Report audit(const Schedule& schedule, const Options& options);

}  // namespace replay::audit
