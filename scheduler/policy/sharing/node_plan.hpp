// The plan in whole nodes: what running jobs leave free, and the planned starts of waiting jobs under space sharing, each
// in the earliest hole. Conservative backfilling: a start moves later only where a group is allowed to delay it. When
// planned ends change, all waiting jobs are placed again in the order of their starts: G-LOMARC-TS, section 4.7.
// A trial plans a change of the running jobs without making it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/sharing/known_job.hpp"
#include "scheduler/policy/sharing/party.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay::sharing {

class NodePlan {
 public:
  explicit NodePlan(int nodes) : all_(nodes, Instant::min()), trial_(nodes, Instant::min()) {}

  /// Time has come to `now`, and running jobs hold nodes as `held` says, in order. Compresses the plan if that is not
  /// what was planned, if a planned start has passed, or if `has_left`: jobs were removed.
  void follow(Instant now, const Releases& held, bool has_left);
  /// Gives it the earliest hole.
  void insert(KnownJob& job);
  /// It waits no longer, and did not start: what it leaves is not used before compress().
  void remove(KnownJob& job);
  /// Places all waiting jobs again.
  void compress();

  /// The place of `job` in the plan begins now.
  [[nodiscard]] bool is_due(const KnownJob& job) const { return job.planned <= now_; }
  /// It starts there. REQUIRES: is_due().
  void start(KnownJob& job);
  /// It starts otherwise than planned: `nodes` of them are held until `until`. Compresses.
  void start_differently(KnownJob& job, Release held);

  [[nodiscard]] std::span<KnownJob* const> by_start() const { return order_; }
  [[nodiscard]] const Availability& profile() const { return all_; }
  [[nodiscard]] const Releases& held() const { return held_; }

  /// The first job for which a trial would break its promise.
  struct Delayed {
    const KnownJob* job;
    Instant end;
  };
  /// Plans that running jobs hold nodes as `held` says, in order, and that the jobs with KnownJob::mark == `leaving` wait
  /// no longer. Nothing: no waiting job ends later than both its limit and its planned end.
  [[nodiscard]] std::optional<Delayed> try_with(const Releases& held, std::uint64_t leaving);
  /// Makes the last trial the plan. REQUIRES: it delayed no job.
  void adopt_trial();

 private:
  static void build(Availability& profile, Instant now, const Releases& held);
  void sort_by_start();

  Instant now_ = Instant::min();
  Releases held_;                 // until when running jobs hold nodes, from now on
  Availability all_;              // with the waiting jobs
  std::vector<KnownJob*> order_;  // waiting jobs by planned start
  Availability trial_;
  Releases trial_held_;
  std::vector<KnownJob*> trial_order_;
  std::vector<Instant> trial_starts_;
};

/// When a running job ends by plan.
using PlannedEnd = std::function<Instant(const RunningJob&)>;

/// Adds until when nodes are closed. Of a node with jobs that is the time from their last end on: one node less comes free then.
/// REQUIRES: what these jobs hold is added, too, before put_in_order().
void hold_closed(const ClusterView& view, const PlannedEnd& end_of, Releases& held);

/// Reserves in `profile`, all free from `now` on, what running jobs hold.
void hold(Availability& profile, Instant now, const Releases& held);

}  // namespace replay::sharing
