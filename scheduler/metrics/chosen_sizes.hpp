// The sizes that a policy chose for moldable jobs, from the event log: for jobs.csv, studies and explanations.
#pragma once

#include <unordered_map>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

struct ChosenSize {
  ProcessCount given = 0;  ///< processes that the job was started with; 0: as many as submitted
  SizeChoice choice{};     ///< what the policy says about it
};

/// Keeps the jobs whose size differs from the submitted one, or was chosen by a policy that says so.
class ChosenSizes final : public history::Observer {
 public:
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override { return log::kinds<log::StartDecided>(); }

  /// Null: the job was started with the submitted size, and the policy said nothing about that. Valid until the next
  /// record.
  [[nodiscard]] const ChosenSize* find(JobId job) const;
  void forget(JobId job) {
    if (!sizes_.empty()) sizes_.erase(job);
  }

 private:
  std::unordered_map<JobId, ChosenSize> sizes_;
};

}  // namespace replay::metrics
