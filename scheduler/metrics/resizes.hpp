// The changes of running jobs' cores, and for which job each was shrunk, from the event log. The log does not state the
// latter: a job was shrunk for the one that was started at the same instant on cores that it gave up; on a pool, for the
// next one that was started at that instant.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

struct Resize {
  JobId job{};
  Instant at = kNever;  ///< when it was done; kNever: it was decided, and is not done
  CoreCount from = 0, to = 0;
  std::optional<JobId> in_favour_of{};  ///< of a shrink: the job that got its cores, if one was started at once
};

class Resizes final : public history::Observer {
 public:
  void on_time(Instant /*now*/) override { given_up_.clear(); }
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant /*at*/, const history::JobState& job, const JobEnd& /*end*/) override { jobs_.erase(job.id); }
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override;

  /// In the order of the decisions, also those that are not done.
  [[nodiscard]] std::span<const Resize> all() const { return resizes_; }

 private:
  struct OnRecord;
  struct JobCores {
    Allocation decided;
    std::optional<std::size_t> open{};  ///< its resize that is not done
  };
  struct GivenUp {
    std::size_t resize = 0;
    CoreLoads cores;  ///< empty on a pool
  };

  /// The place of its resize that is not done; of a new one if there is none.
  std::size_t open(const history::JobState& job, JobCores& cores);

  std::vector<Resize> resizes_;
  std::unordered_map<JobId, JobCores> jobs_;  // that were started and have not ended
  std::vector<GivenUp> given_up_;             // at this instant, to no job yet
};

}  // namespace replay::metrics
