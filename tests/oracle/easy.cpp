// The oracles of EASY and priority-easy. Sources: readings 1 (EASY), archive's reference schedules (golden rules 1 to
// 4), slack paper 3.1.

#include "tests/oracle/easy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace replay::oracle {
namespace {

// "Start jobs from the head while they fit."
void start_from_the_head(RigidRun& run, std::vector<std::size_t>& queue) {
  while (!queue.empty() && run.plan_of_running().free_at(run.now()) >= run.job(queue.front()).processes) {
    run.start(queue.front());
    queue.erase(queue.begin());
  }
}

// "Start job k if it fits now and (now + e_k <= shadow or n_k <= extra); when it ends after the shadow time,
// extra -= n_k."
void backfill_behind_the_head(RigidRun& run, std::vector<std::size_t> queue) {
  const Job& head = run.job(queue.front());
  queue.erase(queue.begin());
  const Plan plan = run.plan_of_running();
  const Time shadow = plan.earliest(head.processes, run.now(), head.estimate());
  int extra = plan.free_at(shadow) - head.processes;
  for (const std::size_t candidate : queue) {
    const Job& job = run.job(candidate);
    const bool over_by_then = run.now() + job.estimate() <= shadow;
    if (run.plan_of_running().free_at(run.now()) < job.processes) continue;
    if (!over_by_then && job.processes > extra) continue;
    run.start(candidate);
    if (!over_by_then) extra -= job.processes;
  }
}

void in_backfill_order(const RigidRun& run, BackfillOrder order, std::vector<std::size_t>& jobs) {
  if (order == BackfillOrder::kShortest)
    std::ranges::stable_sort(jobs, {}, [&](std::size_t i) { return run.job(i).estimate(); });
  if (order == BackfillOrder::kNarrowest)
    std::ranges::stable_sort(jobs, {}, [&](std::size_t i) { return run.job(i).processes; });
}

// Several reservations need a plan. A job that can start within it does, and no longer counts as waiting.
void backfill_behind_plan(RigidRun& run, std::vector<std::size_t> queue, const Easy& rules) {
  Plan plan = run.plan_of_running();
  int reserved = 0;
  while (!queue.empty() && reserved < rules.reservations) {
    const std::size_t next = queue.front();
    queue.erase(queue.begin());
    const Job& job = run.job(next);
    const Time at = plan.earliest(job.processes, run.now(), job.estimate());
    plan.put(job.processes, at, at + job.estimate());
    if (at == run.now())
      run.start(next);
    else
      ++reserved;
  }
  in_backfill_order(run, rules.order, queue);
  for (const std::size_t candidate : queue) {
    const Job& job = run.job(candidate);
    if (!plan.fits(job.processes, run.now(), job.estimate())) continue;
    plan.put(job.processes, run.now(), run.now() + job.estimate());
    run.start(candidate);
  }
}

// "Every single event is followed by its own scheduling pass (a submission only if the free processors suffice for that
// job)."
bool asks_for_pass(const RigidRun& run, PassRule rule, const Happened& happened) {
  if (rule == PassRule::kInstant || happened.submitted.empty() || happened.nodes_changed) return true;
  return run.job(happened.submitted.front()).processes <= run.plan_of_running().free_at(run.now());
}

}  // namespace

void easy_pass(RigidRun& run, std::vector<std::size_t> queue) {
  start_from_the_head(run, queue);
  if (!queue.empty()) backfill_behind_the_head(run, std::move(queue));
}

// Classes follow from what the trace says, whatever size has been chosen.
Time priority_pass(RigidRun& run, Aging aging) {
  std::vector<std::size_t> queue = run.waiting();
  std::ranges::stable_sort(queue, {},
                           [&](std::size_t i) { return class_at(run.as_submitted(i), run.cores(), run.now(), aging); });
  easy_pass(run, std::move(queue));
  Time next = kNever;
  for (const std::size_t waiting : run.waiting())
    next = std::min(next, next_promotion(run.as_submitted(waiting), run.cores(), run.now(), aging));
  return next;
}

Schedule easy(const Workload& workload, const Easy& rules) {
  RigidRun run{workload};
  return run.run(rules.pass, [&](const Happened& happened) {
    if (!asks_for_pass(run, rules.pass, happened)) return kNever;
    std::vector<std::size_t> queue = run.waiting();
    start_from_the_head(run, queue);
    if (queue.empty()) return kNever;
    if (rules.reservations == 1) {
      std::vector<std::size_t> rest(queue.begin() + 1, queue.end());
      in_backfill_order(run, rules.order, rest);
      std::ranges::copy(rest, queue.begin() + 1);
      backfill_behind_the_head(run, queue);
    } else {
      backfill_behind_plan(run, queue, rules);
    }
    return kNever;
  });
}

Schedule priority_easy(const Workload& workload, Aging aging) {
  RigidRun run{workload};
  return run.run(PassRule::kInstant, [&](const Happened&) { return priority_pass(run, aging); });
}

}  // namespace replay::oracle
