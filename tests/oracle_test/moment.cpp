#include "tests/oracle_test/moment.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace replay::test {
namespace {

using oracle::Time;

// Applies records one by one and keeps the state after them.
class Follower {
 public:
  explicit Follower(const oracle::Workload& workload) { moment_.workload = &workload; }

  [[nodiscard]] const Moment& moment() const { return moment_; }

  void begin_instant(Time now) {
    moment_.now = now;
    moment_.submitted.clear();
    moment_.started.clear();
    moment_.ends = moment_.early_ends = 0;
  }

  void operator()(const log::Submitted& submitted) {
    const oracle::Job* const job = find(submitted.job.id);
    moment_.submitted.push_back(job);
    moment_.waiting.push_back(job);
    std::ranges::stable_sort(moment_.waiting, {}, [](const oracle::Job* j) { return std::pair{j->submit, j->number}; });
  }
  void operator()(const log::Launched& launched) {
    const oracle::Job* const job = find(launched.job);
    std::erase(moment_.waiting, job);
    moment_.started.push_back(job);
    starts_[job] = moment_.now;
    moment_.running.push_back({job, launched.allocation.cores, moment_.now + job->estimate()});
  }
  void operator()(const log::ResizeDone& resized) { of(resized.job).cores = resized.allocation.cores; }
  void operator()(const log::Extended& extended) {
    const oracle::Job* const job = find(extended.job);
    of(extended.job).estimated_end = starts_.at(job) + extended.estimate.count();
  }
  void operator()(const log::Finished& finished) {
    ++moment_.ends;
    if (moment_.now < of(finished.job).estimated_end) ++moment_.early_ends;
    std::erase_if(moment_.running, [&](const Moment::Running& r) { return r.job == find(finished.job); });
  }

 private:
  [[nodiscard]] const oracle::Job* find(JobId id) const {
    return &*std::ranges::find(moment_.workload->jobs, number(id), &oracle::Job::number);
  }
  [[nodiscard]] Moment::Running& of(JobId id) {
    return *std::ranges::find(moment_.running, find(id), &Moment::Running::job);
  }

  Moment moment_;
  std::map<const oracle::Job*, Time> starts_;
};

}  // namespace

int Moment::free() const {
  int free = workload->cores();
  for (const Running& r : running) free -= r.cores;
  return free;
}

oracle::Plan Moment::plan() const {
  oracle::Plan plan{workload->cores()};
  for (const Running& r : running) plan.put(r.cores, now, r.estimated_end);
  return plan;
}

std::vector<Moment> moments_of(const MemoryLog& log, const oracle::Workload& workload) {
  Follower follower{workload};
  std::vector<Moment> moments;
  for (const log::Record& record : log.records()) {
    const Time at = record.at.time_since_epoch().count();
    if (!moments.empty() && moments.back().now == at)
      moments.pop_back();
    else
      follower.begin_instant(at);
    std::visit(
        [&](const auto& what) {
          if constexpr (requires { follower(what); }) follower(what);
        },
        record.what);
    moments.push_back(follower.moment());
  }
  return moments;
}

}  // namespace replay::test
