// The oracle of dynP. Source: readings 5 and 7. All scores are exact: half of the steps are ties, and a rounded sum
// would decide them.

#include "tests/oracle/dynp.hpp"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <vector>

namespace replay::oracle {
namespace {

using Score = boost::multiprecision::cpp_rational;

constexpr std::array kOrders{QueueOrder::kFcfs, QueueOrder::kSjf, QueueOrder::kLjf};

using Scores = std::array<Score, kOrders.size()>;
Score& of(Scores& scores, QueueOrder order) { return scores[static_cast<std::size_t>(order)]; }

// The contribution of one waiting job to a metric. Divisors that all three plans share are left out.
Score job_score(const Job& job, Time start, Metric metric) {
  const Time response = start - job.submit + job.estimate();
  switch (metric) {
    case Metric::kSldwa: return Score{response} * job.processes;
    case Metric::kResponse: return Score{response};
    case Metric::kSlowdown: return Score{response} / job.estimate();
    default: return std::max(Score{response} / std::max(job.estimate(), 60 * kSecond), Score{1});
  }
}

// The score of a plan. Lower is better, except for utilisation: work in the plan / (P * (last planned end - now)).
Score plan_score(const RigidRun& run, const std::vector<PlannedStart>& planned, Metric metric) {
  Score sum = 0;
  if (metric != Metric::kUtilisation) {
    for (const auto& [index, at] : planned) sum += job_score(run.job(index), at, metric);
    return sum;
  }
  Time last = 0;
  for (const auto& [index, at] : planned) {
    sum += Score{run.job(index).estimate()} * run.job(index).processes;
    last = std::max(last, at + run.job(index).estimate());
  }
  return sum / (Score{last - run.now()} * run.cores());
}

// Compares the scores of the three plans and picks an order.
struct Decision {
  Scores scores;
  bool higher_is_better;

  bool no_worse(QueueOrder a, QueueOrder b) {
    return higher_is_better ? of(scores, a) >= of(scores, b) : of(scores, a) <= of(scores, b);
  }
  bool is_best(QueueOrder order) {
    return std::ranges::all_of(kOrders, [&](QueueOrder other) { return no_worse(order, other); });
  }
  QueueOrder simple() {
    return *std::ranges::find_if(kOrders, [&](QueueOrder order) { return is_best(order); });
  }
  QueueOrder advanced(QueueOrder current) { return is_best(current) ? current : simple(); }

  bool is_clearly_beaten(QueueOrder preferred, int threshold_percent) {
    return std::ranges::any_of(kOrders, [&](QueueOrder other) {
      const Score gain = higher_is_better ? Score{of(scores, other) - of(scores, preferred)}
                                          : Score{of(scores, preferred) - of(scores, other)};
      return gain * 100 > of(scores, preferred) * threshold_percent;
    });
  }
  // Keeps the preferred order, or returns to it when it is no worse than the current one, unless another order beats it
  // by more than the threshold; then decides as advanced().
  QueueOrder preferred(QueueOrder current, const Dynp& rules) {
    const bool wanted = current == rules.preferred || no_worse(rules.preferred, current);
    if (wanted && !is_clearly_beaten(rules.preferred, rules.threshold_percent)) return rules.preferred;
    return advanced(current);
  }
};

QueueOrder decide(const RigidRun& run, QueueOrder current, const Dynp& rules) {
  Decision decision{{}, rules.metric == Metric::kUtilisation};
  for (const QueueOrder order : kOrders)
    of(decision.scores, order) = plan_score(run, fresh_plan(run, order), rules.metric);
  switch (rules.decider) {
    case Decider::kSimple: return decision.simple();
    case Decider::kAdvanced: return decision.advanced(current);
    default: return decision.preferred(current, rules);
  }
}

}  // namespace

Schedule dynp(const Workload& workload, const Dynp& rules) {
  RigidRun run{workload};
  QueueOrder current = rules.decider == Decider::kPreferred ? rules.preferred : QueueOrder::kFcfs;
  std::vector<PlannedStart> planned;
  return run.run(PassRule::kInstant, [&](const Happened& happened) {
    forget_who_left(run, planned);
    const bool step = !happened.ended.empty() || !happened.left.empty() || !happened.submitted.empty();
    if (step && !run.waiting().empty()) {
      if (rules.step == Step::kAll || !happened.submitted.empty()) current = decide(run, current, rules);
      planned = fresh_plan(run, current);
    } else if (happened.is_longer) {
      shift_what_no_longer_fits(run, planned);
    }
    start_what_is_due(run, planned);
    return next_planned_start(planned);
  });
}

}  // namespace replay::oracle
