// Collects from the records of a run what its page shows. Part of run_data.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/history/follower.hpp"
#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/resizes.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/sharing_times.hpp"
#include "scheduler/metrics/stretches.hpp"
#include "scheduler/report/page/stretch_rows.hpp"

namespace replay::report {

/// What the rows of the job table do not have.
struct JobFacts {
  double shrunk_time = 0;  ///< seconds
  std::int32_t max_mpl = 1;
  bool is_shareable = false;
};

struct GroupSpan {
  Instant from{}, to = kNever;
  JobId primary{};
  std::vector<JobId> matched;
};

/// A node that was not up.
struct ClosedSpan {
  Instant from{}, to = kNever;
  NodeChange change;
};

struct SaidInLog {
  Instant at{};
  std::string text;
  std::optional<JobId> job{};
};

class RunReader final : public history::Observer, private metrics::StretchReader {
 public:
  /// What the records go to. Throws log::BadRecord when one cannot be true.
  [[nodiscard]] history::Follower& follower() { return follower_; }
  void on_submit(Instant /*at*/, const history::JobState& /*job*/) override { facts_.emplace_back(); }
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override;
  /// No record comes any more: what is open ends with the last one.
  void finish();

  [[nodiscard]] const metrics::JobTable& table() const { return table_; }
  [[nodiscard]] const metrics::Series& series() const { return series_; }
  [[nodiscard]] const metrics::ChosenSizes& sizes() const { return sizes_; }
  [[nodiscard]] const metrics::SharingFacts& sharing() const { return sharing_; }
  [[nodiscard]] const metrics::Resizes& resizes() const { return resizes_; }
  /// By row of the table.
  [[nodiscard]] const std::vector<JobFacts>& facts() const { return facts_; }
  /// Their jobs are rows of the table.
  [[nodiscard]] std::vector<StretchRow>& stretches() { return stretches_rows_; }
  [[nodiscard]] const std::vector<StretchRow>& stretches() const { return stretches_rows_; }
  /// Those that are still open, as if they ended now; for a run that goes on. REQUIRES: no record came from later than `now`.
  [[nodiscard]] std::vector<StretchRow> open_stretches(Instant now) const;
  /// REQUIRES: it was submitted.
  [[nodiscard]] std::size_t row_of(JobId job) const;
  [[nodiscard]] const std::vector<GroupSpan>& groups() const { return groups_; }
  /// Places in groups() of those that the job in this row of the table is or was in.
  [[nodiscard]] std::span<const std::size_t> groups_of(std::size_t row) const;
  [[nodiscard]] const std::vector<SliceBegun>& slices() const { return slices_; }
  /// By their begins; one for each state. Open ones end at kNever.
  [[nodiscard]] const std::vector<ClosedSpan>& closed() const { return closed_; }
  [[nodiscard]] const std::vector<SaidInLog>& said() const { return said_; }
  [[nodiscard]] bool has_classes() const { return has_classes_; }
  [[nodiscard]] Instant last() const { return follower_.now().value_or(Instant{}); }

 private:
  struct OnRecord;
  void stretch(const metrics::Stretch& stretch) override;

  metrics::JobTable table_;
  metrics::Series series_;
  metrics::ChosenSizes sizes_;
  metrics::SharingFacts sharing_;
  metrics::Resizes resizes_;
  metrics::Stretches stretches_{*this};
  history::Follower follower_{{&table_, &series_, &sizes_, &sharing_, &resizes_, &stretches_, this}};
  std::vector<JobFacts> facts_;
  std::vector<StretchRow> stretches_rows_;
  std::vector<GroupSpan> groups_;
  std::unordered_map<JobId, std::size_t> open_groups_;  // by primary
  std::unordered_map<std::size_t, std::vector<std::size_t>> groups_of_rows_;
  std::vector<SliceBegun> slices_;
  std::vector<ClosedSpan> closed_;
  std::map<NodeId, std::size_t> open_closed_;  // of closed_
  std::vector<SaidInLog> said_;
  bool has_classes_ = false;
};

/// Marks the stretches that touch a group of their job. Their jobs are rows of the job table. O(rows and their groups).
void mark_groups(std::vector<StretchRow>& rows, const RunReader& run);

}  // namespace replay::report
