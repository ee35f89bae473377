// The figures of one simulation of the G-LOMARC-TS study, from its event log: relative response by class, use of nodes
// and cores, groups, delays against the estimates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/sharing_times.hpp"
#include "scheduler/study/g_lomarc_ts/node_use.hpp"
#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/workload.hpp"
#include "scheduler/study/seeded.hpp"

namespace replay::study {

/// Means over the jobs of a group; NaN of none.
struct GlomarcGroupFigures {
  double jobs = 0;
  double relative = kNoValue;      ///< max(1, response / max(T, 30 s))
  double relative_600 = kNoValue;  ///< the same with a bound of 600 s
  double response_s = kNoValue, wait_s = kNoValue, suspended_s = kNoValue;
  double delay = kNoValue, delay_p75 = kNoValue, delay_p95 = kNoValue;  ///< R / R_est, by the clock of its class
};

struct GlomarcFigures {
  std::array<GlomarcGroupFigures, kGlomarcGroups> groups;
  // Shares of the machine, 0 to 1.
  double node_use = kNoValue, core_use = kNoValue;            ///< over the makespan
  double node_use_high = kNoValue, core_use_high = kNoValue;  ///< in phases of high load
  double high_load = kNoValue;                                ///< share of the makespan in such phases
  double phases = 0;
  double past_end = kNoValue;  ///< from the last submission to the last end, over the span of the submissions
  // Groups of jobs that share nodes.
  double formed = 0;
  std::array<double, 3> by_case{};  ///< waiting with waiting, waiting with running, running with waiting
  double group_size = kNoValue;     ///< jobs
  double in_group = kNoValue;       ///< share of the eligible jobs that were in a group at least once
  double time_in_group = kNoValue;  ///< share of the time that eligible jobs ran
};

/// Counts what GroupFormed says.
class GroupRecord final : public history::Observer {
 public:
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override;

  [[nodiscard]] std::int64_t groups() const { return by_case_[0] + by_case_[1] + by_case_[2]; }
  /// `way` of GroupFormed, 1 to 3.
  [[nodiscard]] std::int64_t groups(std::size_t way) const { return by_case_.at(way - 1); }
  /// Jobs of all groups; one that was in two counts twice.
  [[nodiscard]] std::int64_t jobs() const { return jobs_; }
  /// Different jobs.
  [[nodiscard]] std::size_t members() const { return members_.size(); }

 private:
  struct OnRecord;
  std::array<std::int64_t, 3> by_case_{};
  std::int64_t jobs_ = 0;
  std::set<JobId> members_;
};

/// Collects what the figures are made of from the log of a run.
class GlomarcRecord {
 public:
  [[nodiscard]] history::Observers observers() { return {&jobs_, &use_, &sharing_, &groups_}; }

  /// REQUIRES: the run of this workload has ended, and all its jobs ran.
  [[nodiscard]] GlomarcFigures figures(const GlomarcWorkload& workload) const;

 private:
  void add_use(GlomarcFigures& figures) const;

  metrics::JobTable jobs_;
  NodeUseRecord use_{glomarc_paper::kHighLoad};
  metrics::SharingFacts sharing_;
  GroupRecord groups_;
};

}  // namespace replay::study
