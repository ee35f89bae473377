// The oracle of scojo. It goes from instant to instant; at each: ends, submissions, used-up estimates, then one pass.
// Sources: SCOJO-P, 4.1; readings 3 and 8 (SCOJO).
#include "tests/oracle/moldable/scojo.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "tests/oracle/work.hpp"

namespace replay::oracle {
namespace {

constexpr int kHalvings = 40;
constexpr double kTolerance = 1e-9;

struct RunningJob {
  std::size_t index;
  int started_with;
  int cores;
  Work work;    // in microseconds of the size at the start
  Work budget;  // likewise
};

class ScojoRun {
 public:
  ScojoRun(const Workload& workload, const Scojo& rules)
      : workload_(workload), rules_(rules), free_(workload.cores()), schedule_(workload.jobs.size()) {}

  Schedule all() {
    std::vector<std::size_t> coming(workload_.jobs.size());
    std::iota(coming.begin(), coming.end(), std::size_t{0});
    std::ranges::sort(coming, {}, [&](std::size_t i) { return std::tuple{job(i).submit, job(i).number}; });
    Time timer = kNever;
    while (!coming.empty() || !running_.empty()) {
      now_ = timer;
      if (!coming.empty()) now_ = std::min(now_, job(coming.front()).submit);
      for (const RunningJob& r : running_) now_ = std::min({now_, r.work.end(), r.budget.end()});
      end_those_without(&RunningJob::work);
      while (!coming.empty() && job(coming.front()).submit == now_) {
        waiting_.push_back(coming.front());
        coming.erase(coming.begin());
      }
      if (workload_.overrun == Overrun::kKill) end_those_without(&RunningJob::budget);
      for (RunningJob& r : running_)
        if (r.budget.end() <= now_) r.budget.add(std::max(job(r.index).estimate() / 10, 60 * kSecond));
      timer = pass();
    }
    return schedule_;
  }

 private:
  [[nodiscard]] const Job& job(std::size_t index) const { return workload_.jobs[index]; }
  [[nodiscard]] int machine() const { return workload_.cores(); }
  [[nodiscard]] int best(std::size_t index) const { return optimum(job(index), machine()); }
  [[nodiscard]] Time estimate(std::size_t index, int size) const {
    return time_at_size(job(index), job(index).estimate(), size);
  }

  void end_those_without(Work RunningJob::*what) {
    std::erase_if(running_, [&](const RunningJob& r) {
      if ((r.*what).end() > now_) return false;
      schedule_[r.index].end = now_;
      free_ += r.cores;
      return true;
    });
  }

  // "Short and medium moldable, any malleable."
  [[nodiscard]] bool is_adaptable(std::size_t index) const {
    if (!can_choose(job(index))) return false;
    return job(index).flexibility == Flexibility::kMalleable || class_of(job(index), machine()) < 2;
  }
  // "Medium and long malleable", while they run.
  [[nodiscard]] bool is_resizable(std::size_t index) const {
    return can_choose(job(index)) && job(index).flexibility == Flexibility::kMalleable &&
           class_of(job(index), machine()) > 0;
  }

  [[nodiscard]] int sized(std::size_t index, double factor) const {
    return offered_size(job(index), machine(), static_cast<long double>(factor * best(index)), 0);
  }
  [[nodiscard]] int target(std::size_t index, double factor) const {
    if (is_adaptable(index)) return sized(index, factor);
    return can_choose(job(index)) ? offered_size(job(index), machine(), best(index)) : job(index).processes;
  }

  [[nodiscard]] bool all_fit(double factor) const {
    int sum = 0;
    for (const RunningJob& r : running_) sum += is_resizable(r.index) ? sized(r.index, factor) : r.cores;
    for (const std::size_t waiting : waiting_) sum += target(waiting, factor);
    return sum <= machine();
  }

  [[nodiscard]] double factor_of_now() const {
    int needed = 0;
    double least = 1;
    double most = 1;
    const auto bounds = [&](std::size_t index, bool follows) {
      needed += best(index);
      if (!follows) return;
      const std::vector<int> offered = offered_sizes(job(index), machine());
      least = std::min(least, static_cast<double>(offered.front()) / best(index));
      most = std::max(most, static_cast<double>(offered.back()) / best(index));
    };
    for (const RunningJob& r : running_) bounds(r.index, is_resizable(r.index));
    for (const std::size_t waiting : waiting_) bounds(waiting, is_adaptable(waiting));
    if (9 * machine() <= 10 * needed && needed <= machine()) return 1;
    double low = needed > machine() ? least : 1;
    double high = needed > machine() ? 1 : most;
    if (all_fit(high)) return high;
    if (!all_fit(low)) return low;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (all_fit(middle) ? low : high) = middle;
    }
    return low;
  }

  void resize(RunningJob& r, int cores) {
    free_ += r.cores - cores;
    r.cores = cores;
    const long double slowdown = speed_ratio(*job(r.index).curve, cores, r.started_with);
    r.work.set_slowdown(now_, slowdown);
    r.budget.set_slowdown(now_, slowdown);
    schedule_[r.index].cores.push_back({now_, {cores}});
  }

  // Shrinks first; a job expands only if all of its new cores are free. Whether a job was resized.
  bool resize_all(double factor) {
    bool resized = false;
    for (const bool expand : {false, true})
      for (RunningJob& r : running_) {
        if (!is_resizable(r.index)) continue;
        const int cores = sized(r.index, factor);
        if (cores == r.cores || (cores > r.cores) != expand || cores - r.cores > free_) continue;
        resize(r, cores);
        resized = true;
      }
    return resized;
  }

  void start(std::size_t index, int size) {
    Time run_time = job(index).run_time;
    if (workload_.cut_at_request) run_time = std::min(run_time, job(index).estimate());
    run_time = time_at_size(job(index), run_time, size);
    running_.push_back({index, size, size, {run_time, now_, 1}, {estimate(index, size), now_, 1}});
    free_ -= size;
    std::erase(waiting_, index);
    schedule_[index] = {now_, kNever, {{now_, {size}}}, size};
  }

  // Jobs that this pass has started take what is left, the oldest first.
  void expand_new(std::size_t first_new) {
    std::vector<RunningJob> started(running_.begin() + static_cast<std::ptrdiff_t>(first_new), running_.end());
    running_.resize(first_new);
    for (const RunningJob& r : started) {
      const int size = is_adaptable(r.index) ? offered_size(job(r.index), machine(), r.cores + free_) : r.cores;
      free_ += r.cores;
      start(r.index, size);
    }
  }

  [[nodiscard]] Time expected_end(const RunningJob& r) const { return std::max(r.budget.end(), now_ + 1); }

  void backfill(std::vector<std::size_t> queue, double factor) {
    const int wanted = target(queue.front(), factor);
    std::vector<std::tuple<Time, int>> ends;
    for (const RunningJob& r : running_) ends.emplace_back(expected_end(r), r.cores);
    std::ranges::sort(ends);
    int extra = free_ - wanted;
    Time shadow = now_;
    for (const auto& [end, cores] : ends) {
      if (extra >= 0 && end > shadow) break;
      extra += cores;
      shadow = end;
    }
    for (auto candidate = queue.begin() + 1; candidate != queue.end(); ++candidate) {
      std::vector<int> sizes{target(*candidate, factor)};
      if (is_adaptable(*candidate) && class_of(job(*candidate), machine()) < 2)
        for (const int size : offered_sizes(job(*candidate), machine()))
          if (size < sizes.front()) sizes.insert(sizes.begin() + 1, size);
      for (const int size : sizes) {
        const bool is_over_by_then = now_ + estimate(*candidate, size) <= shadow;
        if (size > free_ || (!is_over_by_then && size > extra)) continue;
        start(*candidate, size);
        if (!is_over_by_then) extra -= size;
        break;
      }
    }
  }

  Time pass() {
    Time timer = kNever;
    const double factor = factor_of_now();
    if (std::abs(factor - in_force_) > rules_.threshold * in_force_ + kTolerance) {
      if (!last_resize_ || now_ - *last_resize_ >= rules_.interval) {
        in_force_ = factor;
        if (resize_all(factor)) last_resize_ = now_;
      } else {
        timer = *last_resize_ + rules_.interval;
      }
    }
    const std::size_t first_new = running_.size();
    std::vector<std::size_t> queue = waiting_;
    std::ranges::sort(queue, {}, [&](std::size_t i) {
      return std::tuple{class_at(job(i), machine(), now_, rules_.aging), job(i).submit, job(i).number};
    });
    for (; !queue.empty() && target(queue.front(), factor) <= free_; queue.erase(queue.begin()))
      start(queue.front(), target(queue.front(), factor));
    if (!queue.empty()) backfill(queue, factor);
    if (waiting_.empty()) expand_new(first_new);
    for (const std::size_t waiting : waiting_)
      timer = std::min(timer, next_promotion(job(waiting), machine(), now_, rules_.aging));
    return timer;
  }

  const Workload& workload_;
  const Scojo& rules_;
  int free_;
  Time now_ = 0;
  double in_force_ = 1;
  std::optional<Time> last_resize_;
  std::vector<std::size_t> waiting_;  // by (submit, number)
  std::vector<RunningJob> running_;   // by start
  Schedule schedule_;
};

}  // namespace

Schedule scojo(const Workload& workload, const Scojo& rules) { return ScojoRun{workload, rules}.all(); }

}  // namespace replay::oracle
