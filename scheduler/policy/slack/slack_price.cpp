#include "scheduler/policy/slack/slack_price.hpp"

#include <algorithm>
#include <cmath>

namespace replay {
namespace {

// x^alpha; weights of 1 and 0 are exact and need no std::pow.
double weighted(double x, double alpha) {
  if (alpha == 1) return x;
  if (alpha == 0) return 1;
  return std::pow(x, alpha);
}

double used_slack_ratio(const SlackOf& job) {
  constexpr double kFloor = 1;
  if (std::isinf(job.s0)) return 1;
  return std::max(job.s0, kFloor) / std::max(job.s, kFloor);
}

}  // namespace

SlackOf slack_of(double user_priority, double political_priority, double scheduler_priority, double slack_factor,
                 double average_wait_s) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const double beyond = slack_factor > 0 ? kInfinite : 0;
  if (std::isinf(political_priority)) return {0, beyond, beyond, false};
  const double p = (user_priority + political_priority + scheduler_priority) / 3;
  const double s0 = seconds(from_seconds((1 - p) * slack_factor * average_wait_s));
  return {p, s0, s0, true};
}

// In whole microseconds: sums of fractions of seconds drift, and would differ slightly from the delay that they are
// compared with.
void use_slack(SlackOf& job, Duration delay) {
  if (!std::isinf(job.s)) job.s = seconds(from_seconds(job.s) - delay);
}

double scheduler_priority(double wait_s, double average_wait_s) { return std::min(wait_s / (2 * average_wait_s), 1.0); }

double price_of_waiting(CoreCount n, double wait_s, const SlackWeights& weights) {
  if (wait_s == 0) return 0;
  return weighted(wait_s, weights.time) * weighted(n, weights.utilisation);
}

double cost_of_moving(CoreCount n, const SlackOf& moved, double delay_s, const SlackOf& favoured,
                      const SlackWeights& weights) {
  if (delay_s == 0) return 0;
  if (delay_s > 0 && delay_s > moved.s) return kImpossible;  // used-up slack does not forbid moving up
  if (delay_s > 0 && !favoured.in_quota && moved.in_quota) return kImpossible;
  if (!moved.in_quota) return 0;
  const double ratio = favoured.p > 0 ? moved.p / favoured.p : 1;
  const double cost = weighted(n, weights.utilisation) * weighted(std::abs(delay_s), weights.time) *
                      weighted(ratio, weights.priority) *
                      weighted(used_slack_ratio(moved), weights.priority * weights.fairness);
  return delay_s > 0 ? cost : -cost;
}

}  // namespace replay
