// What is known of the jobs that have not ended, for exports that say it beside each picture of a job. Memory grows with
// the jobs that wait and run, not with the run.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/log/record.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"

namespace replay::results {

struct OpenJob {
  Instant submitted{};
  Instant launched = kNever;  ///< kNever: it waits
  Duration estimate{}, runtime{};
  ProcessCount requested = 0;  ///< as submitted
  ProcessCount optimal = 0;    ///< its optimum size by the policy; 0: not stated
  CoreCount cores = 0;         ///< now; a suspended job keeps the number
  std::int32_t user = -1, group = -1, queue = -1, program = -1;
  std::optional<JobClass> job_class{};
};

class OpenJobs final : public log::Sink {
 public:
  void header(const log::Header& /*header*/) override {}
  /// Throws InputError for a job that is submitted twice.
  void record(const log::Record& record) override;
  [[nodiscard]] log::Kinds kinds() const override;

  /// Null if there is none. Valid until the next record.
  [[nodiscard]] const OpenJob* find(JobId job) const { return jobs_.find(job); }

 private:
  struct OnRecord;
  JobMap<OpenJob> jobs_;
};

}  // namespace replay::results
