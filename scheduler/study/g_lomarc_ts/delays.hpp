// How much later jobs respond than was estimated at their submission: R / R_est, both in the clock of the job's virtual
// machine, which stands outside the slices of its class and during their overhead. Source: G-LOMARC-TS, sections 4.1, 5.2.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "scheduler/log/record.hpp"
#include "scheduler/model/job_sizes.hpp"

namespace replay::study {

/// The clocks of the virtual machines of scojo-pect, from the slices in the log. REQUIRES: slices of a class in order.
class SliceClocks {
 public:
  void begin(const SliceBegun& slice);
  /// Time of the class's slices before `at`. REQUIRES: `at` is not before the last slice that was begun.
  [[nodiscard]] Duration reading(JobClass of, Instant at) const;

 private:
  struct Clock {
    Duration past{};           // of the slices before the last
    Instant begins{}, ends{};  // the last slice
  };
  std::array<Clock, kJobClasses> clocks_;
};

class DelayRecord final : public log::Sink {
 public:
  void header(const log::Header& /*header*/) override {}
  void record(const log::Record& record) override;
  [[nodiscard]] log::Kinds kinds() const override;

  /// R / R_est of a job that has ended; nothing if none was estimated.
  [[nodiscard]] std::optional<double> delay(JobId job) const;

 private:
  struct Times {
    JobClass job_class{};
    Duration submitted{};  // by the clock of its class
    Duration expected{};
    Duration response{};
  };
  struct OnRecord;

  SliceClocks clocks_;
  std::unordered_map<JobId, Times> jobs_;
};

}  // namespace replay::study
