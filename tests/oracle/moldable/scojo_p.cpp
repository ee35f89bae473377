// The oracle of scojo-p. Sources: SCOJO-P, 4.3 and 4.4; readings 3 (the pass) and 8 (SCOJO-P).
#include "tests/oracle/moldable/scojo_p.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include "tests/oracle/moldable/forecast.hpp"
#include "tests/oracle/rigid_run.hpp"

namespace replay::oracle {
namespace {

using Real = long double;

constexpr int kMostTrials = 50;

class ScojoPRun {
 public:
  ScojoPRun(const Workload& workload, const ScojoP& rules)
      : workload_(workload), rules_(rules), run_(workload), guaranteed_(workload.jobs.size(), 0) {}

  Schedule all() {
    Schedule schedule = run_.run(PassRule::kInstant, [&](const Happened&) { return pass(); });
    for (std::size_t i = 0; i < schedule.size(); ++i) schedule[i].processes = run_.job(i).processes;
    return schedule;
  }

 private:
  [[nodiscard]] const Job& job(std::size_t index) const { return workload_.jobs[index]; }
  [[nodiscard]] int cores() const { return workload_.cores(); }

  [[nodiscard]] Time estimate(std::size_t index, int size) const {
    return time_at_size(job(index), job(index).estimate(), size);
  }
  // clamp(round(modifier * N))
  [[nodiscard]] int resized(std::size_t index, Real modifier) const {
    if (!can_choose(job(index))) return job(index).processes;
    return offered_size(job(index), cores(), modifier * static_cast<Real>(optimum(job(index), cores())),
                        rules_.tolerance);
  }

  [[nodiscard]] std::vector<std::size_t> queue() const {
    std::vector<std::size_t> waiting = run_.waiting();
    std::ranges::sort(waiting, {}, [&](std::size_t i) {
      return std::tuple{class_at(job(i), cores(), run_.now(), rules_.aging), job(i).submit, job(i).number};
    });
    return waiting;
  }

  // The bracket of the rule.
  [[nodiscard]] Real load(std::size_t head, Real modifier) const {
    const int size = resized(head, modifier);
    const Time length = estimate(head, size);
    Real work = static_cast<Real>(size) * static_cast<Real>(length);
    for (const Running& running : run_.planned_running())
      work += static_cast<Real>(std::min(running.estimated_end - run_.now(), length)) *
              static_cast<Real>(run_.job(running.job).processes);
    for (const std::size_t other : run_.waiting()) {
      if (other == head) continue;
      const int others_size = std::max(guaranteed_[other], resized(other, modifier));
      work += static_cast<Real>(std::min(estimate(other, others_size), length)) * static_cast<Real>(others_size);
    }
    if (rules_.predict == Predict::kPast) work += expected_work(workload_, run_.now(), modifier, length);
    return work / (static_cast<Real>(cores()) * static_cast<Real>(length));
  }

  [[nodiscard]] Real best_modifier(std::size_t head) const {
    Real modifier = 1;
    Real best = 1;
    Real nearest = std::numeric_limits<Real>::infinity();
    int bad = 0;
    for (int trial = 0; trial < kMostTrials; ++trial) {
      const Real found = load(head, modifier);
      const Real distance = std::fabs(found - rules_.ideal);
      if (distance < nearest - rules_.tolerance) {
        nearest = distance;
        best = modifier;
        bad = 0;
      } else if (++bad == rules_.max_bad) {
        break;
      }
      if (distance <= rules_.delta + rules_.tolerance) break;
      modifier *= rules_.ideal / found;
    }
    return best;
  }

  void start(std::size_t index, int size) {
    run_.replace(index, at_size(job(index), size));
    run_.start(index);
  }

  // False if the head has to wait.
  bool try_head(std::size_t head, Real modifier) {
    const std::vector<int> offered = offered_sizes(job(head), cores());
    const int target = std::max(guaranteed_[head], resized(head, modifier));
    const int low = std::max(offered.front(), guaranteed_[head]);
    int free = run_.idle_cores();
    if (free >= target) {
      start(head, target);
      return true;
    }
    std::vector<Running> running = run_.planned_running();
    std::ranges::sort(running, {}, &Running::estimated_end);
    std::vector<std::tuple<Time, Time, int>> options;  // response from now, start, size
    const auto consider = [&](Time at) {
      if (free < low) return;
      const int size = offered_size(job(head), cores(), std::min(target, free));
      options.emplace_back(at - run_.now() + estimate(head, size), at, size);
    };
    consider(run_.now());
    for (std::size_t i = 0; i < running.size() && free < target;) {
      const Time at = running[i].estimated_end;
      for (; i < running.size() && running[i].estimated_end == at; ++i) free += run_.job(running[i].job).processes;
      consider(at);
    }
    const auto [response, at, size] = *std::ranges::min_element(options);
    if (at == run_.now()) {
      start(head, size);
      return true;
    }
    guaranteed_[head] = size;
    shadow_ = at;
    extra_ = run_.plan_of_running().free_at(at) - size;
    return false;
  }

  void backfill(const std::vector<std::size_t>& behind, Real modifier) {
    for (const std::size_t candidate : behind) {
      const int size = std::max(guaranteed_[candidate], resized(candidate, modifier));
      const bool is_over_by_then = run_.now() + estimate(candidate, size) <= shadow_;
      if (size > run_.idle_cores() || (!is_over_by_then && size > extra_)) continue;
      start(candidate, size);
      if (!is_over_by_then) extra_ -= size;
    }
  }

  Time pass() {
    for (std::vector<std::size_t> waiting = queue(); !waiting.empty(); waiting.erase(waiting.begin())) {
      const Real modifier = best_modifier(waiting.front());
      if (try_head(waiting.front(), modifier)) continue;
      backfill({waiting.begin() + 1, waiting.end()}, modifier);
      break;
    }
    Time next = kNever;
    for (const std::size_t waiting : run_.waiting())
      next = std::min(next, next_promotion(job(waiting), cores(), run_.now(), rules_.aging));
    return next;
  }

  const Workload& workload_;
  const ScojoP& rules_;
  RigidRun run_;
  std::vector<int> guaranteed_;
  Time shadow_ = kNever;
  int extra_ = 0;
};

}  // namespace

Schedule scojo_p(const Workload& workload, const ScojoP& rules) { return ScojoPRun{workload, rules}.all(); }

}  // namespace replay::oracle
