// The policy interface: a policy reads a view and returns what should happen now. It never waits, sleeps, prints, reads
// a clock or sees a JobTruth. The same object drives the simulator and a real run.
//
// A policy can wrap another: it builds a view of its own (some of the nodes, some of the queue), asks the inner policy,
// and passes on, changes or drops the answers. decide() may come with a view in which no core is free although the
// running jobs hold fewer: time stands for its jobs, and the policy takes in what has happened and starts none. What
// else a wrapper may ask is in hosting.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/policy/view/decision.hpp"
#include "scheduler/policy/view/training.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

/// When passes happen (docs/adr/0006-pass-rules.md).
enum class PassRule : std::uint8_t {
  kInstant,  ///< all events of an instant, terminations first, then one pass
  kEvent     ///< submissions before terminations, a pass after each; a job counts as gone once its estimate is over
};

/// What is known of a policy before the run. One that wraps another passes on what it says of itself.
struct Traits {
  PassRule pass_rule = PassRule::kInstant;
  bool chooses_sizes = false;             ///< it may start a job with other than the submitted processes
  bool suspends = false;                  ///< it may suspend jobs
  bool adopts = true;                     ///< it can go on with jobs that it has not started
  bool follows_log = false;               ///< it starts each job when its log did: Job::logged_start
  bool needs_equal_nodes = false;         ///< its machine has nodes with as many cores and packages as each other
  std::optional<Training> training = {};  ///< what it has learned from
};

/// Where answers of a program are kept that may answer otherwise when it is asked again.
class AnswerKeeper {
 public:
  virtual ~AnswerKeeper() = default;
  /// The answer that counts: the given one, or that of the first time if a run is played back.
  [[nodiscard]] virtual std::string kept(std::string answer) = 0;
  /// What `given` decides is not what the answer that counts, `kept`, does. May throw: then the run cannot go on so.
  virtual void note_other_decisions(const std::string& kept, const std::string& given) = 0;
};

class Policy {
 public:
  explicit Policy(Traits traits = {}) : traits_(std::move(traits)) {}
  virtual ~Policy() = default;

  [[nodiscard]] const Traits& traits() const { return traits_; }

  /// Called once per pass. Adds to `out` (a reused buffer) what should happen at `view.now`, in order: at most one
  /// Start, Resize, Suspend, Resume or Kill per job, or a Resume and a Resize after it. What is added to the allocations
  /// is never more than `view.free`.
  virtual void decide(const ClusterView& view, Decisions& out) = 0;

  /// Called when the estimate of `job`, which runs, is used up: by how much it is to grow; zero: the job is killed.
  /// Called only under Overrun::kPolicy.
  [[nodiscard]] virtual Duration more_time(const ClusterView& /*view*/, const RunningJob& /*job*/) {
    return Duration::zero();
  }

  /// Before the first pass, of a run that may be played back. `keeper` outlives the run. One that decides by itself needs none.
  virtual void keep_answers(AnswerKeeper& /*keeper*/) {}

 private:
  Traits traits_;
};

}  // namespace replay
