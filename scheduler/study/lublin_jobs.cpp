#include "scheduler/study/lublin_jobs.hpp"

#include <chrono>

#include "traces/models/lublin_workload.hpp"

namespace replay::study {
namespace {

LublinOrder order_of(const LublinJobs& jobs) {
  LublinOrder order;
  order.model.machine_size = jobs.processors;
  order.model.typeless.aarr = jobs.alpha;
  order.model.seed = Seed{jobs.seed};
  order.jobs = jobs.jobs;
  return order;
}

TracedJob job_of(const LublinJob& drawn, JobId id) {
  TracedJob job;
  job.job.id = id;
  job.job.submitted = Instant{std::chrono::seconds{drawn.arrival}};
  job.job.processes = drawn.size;
  job.job.estimate = job.truth.runtime = std::chrono::seconds{drawn.runtime};
  return job;
}

}  // namespace

void for_each_lublin_job(const LublinJobs& jobs, const std::function<void(TracedJob)>& visit) {
  const LublinOrder order = order_of(jobs);
  LublinTrace trace(order, plan_lublin(order));
  std::int64_t number = 0;
  for (LublinJob drawn; trace.next(drawn);) visit(job_of(drawn, JobId{++number}));
}

}  // namespace replay::study
