// The price of a schedule in slack-based backfilling: priorities, slacks, and the cost of delaying one job in favour of
// another.
// Source: Talby and Feitelson 1999, sections 4.2 to 4.4. Names are the paper's: n processors, t delay, p priority, s
// slack.
#pragma once

#include <limits>

#include "scheduler/model/units.hpp"

namespace replay {

/// The weights alpha of the price, section 4.1, requirement XV; each 0..1.
struct SlackWeights {
  double utilisation = 1;  ///< alpha_u
  double time = 1;         ///< alpha_t
  double priority = 1;     ///< alpha_p
  double fairness = 1;     ///< alpha_f
};

/// A job's priority and slack. A job beyond its user's quota (political priority -infinity) has p = 0 and infinite
/// slack, or no slack if SF = 0. Slacks are whole microseconds: a job may be delayed by all of its slack.
struct SlackOf {
  double p = 0;          ///< j.p, 0..1
  double s = 0;          ///< j.s, seconds left
  double s0 = 0;         ///< j.s_0, seconds at first
  bool in_quota = true;  ///< false: it runs only where it delays no other job
};

inline constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// Section 4.3: p = (UP + PP + SP) / 3 and s = s0 = (1 - p) SF AWT. REQUIRES: priorities in 0..1, political also
/// -infinity.
[[nodiscard]] SlackOf slack_of(double user_priority, double political_priority, double scheduler_priority,
                               double slack_factor, double average_wait_s);
/// Reduces the job's slack by `delay`; a negative delay (the job moves up) adds to it.
void use_slack(SlackOf& job, Duration delay);
/// SP of a job that is planned `wait_s` from now: 0 if it does not wait, 1 if it waits twice the average or more.
[[nodiscard]] double scheduler_priority(double wait_s, double average_wait_s);

/// (j.te - CT)^alpha_t n^alpha_u: the price of the new job's own wait.
[[nodiscard]] double price_of_waiting(CoreCount n, double wait_s, const SlackWeights& weights);

/// cost(j_i, t_i, j) of section 4.4, of moving job i by `delay_s` in favour of job j; negative if it moves up, 0 if it
/// stays, kImpossible beyond its slack. Ratios of slacks are floored at one second.
[[nodiscard]] double cost_of_moving(CoreCount n, const SlackOf& moved, double delay_s, const SlackOf& favoured,
                                    const SlackWeights& weights);

}  // namespace replay
