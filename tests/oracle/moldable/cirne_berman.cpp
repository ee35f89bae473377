// The oracle of cirne-berman. Sources: SCOJO-P, section 3; readings 3 and 8 (Cirne-Berman).
#include "tests/oracle/moldable/cirne_berman.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>
#include <vector>

#include "tests/oracle/conservative.hpp"
#include "tests/oracle/easy.hpp"
#include "tests/oracle/rigid_run.hpp"

namespace replay::oracle {
namespace {

std::vector<int> sizes_to_try(const Job& job, int cores, Most most) {
  std::vector<int> sizes = offered_sizes(job, cores);
  if (most == Most::kOptimum)
    while (sizes.size() > 1 && sizes.back() > optimum(job, cores)) sizes.pop_back();
  return sizes;
}

// "Least response, then smallest size." `start` tells when the job would start, once it has been replaced.
void choose_size(RigidRun& run, std::size_t index, Most most, const std::function<Time()>& start) {
  const Job& submitted = run.as_submitted(index);
  if (!can_choose(submitted)) return;
  std::tuple<Time, int> best{kNever, 0};
  for (const int size : sizes_to_try(submitted, run.cores(), most)) {
    run.replace(index, at_size(submitted, size));
    best = std::min(best, std::tuple{start() + run.job(index).estimate(), size});
  }
  run.replace(index, at_size(submitted, std::get<int>(best)));
}

Time start_over_easy(const RigidRun& run, std::size_t index, const std::vector<std::size_t>& not_there, Aging aging) {
  RigidRun trial = run.as_estimated(not_there);
  while (true) {
    const Time promotion = priority_pass(trial, aging);
    if (std::ranges::count(trial.waiting(), index) == 0) return trial.now();
    trial.go_to_next_instant(promotion);
  }
}

Schedule over_easy(RigidRun& run, const CirneBerman& rules) {
  return run.run(PassRule::kInstant, [&](const Happened& happened) {
    std::vector<std::size_t> not_there = happened.submitted;
    std::ranges::sort(not_there, {}, [&](std::size_t i) { return run.job(i).number; });
    while (!not_there.empty()) {
      const std::size_t next = not_there.front();
      not_there.erase(not_there.begin());
      choose_size(run, next, rules.most, [&] { return start_over_easy(run, next, not_there, rules.aging); });
    }
    return priority_pass(run, rules.aging);
  });
}

}  // namespace

Schedule cirne_berman(const Workload& workload, const CirneBerman& rules) {
  RigidRun run{workload};
  const auto by_earliest_hole = [&](std::size_t index, const std::function<Time()>& hole) {
    choose_size(run, index, rules.most, hole);
  };
  Schedule schedule = rules.over == Over::kEasy ? over_easy(run, rules)
                                                : conservative(run, {.pass = PassRule::kInstant}, by_earliest_hole);
  for (std::size_t i = 0; i < schedule.size(); ++i) schedule[i].processes = run.job(i).processes;
  return schedule;
}

}  // namespace replay::oracle
