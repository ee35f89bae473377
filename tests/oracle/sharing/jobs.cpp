#include "tests/oracle/sharing/jobs.hpp"

#include <algorithm>

namespace replay::oracle::sharing {

int job_class(const Job& job) {
  if (job.estimate() <= 600 * kSecond) return kShort;
  return job.estimate() <= 10'800 * kSecond ? kMedium : kLong;
}

int nodes_at(const Job& job, int ppn) { return (job.processes + ppn - 1) / ppn; }

int ppn_alone(const Workload& workload, const Job& job, const Rules& rules) {
  const int cores = workload.cores_per_node;
  if (job.processes == 1) return 1;
  int ppn = 1;
  if (job.same_node_slowdown <= rules.self_slowdown_2) ppn = cores / 2;
  if (job.same_cpu_slowdown * job.same_node_slowdown <= rules.max_slowdown) ppn = cores;
  for (const int higher : {cores / 2, cores})
    if (nodes_at(job, ppn) > workload.nodes) ppn = std::max(ppn, higher);
  return ppn;
}

int ppn_in_group(const Workload& workload, const Job& job, const Rules& rules) {
  if (job.processes == 1) return 1;
  return job.same_node_slowdown <= rules.self_slowdown_2 ? workload.cores_per_node / 2 : 1;
}

double self_slowdown(const Workload& workload, const Job& job, int ppn) {
  const int on_a_node = std::min(ppn, job.processes);
  if (on_a_node == 1) return 1;
  if (on_a_node <= workload.packages_per_node) return job.same_node_slowdown;
  return job.same_cpu_slowdown * job.same_node_slowdown;
}

double slowdown_beside(const Workload& workload, const Job& a, const Job& b) {
  const auto found = workload.pairs.find({a.number, b.number});
  return found == workload.pairs.end() ? 1 : found->second;
}

double planned_slowdown(const Workload& workload, const Job& a, const Job& b) {
  return std::max(1.0, slowdown_beside(workload, a, b));
}

}  // namespace replay::oracle::sharing
