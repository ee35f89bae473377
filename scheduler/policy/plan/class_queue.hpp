// The waiting jobs by class: short before medium before long, by the time T(N_opt) that a job is estimated to take at its
// optimum size, and in the order of arrival inside a class. A medium or long job that has waited five times as long is
// promoted, so that none starves. Neither class nor promotion changes with the size that a policy chooses.
// Source: SCOJO-P paper, sections 5.1 and 5.2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/view/decision.hpp"
#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

/// What becomes of a medium or long job that has waited for long.
enum class Aging : std::uint8_t {
  kTop,  ///< it counts as short
  kOne,  ///< as one class shorter
  kOff   ///< it stays in its class
};

/// `aging=top|one|off`.
[[nodiscard]] constexpr ParameterSpec aging_parameter() {
  return {"aging",
          ParameterType::kChoice,
          "top",
          "top|one|off",
          "",
          "what becomes of a medium or long job that has waited 5 times its estimate at its optimum size: it counts as "
          "short, as one class shorter, or stays",
          "SCOJO-P paper, section 5.1"};
}
/// REQUIRES: the policy declares aging_parameter().
[[nodiscard]] Aging aging_of(const Parameters& parameters);

/// A job with its class.
struct ClassedJob {
  const Job* job;
  JobId id;
  Instant submitted;
  ProcessCount optimum;  ///< N_opt
  Duration at_optimum;   ///< T(N_opt), the estimate there
  JobClass own;          ///< by at_optimum
  Instant promotion;     ///< kNever: never
};
[[nodiscard]] ClassedJob classed(const Job& job, CoreCount machine, Aging aging);
/// With promotions.
[[nodiscard]] JobClass class_at(const ClassedJob& job, Aging aging, Instant now);

/// The first of the waiting jobs. O(waiting). REQUIRES: a job waits.
[[nodiscard]] const Job& head_by_class(const ClusterView& view, Aging aging);

class ClassQueue {
 public:
  explicit ClassQueue(Aging aging) : aging_(aging) {}
  ClassQueue(const ClassQueue&) = delete;
  ClassQueue& operator=(const ClassQueue&) = delete;

  /// Takes the waiting jobs of the view. O(waiting): promotions depend on the clock as well as on the queue, and the wait
  /// that promotes is long where the queue is, so the order of one pass says little about the next.
  void follow(const ClusterView& view);

  /// By class at the view's instant, then by arrival. Valid until the next follow().
  [[nodiscard]] std::span<const ClassedJob* const> in_order() const { return order_; }
  [[nodiscard]] bool empty() const { return order_.empty(); }
  /// After the view's instant; kNever if there is none.
  [[nodiscard]] Instant next_promotion() const { return next_promotion_; }
  /// Asks for a pass then: a promotion can change the head, and so the jobs that may be backfilled.
  void wake_for_promotion(Decisions& out) const {
    if (next_promotion_ != kNever) out.emplace_back(WakeAt{next_promotion_});
  }

 private:
  Aging aging_;
  CoreCount machine_ = 0;                  // for which the optimum sizes are
  std::vector<ClassedJob> jobs_, before_;  // by arrival, of this and of the last view
  std::vector<const ClassedJob*> order_;
  Instant next_promotion_ = kNever;
};

}  // namespace replay
