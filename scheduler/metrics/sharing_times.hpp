// How long jobs ran in groups that share nodes, and how their response times are in the clock of their virtual machine,
// from the event log. Source: G-LOMARC-TS paper, sections 4.1 and 4.7.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

struct SharingTimes {
  Duration in_groups{};                      ///< on cores, in a group
  std::optional<Duration> expected{};        ///< R_est of a policy that says so
  std::optional<Duration> virtual_response;  ///< in the clock of its virtual machine; once it has ended
  std::optional<JobClass> job_class{};       ///< of the virtual machine that it is in
};

/// Keeps the jobs that policies say something about in this respect.
class SharingFacts final : public history::Observer {
 public:
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override;
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override;

  /// Null: nothing was said. Valid until the next record.
  [[nodiscard]] const SharingTimes* find(JobId job) const;
  void forget(JobId job) {
    if (!jobs_.empty()) jobs_.erase(job);
  }

 private:
  struct OnRecord;
  struct Facts {
    SharingTimes times{};
    bool in_group = false, suspended = false;
    Instant counted_from{};  // while it runs in a group
    Duration clock_at_submission{};
  };
  // The clock of a virtual machine runs in its slices.
  struct Clock {
    Duration before{};         // in the slices before the last one
    Instant begins{}, ends{};  // of the last one
    [[nodiscard]] Duration at(Instant now) const;
  };

  void enter_group(JobId job, Instant now);
  static void leave_group(Facts& facts, Instant now);
  static void count(Facts& facts, Instant now);

  std::unordered_map<JobId, Facts> jobs_;
  std::unordered_map<JobId, std::vector<JobId>> groups_;  // members by primary
  std::array<Clock, kJobClasses> clocks_{};
};

}  // namespace replay::metrics
