// The figures of one simulation of the G-LOMARC-TS study, from its event log: relative response by class, use of nodes
// and cores, groups, delays against the estimates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/sharing_times.hpp"
#include "scheduler/study/findings.hpp"
#include "scheduler/study/g_lomarc_ts/node_use.hpp"
#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/workload.hpp"

namespace replay::study {

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
  [[nodiscard]] history::Observers observers() { return {&jobs_, &nodes_, &load_, &sharing_, &groups_}; }

  /// Of each group of jobs: "jobs all"; "relative 30 all" and "relative 600 all": max(1, response / max(T, bound in s));
  /// "response all", "wait all", "suspended all": s; "delay all", "delay 75 % all", "delay 95 % all": R / R_est, by the
  /// clock of the class. Means over its jobs; NaN of none.
  /// Of the machine, 0 to 1: "core use", "node use" over the makespan, "core use high", "node use high" in phases of high
  /// load, "high load": share of the makespan in these "phases".
  /// "past the end": from the last submission to the last end, over the span of the submissions.
  /// Of groups that share nodes: "groups", "groups 1" to "groups 3" by the paper's case, "group size", "in group": share of
  /// the eligible jobs that were in one, "time in group": of the time that they ran.
  /// REQUIRES: the run of this workload has ended, and all its jobs ran.
  [[nodiscard]] Figures figures(const GlomarcWorkload& workload) const;

 private:
  metrics::JobTable jobs_;
  NodeUseRecord nodes_{glomarc_paper::kHighLoad};
  metrics::Series load_{{.keep_points = false, .high_load_queue = glomarc_paper::kHighLoad}};
  metrics::SharingFacts sharing_;
  GroupRecord groups_;
};

}  // namespace replay::study
