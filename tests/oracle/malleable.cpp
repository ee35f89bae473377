// The oracle of fcfs-malleable and easy-malleable. It goes from instant to instant; at each: ends, submissions, used-up
// estimates, then one pass.
#include "tests/oracle/malleable.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

namespace replay::oracle {
namespace {

double slowdown(TimeModel model, const Job& job, int level) {
  if (level == 1) return 1;
  const double u = job.cpu_use;
  const double ov = job.network_overhead;
  switch (model) {
    case TimeModel::kIsolated: return std::max(1.0, level * u);
    case TimeModel::kUtreraAdditive: return std::max(1.0, level * u + ov);
    case TimeModel::kUtrera: break;
  }
  return u + ov == 0 ? 1 : std::max(1.0, (level * u + ov) / (u + ov));
}

// Work at a rate: what is left of it at an instant, and its end, rounded up.
struct Work {
  double left = 0;
  Time as_of = 0;
  double rate = 1;

  [[nodiscard]] double left_at(Time now) const { return left - static_cast<double>(now - as_of) * rate; }
  [[nodiscard]] Time end() const { return as_of + static_cast<Time>(std::ceil(left / rate)); }
  [[nodiscard]] Work from(Time now, double new_rate) const {
    return new_rate == rate ? *this : Work{left_at(now), now, new_rate};
  }
};

struct MalleableJob {
  const Job* job;
  std::size_t index;  // in the workload
  Time started;
  std::vector<int> processes;  // on each node
  std::vector<int> cores;      // on each node
  int level;                   // most processes on a core
  Work work;                   // until its true end
  Work budget;                 // until its estimate is used up
  bool is_new = true;          // started in this pass, which will set `work` and `budget`
};

int ceil_div(int a, int b) { return (a + b - 1) / b; }

class MalleableRun {
 public:
  MalleableRun(const Workload& workload, const Malleable& rules)
      : workload_(workload),
        rules_(rules),
        free_(static_cast<std::size_t>(workload.nodes), workload.cores_per_node),
        schedule_(workload.jobs.size()) {
    if (workload.flat) free_.assign(1, workload.cores());
    node_size_ = free_.front();
  }

  Schedule all() {
    std::vector<std::size_t> coming(workload_.jobs.size());
    std::iota(coming.begin(), coming.end(), std::size_t{0});
    const auto& jobs = workload_.jobs;
    std::ranges::sort(coming, {}, [&](std::size_t i) { return std::pair{jobs[i].submit, jobs[i].number}; });
    while (!coming.empty() || !running_.empty()) {
      now_ = kNever;
      if (!coming.empty()) now_ = jobs[coming.front()].submit;
      for (const MalleableJob& r : running_) now_ = std::min({now_, r.work.end(), r.budget.end()});
      end_those_that(&MalleableJob::work);
      while (!coming.empty() && jobs[coming.front()].submit == now_) {
        waiting_.push_back(coming.front());
        coming.erase(coming.begin());
      }
      if (workload_.overrun == Overrun::kKill) end_those_that(&MalleableJob::budget);
      for (MalleableJob& r : running_)
        if (r.budget.end() <= now_)
          r.budget.left += static_cast<double>(std::max(r.job->estimate() / 10, 60 * kSecond));
      pass();
    }
    return schedule_;
  }

 private:
  // Ends the running jobs with this work (or budget) used up now.
  void end_those_that(Work MalleableJob::*what) {
    for (std::size_t i = 0; i < running_.size();) {
      const MalleableJob& r = running_[i];
      if ((r.*what).end() > now_) {
        ++i;
        continue;
      }
      schedule_[r.index].end = now_;
      give_back(r.cores);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void give_back(const std::vector<int>& cores) {
    for (std::size_t n = 0; n < free_.size(); ++n) free_[n] += cores[n];
  }

  [[nodiscard]] int most(const Job& job) const { return job.can_shrink() ? rules_.max_mpl : 1; }

  // The processes on each node if the job starts at this level on the cores in `free`; nothing if it does not fit.
  [[nodiscard]] std::optional<std::vector<int>> placed(const Job& job, int level, const std::vector<int>& free) const {
    std::vector<std::size_t> order(free.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t n) { return free[n]; });
    std::vector<int> processes(free.size(), 0);
    int left = job.processes;
    for (const std::size_t n : order) {
      processes[n] = std::min({left, free[n] * level, node_size_});
      left -= processes[n];
    }
    if (left > 0) return std::nullopt;
    return processes;
  }
  [[nodiscard]] bool fits(const Job& job, int level, const std::vector<int>& free) const {
    return placed(job, std::min(level, most(job)), free).has_value();
  }

  static std::vector<int> cores_at(const std::vector<int>& processes, int level) {
    std::vector<int> cores;
    for (const int p : processes) cores.push_back(ceil_div(p, level));
    return cores;
  }

  void hold(MalleableJob& r, const std::vector<int>& cores) {
    give_back(r.cores);
    r.cores = cores;
    r.level = 1;
    for (std::size_t n = 0; n < cores.size(); ++n) {
      free_[n] -= cores[n];
      if (cores[n] > 0) r.level = std::max(r.level, ceil_div(r.processes[n], cores[n]));
    }
  }

  // Starts the job at the least level at which it fits into the free cores; false if there is none.
  bool start(std::size_t index) {
    const Job& job = workload_.jobs[index];
    for (int level = 1; level <= most(job); ++level) {
      const auto processes = placed(job, level, free_);
      if (!processes) continue;
      running_.push_back({&job, index, now_, *processes, std::vector<int>(free_.size(), 0), 1, {}, {}});
      hold(running_.back(), cores_at(*processes, level));
      std::erase(waiting_, index);
      return true;
    }
    return false;
  }

  // Positions in running_, sorted by the criterion; ties keep the order of starts.
  [[nodiscard]] std::vector<std::size_t> by_criterion() const {
    std::vector<std::size_t> order(running_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const Job& job = *running_[i].job;
      switch (rules_.criterion) {
        case Criterion::kLeastCpuUse: return job.cpu_use;
        case Criterion::kLongest: return -static_cast<double>(job.estimate());
        case Criterion::kShortest: return static_cast<double>(job.estimate());
        case Criterion::kOldest: break;
      }
      return 0.0;
    });
    return order;
  }

  // Rule 3: shrinks as few jobs as needed for `job` to fit, or none.
  bool make_room(const Job& job) {
    std::vector<int> free = free_;
    std::vector<std::vector<int>> cores;
    for (const MalleableJob& r : running_) cores.push_back(r.cores);
    const auto enough = [&](int level) {
      if (!fits(job, level, free)) return false;
      for (std::size_t i = 0; i < running_.size(); ++i) hold(running_[i], cores[i]);
      return true;
    };
    for (int level = 2; level <= rules_.max_mpl; ++level) {
      if (enough(level)) return true;
      for (const std::size_t i : by_criterion()) {
        const MalleableJob& victim = running_[i];
        if (!victim.job->can_shrink()) continue;
        const std::vector<int> fewer = cores_at(victim.processes, level);
        int gain = 0;
        for (std::size_t n = 0; n < free.size(); ++n) gain += std::max(0, cores[i][n] - fewer[n]);
        if (gain == 0) continue;
        for (std::size_t n = 0; n < free.size(); ++n) {
          free[n] += cores[i][n] - fewer[n];
          cores[i][n] = fewer[n];
        }
        if (enough(level)) return true;
      }
    }
    return false;
  }

  // Expands level by level, as long as the whole step fits.
  void expand(MalleableJob& r) {
    while (r.level > 1) {
      const std::vector<int> more = cores_at(r.processes, r.level - 1);
      for (std::size_t n = 0; n < more.size(); ++n)
        if (more[n] - r.cores[n] > free_[n]) return;
      hold(r, more);
    }
  }

  void pass() {
    std::vector<std::vector<int>> before;
    for (const MalleableJob& r : running_) before.push_back(r.cores);

    while (!waiting_.empty()) {
      const Job& head = workload_.jobs[waiting_.front()];
      if (start(waiting_.front())) continue;
      if (!make_room(head)) break;
      start(waiting_.front());
    }
    if (!waiting_.empty())
      for (MalleableJob& r : running_)
        if (r.started == now_) expand(r);
    if (!waiting_.empty() && rules_.backfill) backfill();
    if (waiting_.empty() || rules_.eager)
      for (const std::size_t i : by_criterion()) expand(running_[i]);

    for (std::size_t i = 0; i < running_.size(); ++i) {
      MalleableJob& r = running_[i];
      const double rate = 1.0 / slowdown(rules_.model, *r.job, r.level);
      Span& span = schedule_[r.index];
      if (r.is_new) {
        r.is_new = false;
        span.start = now_;
        r.work = {static_cast<double>(r.job->run_time), now_, rate};
        if (workload_.cut_at_request) r.work.left = static_cast<double>(std::min(r.job->run_time, r.job->estimate()));
        r.budget = {static_cast<double>(r.job->estimate()), now_, rate};
      } else if (before[i] != r.cores) {
        r.work = r.work.from(now_, rate);
        r.budget = r.budget.from(now_, rate);
      } else {
        continue;
      }
      span.cores.push_back({now_, r.cores});
    }
  }

  // ---------------------------------------------------------------------------------------------- easy-malleable

  // The rate at which a job at this level is expected to use up its estimate.
  [[nodiscard]] double expected_rate(const Job& job, int level) const {
    return rules_.cautious ? 1.0 / level : 1.0 / slowdown(rules_.model, job, level);
  }

  [[nodiscard]] Time expected_end(const MalleableJob& r) const {
    const double rate = expected_rate(*r.job, r.level);
    if (r.is_new) return Work{static_cast<double>(r.job->estimate()), now_, rate}.end();
    return r.budget.from(now_, rate).end();
  }

  // The free cores of each node at an instant if every shrinkable job were shrunk.
  [[nodiscard]] std::vector<int> could_be_free(Time at) const {
    std::vector<int> free = free_;
    for (const MalleableJob& r : running_) {
      const std::vector<int> least = cores_at(r.processes, most(*r.job));
      for (std::size_t n = 0; n < free.size(); ++n)
        free[n] += expected_end(r) <= at ? r.cores[n] : r.cores[n] - least[n];
    }
    return free;
  }

  void backfill() {
    const Job& head = workload_.jobs[waiting_.front()];
    Time shadow = kNever;
    for (const MalleableJob& r : running_) {
      const Time end = expected_end(r);
      if (end < shadow && fits(head, most(head), could_be_free(end))) shadow = end;
    }
    std::vector<int> then = could_be_free(shadow);

    for (const std::size_t index : std::vector<std::size_t>(waiting_.begin() + 1, waiting_.end())) {
      const Job& job = workload_.jobs[index];
      for (int level = 1; level <= most(job); ++level) {
        const auto processes = placed(job, level, free_);
        if (!processes) continue;
        MalleableJob candidate{&job, index, now_, *processes, cores_at(*processes, level), 1, {}, {}};
        for (std::size_t n = 0; n < free_.size(); ++n)
          if (candidate.cores[n] > 0)
            candidate.level = std::max(candidate.level, ceil_div((*processes)[n], candidate.cores[n]));
        const bool is_over =
            Work{static_cast<double>(job.estimate()), now_, expected_rate(job, candidate.level)}.end() <= shadow;
        std::vector<int> rest = then;
        const std::vector<int> least = cores_at(*processes, most(job));
        for (std::size_t n = 0; n < rest.size(); ++n) rest[n] -= least[n];
        if (is_over || fits(head, most(head), rest)) {
          if (!is_over) then = rest;
          start(index);
        }
        break;
      }
    }
  }

  const Workload& workload_;
  const Malleable& rules_;
  std::vector<int> free_;  // cores of each node; a pool is one node
  int node_size_ = 0;
  Time now_ = 0;
  std::vector<std::size_t> waiting_;   // by (submit, number), as positions in the workload
  std::vector<MalleableJob> running_;  // by start
  Schedule schedule_;
};

}  // namespace

Schedule malleable(const Workload& workload, const Malleable& rules) { return MalleableRun{workload, rules}.all(); }

}  // namespace replay::oracle
