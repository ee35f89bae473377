#include "tests/oracle/fresh_plan.hpp"

#include <algorithm>
#include <tuple>

namespace replay::oracle {
std::vector<PlannedStart> fresh_plan(const RigidRun& run, QueueOrder order) {
  std::vector<std::size_t> queue = run.waiting();
  if (order != QueueOrder::kFcfs)
    std::ranges::stable_sort(queue, {}, [&](std::size_t i) {
      const Time estimate = run.job(i).estimate();
      return order == QueueOrder::kSjf ? estimate : -estimate;
    });
  Plan plan = run.plan_of_running();
  std::vector<PlannedStart> planned;
  for (const std::size_t next : queue) {
    const Job& job = run.job(next);
    const Time at = plan.earliest(job.processes, run.now(), job.estimate());
    plan.put(job.processes, at, at + job.estimate());
    planned.push_back({next, at});
  }
  return planned;
}

Schedule plan_at_every_event(const Workload& workload, QueueOrder order, PassRule pass) {
  RigidRun run{workload};
  return run.run(pass, [&](const Happened&) {
    std::vector<PlannedStart> planned = fresh_plan(run, order);
    start_what_is_due(run, planned);
    return next_planned_start(planned);
  });
}

void in_order_of_starts(const RigidRun& run, std::vector<PlannedStart>& planned) {
  std::ranges::sort(planned, {}, [&](const PlannedStart& p) {
    return std::tuple{p.at, run.job(p.job).submit, run.job(p.job).number};
  });
}

void shift_what_no_longer_fits(const RigidRun& run, std::vector<PlannedStart>& planned) {
  std::ranges::stable_sort(planned, {}, &PlannedStart::at);
  Plan plan = run.plan_of_running();
  for (auto& [next, at] : planned) {
    const Job& job = run.job(next);
    if (!plan.fits(job.processes, at, job.estimate())) at = plan.earliest(job.processes, run.now(), job.estimate());
    plan.put(job.processes, at, at + job.estimate());
  }
}

void forget_who_left(const RigidRun& run, std::vector<PlannedStart>& planned) {
  std::erase_if(planned, [&](const PlannedStart& p) { return std::ranges::count(run.waiting(), p.job) == 0; });
}

void start_what_is_due(RigidRun& run, std::vector<PlannedStart>& planned) {
  for (const auto& [next, at] : planned)
    if (at == run.now() && run.plan_of_running().free_at(at) >= run.job(next).processes) run.start(next);
  forget_who_left(run, planned);
}

Time next_planned_start(const std::vector<PlannedStart>& planned) {
  const auto first = std::ranges::min_element(planned, {}, &PlannedStart::at);
  return first == planned.end() ? kNever : first->at;
}

}  // namespace replay::oracle
