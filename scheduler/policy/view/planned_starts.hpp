// A policy that keeps a plan says when a job is to start.
#pragma once

#include <optional>

#include "scheduler/model/job.hpp"

namespace replay {

class PlannedStarts {
 public:
  virtual ~PlannedStarts() = default;
  /// The planned start of a job that waited after the last pass; nothing for others. How binding it is depends on the
  /// policy: a guarantee under `conservative`, under `slack` one up to the job's slack.
  [[nodiscard]] virtual std::optional<Instant> planned_start(const Job& job) const = 0;
};

}  // namespace replay
