#include "tests/oracle/moldable/sizes.hpp"

#include <algorithm>
#include <cmath>

namespace replay::oracle {
namespace {

Time time_at_optimum(const Job& job, int cores) { return time_at_size(job, job.estimate(), optimum(job, cores)); }

}  // namespace

bool can_choose(const Job& job) { return job.flexibility != Flexibility::kRigid && job.curve.has_value(); }

std::vector<int> offered_sizes(const Job& job, int cores) {
  std::vector<int> offered;
  for (int size = 1; size <= cores; ++size) {
    const bool in_bounds = size >= job.least && (job.most == 0 || size <= job.most);
    const bool in_list = job.sizes.empty() || std::ranges::count(job.sizes, size) > 0;
    if (can_choose(job) ? in_bounds && in_list : size == job.processes) offered.push_back(size);
  }
  return offered;
}

int offered_size(const Job& job, int cores, int wanted) {
  const std::vector<int> offered = offered_sizes(job, cores);
  int size = offered.front();
  for (const int other : offered)
    if (other <= wanted) size = other;
  return size;
}

int offered_size(const Job& job, int cores, long double wanted, long double tolerance) {
  const long double whole = std::floor(wanted + 0.5L + tolerance);
  return offered_size(job, cores, static_cast<int>(std::min(whole, static_cast<long double>(cores))));
}

Time time_at_size(const Job& job, Time time, int size) {
  return can_choose(job) && size != job.processes ? time_at(*job.curve, time, job.processes, size) : time;
}

Job at_size(const Job& job, int size) {
  Job sized = job;
  sized.flexibility = Flexibility::kRigid;
  sized.processes = size;
  sized.run_time = time_at_size(job, job.run_time, size);
  sized.request = time_at_size(job, job.estimate(), size);
  return sized;
}

int optimum(const Job& job, int cores) {
  if (!can_choose(job)) return job.processes;
  switch (job.curve->law) {
    case Curve::Law::kThreePoint: return job.curve->optimum;
    case Curve::Law::kDowney: return offered_size(job, cores, working_set(*job.curve, cores));
    case Curve::Law::kLinear: break;
  }
  return job.processes;
}

int class_of(const Job& job, int cores) {
  const Time time = time_at_optimum(job, cores);
  return time < 60 * kSecond ? 0 : time < 3600 * kSecond ? 1 : 2;
}

int class_at(const Job& job, int cores, Time now, Aging aging) {
  const int unaged = class_of(job, cores);
  if (aging == Aging::kOff || unaged == 0 || now - job.submit < 5 * time_at_optimum(job, cores)) return unaged;
  return aging == Aging::kTop ? 0 : unaged - 1;
}

Time next_promotion(const Job& job, int cores, Time now, Aging aging) {
  if (aging == Aging::kOff || class_of(job, cores) == 0) return kNever;
  const Time at = job.submit + 5 * time_at_optimum(job, cores);
  return at > now ? at : kNever;
}

}  // namespace replay::oracle
