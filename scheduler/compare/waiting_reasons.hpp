// Reasons why one job waited, from its submission to its launch: a time line without gaps, made from an event log in
// one pass. Between two instants with records there is one cause: the job's start was decided and other jobs still are
// on its cores; or the machine belonged to another class of jobs; or as many cores were free as it has processes, and the policy held it back; or too few were free, and
// jobs before it in the queue waited too, or it was the head of the queue. Cores and queue are those of run_state.hpp:
// by decisions, and in the order of submission, independent of the policy's own order. Where nodes are closed, it may need more
// cores than there will be; and a job that was lost with a node has waited before its last run, the lost ones left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/compare/run_state.hpp"
#include "scheduler/compare/turns.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

enum class WaitCause : std::uint8_t {
  kEarlierJobs,  ///< too few cores are free, and jobs that were submitted before it wait
  kCores,        ///< too few cores are free; it is the head of the queue
  kHeldBack,     ///< enough cores are free, but it was not started: they are meant for others, or do not suit
  kOffTurn,      ///< the machine belongs to another class of jobs, or jobs are exchanged
  kLaunch,       ///< its start is decided; others still are on its cores
  kClosedNodes,  ///< it needs more cores than there are, and will be as far as is known
  kLost          ///< it did not wait, but ran: a node went down with that run
};

inline constexpr std::size_t kWaitCauses = 7;

/// A running job that has cores.
struct Holder {
  JobId job{};
  CoreCount cores = 0;
  Instant estimated_end{};  ///< LiveJob::estimated_end
};

/// A job that was submitted later and started earlier.
struct Overtaker {
  JobId job{};
  Instant at{};
  ProcessCount processes = 0;
  Duration estimate{};
};

struct ClosedNodeInWait {
  std::string name;
  NodeChange change;
};

struct WaitSegment {
  Instant from{}, to{};  ///< from < to
  WaitCause cause{};
  bool is_head = false;         ///< no earlier job waited
  std::size_t instants = 0;     ///< with records, that at its begin included
  std::size_t ahead_first = 0;  ///< earlier jobs that waited, at its begin
  std::size_t ahead_last = 0;   ///< at its end
  CoreCount free_least = 0;
  CoreCount free_most = 0;
  CoreCount needed = 0;  ///< kClosedNodes: at the least
  CoreCount there = 0;   ///< RunState::cores_there(), at its begin
  /// Closed nodes at its begin and those that were closed until its end, in their last state, by node; and more_closed others.
  /// None where it waited for something else.
  std::vector<ClosedNodeInWait> closed{};
  std::size_t more_closed = 0;
  std::string lost_because{};  ///< of kLost, may be empty
  /// Of the head: when enough cores were free at the earliest by the estimates, at the begin and at the end of the
  /// segment.
  std::optional<Instant> shadow_first{}, shadow_last{};
  std::size_t holders = 0;                ///< jobs that had cores at its begin,
  std::vector<Holder> largest_holders{};  ///< and those of them with the most cores
  std::vector<Overtaker> overtakers{};    ///< in the order of their starts
  std::size_t more_overtakers = 0;        ///< that are not in it
};

struct WaitReport {
  bool found = false;
  JobId job{};
  ProcessCount processes = 0;  ///< as submitted
  CoreCount least = 0;         ///< the fewest with which it can start
  std::string offers;          ///< the sizes that it offers, as sizes_text(); empty: its size cannot be chosen
  Duration estimate{};         ///< as submitted
  Flexibility flexibility{};
  Instant submitted{};
  Instant decided = kNever;  ///< of the decision to start it; kNever: there was none
  Instant launched = kNever;
  Instant finished = kNever;
  Turns turns{};
  SizeChoice choice{};     ///< what the policy says about its size
  ProcessCount given = 0;  ///< processes that it was started with, if it was
  CoreCount cores_at_launch = 0;
  int mpl_at_launch = 1;
  CoreCount free_at_submission = 0;
  Instant head_since = kNever;          ///< kNever: it never was the head
  JobEnd end{};                         ///< if it has finished
  std::vector<WaitSegment> segments{};  ///< from its submission to its launch, its end or the end of the log
  std::size_t left_out = 0;             ///< segments in the middle that were dropped,
  std::array<Duration, kWaitCauses> left_out_time{};  ///< and how long they were, by cause
  std::size_t jobs_in_log = 0;
  JobId lowest{}, highest{};  ///< job numbers of the log, if it has jobs
  Instant log_end{};          ///< the last record's, if there is one

  [[nodiscard]] Duration total(WaitCause cause) const;
};

struct WaitingReasonsOptions {
  bool merge = true;             ///< off: a segment for each instant at which something happened
  std::size_t most_holders = 5;  ///< in WaitSegment::largest_holders, and nodes in WaitSegment::closed
  DeclaredRate rate{};           ///< of the run's runtime model, for estimated ends; none: full speed
  /// Of more segments the first and the last are kept, half each.
  std::size_t most_segments = std::numeric_limits<std::size_t>::max();
  std::size_t most_overtakers = std::numeric_limits<std::size_t>::max();  ///< in WaitSegment::overtakers
};

/// A job that came into the queue that the policy sees, or left it.
struct QueueChange {
  QueueKey key{};
  bool came = false;
  bool started = false;        ///< it left by the decision to start it
  ProcessCount processes = 0;  ///< of a job that left
  Duration estimate{};
};
/// Nothing: the record does not change the queue. `state`: before the record.
[[nodiscard]] std::optional<QueueChange> queue_change(const log::Record& record, const RunState& state);

/// Follows one job. The state of the run is the caller's.
class JobWait {
 public:
  JobWait(JobId job, const WaitingReasonsOptions& options) : options_(&options), turns_(job) { report_.job = job; }

  /// Nothing has changed from `from` to `to`.
  void pass(const RunState& state, Instant from, Instant to);
  /// Of any other job. Call it before the record is applied to the state.
  void note(const QueueChange& change, Instant now);
  /// Each record about this job, each on groups, slices and nodes, and each requeue, after it was applied.
  void note(const log::Record& record, const RunState& state);
  [[nodiscard]] WaitReport finish();

  /// It was submitted, and was not launched and has not ended.
  [[nodiscard]] bool waits() const { return report_.found && report_.launched == kNever && report_.finished == kNever; }
  [[nodiscard]] JobId job() const { return report_.job; }

 private:
  void note_own(const log::Record& record, const RunState& state);
  void note_nodes(const log::Record& record, const RunState& state);
  [[nodiscard]] std::size_t place_in(const RunState& state) const;
  void begin_segment(const RunState& state, Instant from, WaitCause cause, bool is_head);
  void describe_holders(WaitSegment& segment, const RunState& state) const;
  void name_closed(WaitSegment& segment, const RunState& state) const;
  void hand_over_overtakers(WaitSegment& segment);

  const WaitingReasonsOptions* options_;
  TurnsOfJob turns_;
  WaitReport report_;
  QueueKey key_;
  std::size_t ahead_ = 0;
  std::vector<Overtaker> overtakers_;  // since the last span was closed
};

class WaitingReasons final : public history::Observer {
 public:
  explicit WaitingReasons(JobId job, WaitingReasonsOptions options = {})
      : options_(std::move(options)), state_(options_.rate), wait_(job, options_) {}
  WaitingReasons(const WaitingReasons&) = delete;
  WaitingReasons& operator=(const WaitingReasons&) = delete;

  void on_begin(const log::Header& header, const Machine& machine) override;
  /// Throws what RunState throws. O(log live jobs), while the job waits O(running log running).
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::Kinds{}.set(); }
  /// Call it at the end of the log.
  [[nodiscard]] WaitReport finish();

  [[nodiscard]] CoreCount cores() const { return state_.cores(); }
  [[nodiscard]] const log::Header& header() const { return header_; }

 private:
  WaitingReasonsOptions options_;
  log::Header header_;
  RunState state_;
  JobWait wait_;
  Instant now_ = Instant::min();
  std::size_t jobs_in_log_ = 0;
  JobId lowest_{}, highest_{};
};

}  // namespace replay::compare
