// The oracle of conservative backfilling. Source: readings 1 (Conservative); slack paper 3.2 for the compression in the
// order of planned starts.

#include "tests/oracle/conservative.hpp"

#include <algorithm>
#include <vector>

#include "tests/oracle/fresh_plan.hpp"

namespace replay::oracle {
namespace {

Plan plan_of(const RigidRun& run, const std::vector<PlannedStart>& planned) {
  Plan plan = run.plan_of_running();
  for (const auto& [index, at] : planned) plan.put(run.job(index).processes, at, at + run.job(index).estimate());
  return plan;
}

// "Lifted out one by one and put back at their earliest hole", in the order of submission.
void compress_by_arrival(const RigidRun& run, std::vector<PlannedStart>& planned) {
  Plan plan = plan_of(run, planned);
  for (const std::size_t next : run.waiting()) {
    const auto found = std::ranges::find(planned, next, &PlannedStart::job);
    if (found == planned.end()) continue;  // submitted in this pass
    const Job& job = run.job(next);
    plan.lift(job.processes, found->at, found->at + job.estimate());
    found->at = plan.earliest(job.processes, run.now(), job.estimate());
    plan.put(job.processes, found->at, found->at + job.estimate());
  }
}

// "All removed, re-inserted in the order of planned starts."
void put_back_in_start_order(const RigidRun& run, std::vector<PlannedStart>& planned) {
  in_order_of_starts(run, planned);
  Plan plan = run.plan_of_running();
  for (auto& [next, at] : planned) {
    const Job& job = run.job(next);
    at = plan.earliest(job.processes, run.now(), job.estimate());
    plan.put(job.processes, at, at + job.estimate());
  }
}

void compress(const RigidRun& run, std::vector<PlannedStart>& planned, Compress how) {
  if (how == Compress::kArrival)
    compress_by_arrival(run, planned);
  else
    put_back_in_start_order(run, planned);
}

bool calls_for_compression(const Happened& happened, CompressAt at, const std::vector<PlannedStart>& planned) {
  const auto is_planned = [&](std::size_t job) { return std::ranges::count(planned, job, &PlannedStart::job) > 0; };
  if (at == CompressAt::kAllEnds) return !happened.ended.empty() || !happened.left.empty();
  return std::ranges::any_of(happened.ended, &Happened::End::early) || std::ranges::any_of(happened.left, is_planned);
}

}  // namespace

Schedule conservative(const Workload& workload, const Conservative& rules) {
  RigidRun run{workload};
  return conservative(run, rules, [](std::size_t, const std::function<Time()>&) {});
}

Schedule conservative(RigidRun& run, const Conservative& rules, const BeforeItsHole& choose) {
  std::vector<PlannedStart> planned;
  return run.run(rules.pass, [&](const Happened& happened) {
    const bool compresses = calls_for_compression(happened, rules.at, planned);
    forget_who_left(run, planned);
    // "The profile shifts what no longer fits, in start order": so no job is delayed by a job that starts after it; a
    // later job gets what the earlier ones leave.
    if (happened.is_longer || happened.is_late || happened.nodes_changed)
      put_back_in_start_order(run, planned);
    else if (compresses)
      compress(run, planned, rules.compress);
    for (const std::size_t next : run.waiting()) {
      if (std::ranges::count(happened.submitted, next) == 0) continue;
      const auto hole = [&] {
        return plan_of(run, planned).earliest(run.job(next).processes, run.now(), run.job(next).estimate());
      };
      choose(next, hole);
      planned.push_back({next, hole()});
    }
    in_order_of_starts(run, planned);
    start_what_is_due(run, planned);
    return next_planned_start(planned);
  });
}

}  // namespace replay::oracle
