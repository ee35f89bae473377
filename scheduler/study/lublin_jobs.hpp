// The jobs that `replay generate lublin --jobs N --aarr A --seed S --machine-size P` makes, in process, for the papers
// whose workloads are of the Lublin-Feitelson model.
#pragma once

#include <cstdint>
#include <functional>

#include "scheduler/model/workload.hpp"
#include "traces/models/lublin_model.hpp"

namespace replay::study {

struct LublinJobs {
  double alpha;  ///< aarr of the model
  CoreCount processors;
  std::uint64_t seed, jobs;
};
/// Calls visit() with each job, in order: numbers from 1, estimates are run times.
void for_each_lublin_job(const LublinJobs& jobs, const std::function<void(TracedJob)>& visit);

}  // namespace replay::study
