// The oracle of fcfs-malleable and easy-malleable. It goes from instant to instant; at each: ends, submissions, used-up
// estimates, then one pass.
#include "tests/oracle/malleable.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "tests/oracle/nodes.hpp"
#include "tests/oracle/work.hpp"

namespace replay::oracle {
namespace {

// `demand`: what other jobs add to the load of its busiest core.
double slowdown(TimeModel model, const Job& job, int level, double demand = 0) {
  if (level == 1 && demand <= 0) return 1;
  const double u = job.cpu_use;
  const double ov = job.network_overhead;
  switch (model) {
    case TimeModel::kIsolated: return std::max(1.0, level * u + demand);
    case TimeModel::kUtreraAdditive: return std::max(1.0, level * u + demand + ov);
    case TimeModel::kUtrera: break;
  }
  return u + ov == 0 ? 1 : std::max(1.0, (level * u + demand + ov) / (u + ov));
}

struct MalleableJob {
  const Job* job;
  std::size_t index;  // in the workload
  Time started;
  std::vector<int> processes;             // on each node
  std::vector<int> cores;                 // on each node
  int level;                              // most processes on a core
  std::vector<std::size_t> node_order{};  // of its ranks
  std::vector<std::vector<int>> names{};  // of its cores on each node
  Work work;                              // until its true end
  Work budget;                            // until its estimate is used up
  bool is_new = true;                     // started in this pass, which will set `work` and `budget`
};

int ceil_div(int a, int b) { return (a + b - 1) / b; }

class MalleableRun {
 public:
  MalleableRun(const Workload& workload, const Malleable& rules)
      : workload_(workload),
        rules_(rules),
        nodes_(workload),
        free_(nodes_.free({})),
        node_size_(free_.front()),
        schedule_(workload.jobs.size()) {}

  Schedule all() {
    std::vector<std::size_t> coming(workload_.jobs.size());
    std::iota(coming.begin(), coming.end(), std::size_t{0});
    in_queue_order(coming);
    Time last = 0;
    for (Time of_jobs; (now_ = std::min(of_jobs = next_of_jobs(coming), nodes_.next())) != kNever;) {
      last = now_;
      const bool changed = take_nodes();
      if (now_ < of_jobs && !changed) continue;  // a row that says what is so already
      end_those_that([&](const MalleableJob& r) { return r.work.end() <= now_; });
      while (!coming.empty() && workload_.jobs[coming.front()].submit == now_) {
        wait(coming.front());
        coming.erase(coming.begin());
      }
      if (workload_.overrun == Overrun::kKill)
        end_those_that([&](const MalleableJob& r) { return r.budget.end() <= now_; });
      for (MalleableJob& r : running_)
        if (r.budget.end() <= now_) r.budget.add(std::max(r.job->estimate() / 10, 60 * kSecond));
      pass();
    }
    for (const std::size_t held : held_) {
      schedule_[held].end = last;
      schedule_[held].ending = Ending::kCancelled;
    }
    return schedule_;
  }

 private:
  [[nodiscard]] Time next_of_jobs(const std::vector<std::size_t>& coming) const {
    Time next = coming.empty() ? kNever : workload_.jobs[coming.front()].submit;
    for (const MalleableJob& r : running_) next = std::min({next, r.work.end(), r.budget.end()});
    return next;
  }

  void in_queue_order(std::vector<std::size_t>& jobs) const {
    std::ranges::sort(jobs, {}, [&](std::size_t i) {
      return std::pair{workload_.jobs[i].submit, workload_.jobs[i].number};
    });
  }

  // In the queue, or held back.
  void wait(std::size_t index) {
    const bool fits = workload_.jobs[index].processes <= nodes_.ever();
    (fits ? waiting_ : held_).push_back(index);
    in_queue_order(waiting_);
  }

  bool take_nodes() {
    bool changed = false;
    while (const auto change = nodes_.take(now_)) {
      changed = true;
      if (!change->is_down) continue;
      for (const std::size_t index : end_those_that([&](const MalleableJob& r) { return r.cores[change->node] > 0; })) {
        Span& span = schedule_[index];
        if (!workload_.requeues_lost) {
          span.ending = Ending::kLost;
          continue;
        }
        span.lost.emplace_back(std::exchange(span.start, kNever), std::exchange(span.end, kNever));
        waiting_.push_back(index);
      }
    }
    for (const std::size_t index : std::exchange(held_, {})) waiting_.push_back(index);
    for (const std::size_t index : std::exchange(waiting_, {})) wait(index);
    find_free();
    return changed;
  }

  std::vector<std::size_t> end_those_that(const std::function<bool(const MalleableJob&)>& end_now) {
    std::vector<std::size_t> ended;
    std::erase_if(running_, [&](const MalleableJob& r) {
      if (!end_now(r)) return false;
      schedule_[r.index].end = now_;
      ended.push_back(r.index);
      return true;
    });
    find_free();
    return ended;
  }

  // Two jobs may be on a core.
  void find_free() {
    std::vector<Use> uses;
    for (const MalleableJob& r : running_) uses.push_back({r.cores, kNever});
    free_ = nodes_.free(uses);
    for (std::size_t n = 0; n < free_.size(); ++n)
      for (int core = 0; core < node_size_; ++core) free_[n] += nodes_.is_open(n) && jobs_on(n, core) > 1 ? 1 : 0;
  }

  void give_back(const std::vector<int>& cores) {
    for (std::size_t n = 0; n < free_.size(); ++n) free_[n] += cores[n];
  }

  // ------------------------------------------------------------------------------------------------- shared cores

  // Processes of a job on its i-th core of a node: as even as it goes, the first cores have one more.
  static int load(const MalleableJob& r, std::size_t node, std::size_t i) {
    const int cores = r.cores[node];
    return r.processes[node] / cores + (static_cast<int>(i) < r.processes[node] % cores ? 1 : 0);
  }

  [[nodiscard]] int jobs_on(std::size_t node, int core) const {
    return static_cast<int>(std::ranges::count_if(running_, [&](const MalleableJob& r) {
      return !r.names.empty() && std::ranges::find(r.names[node], core) != r.names[node].end();
    }));
  }
  [[nodiscard]] bool is_sharing(const MalleableJob& r) const {
    for (std::size_t n = 0; n < r.names.size(); ++n)
      for (const int core : r.names[n])
        if (jobs_on(n, core) > 1) return true;
    return false;
  }

  // "None is shrunk or expanded."
  [[nodiscard]] bool is_fixed(const MalleableJob& r) const { return is_sharing(r) || nodes_.has_closed(r.cores); }

  static double demand(const MalleableJob& r, const MalleableJob& other) {
    double most = 0;
    for (std::size_t n = 0; n < r.names.size(); ++n)
      for (std::size_t i = 0; i < r.names[n].size(); ++i)
        for (std::size_t k = 0; k < other.names[n].size(); ++k)
          if (r.names[n][i] == other.names[n][k])
            most = std::max(most, load(other, n, k) * other.job->cpu_use - (r.level - load(r, n, i)) * r.job->cpu_use);
    return most;
  }
  [[nodiscard]] double slowdown_now(const MalleableJob& r) const {
    double most = 0;
    for (const MalleableJob& other : running_)
      if (&other != &r) most = std::max(most, demand(r, other));
    return slowdown(rules_.model, *r.job, r.level, most);
  }

  // The first cores that it has, and then the lowest ones without a job.
  void name_cores(MalleableJob& r) const {
    r.names.resize(r.cores.size());
    for (std::size_t n = 0; n < r.cores.size(); ++n) {
      std::vector<int> names = r.names[n];
      names.resize(std::min(names.size(), static_cast<std::size_t>(r.cores[n])));
      for (int core = 0; static_cast<int>(names.size()) < r.cores[n]; ++core)
        if (jobs_on(n, core) == 0 && std::ranges::find(names, core) == names.end()) names.push_back(core);
      r.names[n] = names;
    }
  }

  static int level_of(const MalleableJob& r) {
    int level = 1;
    for (std::size_t n = 0; n < r.cores.size(); ++n)
      if (r.cores[n] > 0) level = std::max(level, ceil_div(r.processes[n], r.cores[n]));
    return level;
  }

  // The job at this level on cores that the host has for itself, if they suffice.
  [[nodiscard]] std::optional<MalleableJob> beside(const MalleableJob& host, std::size_t index, int level) const {
    const std::vector<int> none(free_.size(), 0);
    const Job& job = workload_.jobs[index];
    MalleableJob guest{&job, index, now_, none, none, 1, {}, std::vector<std::vector<int>>(free_.size()), {}, {}};
    int left = job.processes;
    for (const std::size_t n : host.node_order) {
      std::vector<int> seats;
      for (const int core : host.names[n])
        if (jobs_on(n, core) == 1) seats.push_back(core);
      const int here = std::min({left, node_size_, static_cast<int>(seats.size()) * level});
      if (here == 0) continue;
      guest.node_order.push_back(n);
      guest.processes[n] = here;
      guest.cores[n] = ceil_div(here, level);
      guest.names[n].assign(seats.begin(), seats.begin() + guest.cores[n]);
      left -= here;
    }
    if (left > 0) return std::nullopt;
    guest.level = level_of(guest);
    return guest;
  }

  bool start_beside(std::size_t index) {
    const Job& job = workload_.jobs[index];
    if (job.flexibility != Flexibility::kMalleable) return false;
    for (int level = 1; level <= most(job); ++level)
      for (const std::size_t i : by_criterion()) {
        const MalleableJob& host = running_[i];
        if (host.job->flexibility != Flexibility::kMalleable || host.level + level > rules_.max_mpl) continue;
        if (nodes_.has_closed(host.cores)) continue;
        const auto guest = beside(host, index, level);
        if (!guest) continue;
        const double worst = std::max(slowdown(rules_.model, *host.job, host.level, demand(host, *guest)),
                                      slowdown(rules_.model, job, guest->level, demand(*guest, host)));
        if (worst > rules_.max_slowdown + 1e-9) continue;
        running_.push_back(*guest);
        std::erase(waiting_, index);
        return true;
      }
    return false;
  }

  [[nodiscard]] int most(const Job& job) const { return job.can_shrink() ? rules_.max_mpl : 1; }

  static std::vector<std::size_t> by_free_cores(const std::vector<int>& free) {
    std::vector<std::size_t> order(free.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t n) { return free[n]; });
    return order;
  }

  // The processes on each node if the job starts at this level on the cores in `free`; nothing if it does not fit.
  [[nodiscard]] std::optional<std::vector<int>> placed(const Job& job, int level, const std::vector<int>& free) const {
    std::vector<int> processes(free.size(), 0);
    int left = job.processes;
    for (const std::size_t n : by_free_cores(free)) {
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
    r.level = level_of(r);
    for (std::size_t n = 0; n < cores.size(); ++n) free_[n] -= cores[n];
    if (rules_.share != Beside::kNever) name_cores(r);
  }

  // Starts the job at the least level at which it fits into the free cores; false if there is none.
  bool start(std::size_t index) {
    const Job& job = workload_.jobs[index];
    for (int level = 1; level <= most(job); ++level) {
      const auto processes = placed(job, level, free_);
      if (!processes) continue;
      running_.push_back({&job, index, now_, *processes, std::vector<int>(free_.size(), 0), 1, {}, {}, {}, {}});
      running_.back().node_order = by_free_cores(free_);
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
        if (!victim.job->can_shrink() || is_fixed(victim)) continue;
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
    if (is_fixed(r)) return;
    while (r.level > 1) {
      const std::vector<int> more = cores_at(r.processes, r.level - 1);
      for (std::size_t n = 0; n < more.size(); ++n)
        if (more[n] - r.cores[n] > free_[n]) return;
      hold(r, more);
    }
  }

  bool start_head() {
    const std::size_t head = waiting_.front();
    if (start(head)) return true;
    if (rules_.share == Beside::kFirst && start_beside(head)) return true;
    if (make_room(workload_.jobs[head])) return start(head);
    return rules_.share == Beside::kLast && start_beside(head);
  }

  void pass() {
    std::vector<std::vector<int>> before;
    for (const MalleableJob& r : running_) before.push_back(r.cores);

    do {
      while (!waiting_.empty() && start_head()) {
      }
      if (!waiting_.empty())
        for (MalleableJob& r : running_)
          if (r.started == now_) expand(r);
      if (!waiting_.empty() && rules_.backfill) backfill();
      if (waiting_.empty() || rules_.eager)
        for (const std::size_t i : by_criterion()) expand(running_[i]);
    } while (rules_.share != Beside::kNever && !waiting_.empty() && start_head());

    for (std::size_t i = 0; i < running_.size(); ++i) {
      MalleableJob& r = running_[i];
      const double slowdown = slowdown_now(r);
      Span& span = schedule_[r.index];
      if (r.is_new) {
        r.is_new = false;
        span.start = now_;
        const Time estimate = r.job->estimate(), run_time = r.job->run_time;
        r.work = {workload_.cut_at_request ? std::min(run_time, estimate) : run_time, now_, slowdown};
        r.budget = {estimate, now_, slowdown};
      } else {
        r.work.set_slowdown(now_, slowdown);  // its cores have changed, or a job has come to them or left them
        r.budget.set_slowdown(now_, slowdown);
        if (before[i] == r.cores) continue;
      }
      span.cores.push_back({now_, r.cores});
    }
  }

  // ---------------------------------------------------------------------------------------------- easy-malleable

  // The slowdown at which a job at this level is expected to use up its estimate.
  [[nodiscard]] double expected_slowdown(const Job& job, int level) const {
    return rules_.cautious ? level : slowdown(rules_.model, job, level);
  }

  [[nodiscard]] Time expected_end(const MalleableJob& r) const {
    Work rest = r.is_new ? Work{r.job->estimate(), now_, 0} : r.budget;
    rest.set_slowdown(now_, expected_slowdown(*r.job, r.level));
    return rest.end();
  }

  // The free cores of each node at an instant if every shrinkable job were shrunk.
  [[nodiscard]] std::vector<int> could_be_free(Time at) const {
    std::vector<int> free(free_.size(), node_size_);
    for (const MalleableJob& r : running_) {
      if (expected_end(r) <= at) continue;
      const std::vector<int> least = nodes_.has_closed(r.cores) ? r.cores : cores_at(r.processes, most(*r.job));
      for (std::size_t n = 0; n < free.size(); ++n) free[n] -= least[n];
    }
    for (std::size_t n = 0; n < free.size(); ++n)
      if (nodes_.back(n) > at) free[n] = 0;
    return free;
  }

  void backfill() {
    const Job& head = workload_.jobs[waiting_.front()];
    Time shadow = kNever;
    std::vector<Time> ends;
    for (const MalleableJob& r : running_) ends.push_back(expected_end(r));
    for (std::size_t n = 0; n < free_.size(); ++n) ends.push_back(nodes_.back(n));
    for (const Time end : ends)
      if (now_ <= end && end < shadow && fits(head, most(head), could_be_free(end))) shadow = end;
    std::vector<int> then = could_be_free(shadow);

    for (const std::size_t index : std::vector<std::size_t>(waiting_.begin() + 1, waiting_.end())) {
      const Job& job = workload_.jobs[index];
      for (int level = 1; level <= most(job); ++level) {
        const auto processes = placed(job, level, free_);
        if (!processes) continue;
        const int reached = level_of({&job, index, now_, *processes, cores_at(*processes, level), 1, {}, {}, {}, {}});
        const bool is_over = Work{job.estimate(), now_, expected_slowdown(job, reached)}.end() <= shadow;
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
  Nodes nodes_;
  std::vector<int> free_;  // cores of each node; a pool is one node
  int node_size_;
  Time now_ = 0;
  std::vector<std::size_t> waiting_;   // by (submit, number), as positions in the workload
  std::vector<std::size_t> held_;      // that need more cores than will ever be there
  std::vector<MalleableJob> running_;  // by start
  Schedule schedule_;
};

}  // namespace

Schedule malleable(const Workload& workload, const Malleable& rules) { return MalleableRun{workload, rules}.all(); }

}  // namespace replay::oracle
