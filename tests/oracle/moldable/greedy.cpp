#include "tests/oracle/moldable/greedy.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

#include "tests/oracle/moldable/sizes.hpp"

namespace replay::oracle {
namespace {

// "Of its sizes <= free, the one with least T, then the smallest"; 0 if there is none.
int chosen_size(const Job& job, int free) {
  int chosen = 0;
  for (const int size : offered_sizes(job, free))
    if (chosen == 0 || time_at_size(job, job.estimate(), size) < time_at_size(job, job.estimate(), chosen))
      chosen = size;
  return chosen;
}

// An estimate that grows changes nothing here: no job is held back for the end of another.
Time time_on_cores(const Workload& workload, const Job& job, int size) {
  Time run_time = job.run_time;
  if (workload.cut_at_request && job.request > 0) run_time = std::min(run_time, job.request);
  run_time = time_at_size(job, run_time, size);
  if (workload.overrun == Overrun::kKill) run_time = std::min(run_time, time_at_size(job, job.estimate(), size));
  return run_time;
}

}  // namespace

Schedule greedy_moldable(const Workload& workload, GreedyOrder order) {
  const std::vector<Job>& jobs = workload.jobs;
  std::vector<std::size_t> waiting(jobs.size());  // those to come, too
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});

  Schedule schedule(jobs.size());
  std::vector<std::size_t> running;
  int free = workload.cores();
  for (Time now = 0; now != kNever;) {
    // Jobs of no length end at the instant of their start, and a second pass follows.
    std::erase_if(running, [&](std::size_t i) {
      if (schedule[i].end != now) return false;
      free += schedule[i].processes;
      return true;
    });
    std::ranges::sort(waiting, {}, [&](std::size_t i) {
      const int rank = order == GreedyOrder::kClass ? class_at(jobs[i], workload.cores(), now, Aging::kTop) : 0;
      return std::tuple{rank, jobs[i].submit, jobs[i].number};
    });
    for (const std::size_t i : std::vector<std::size_t>{waiting}) {
      const int size = jobs[i].submit <= now ? chosen_size(jobs[i], free) : 0;
      if (size == 0) continue;
      free -= size;
      schedule[i] = {now, now + time_on_cores(workload, jobs[i], size), {}, size};
      running.push_back(i);
      std::erase(waiting, i);
    }
    const Time passed = now;
    now = kNever;
    for (const std::size_t i : running) now = std::min(now, schedule[i].end);
    for (const std::size_t i : waiting)
      if (jobs[i].submit > passed) now = std::min(now, jobs[i].submit);
  }
  return schedule;
}

}  // namespace replay::oracle
