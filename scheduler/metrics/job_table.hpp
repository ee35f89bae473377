// Table with one row for each job of a run, filled as its event log is written or read. For runs of very many jobs there is
// RowStream.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/metrics/row_keeper.hpp"
#include "scheduler/model/job_index.hpp"

namespace replay::metrics {

class JobTable final : public RowKeeper {
 public:
  void on_begin(const log::Header& header, const Machine& /*machine*/) override { header_ = header; }

  /// In the order of submission.
  [[nodiscard]] std::span<const JobRow> rows() const { return rows_; }
  /// Null if there is no such job.
  [[nodiscard]] const JobRow* find(JobId job) const {
    const std::uint32_t row = index_.find(job);
    return row == JobIndex::kNone ? nullptr : &rows_[row];
  }
  [[nodiscard]] std::string_view reason(JobId job) const { return texts_.reason(job); }
  [[nodiscard]] std::string_view rigid_reason(JobId job) const { return texts_.rigid_reason(job); }
  [[nodiscard]] const log::Header& header() const { return header_; }

 private:
  JobRow& add(const history::JobState& job) override {
    index_.add(job.id);
    return rows_.emplace_back();
  }
  JobRow& row_of(const history::JobState& job) override { return rows_[job.place]; }

  log::Header header_;
  std::vector<JobRow> rows_;
  JobIndex index_;  // of rows_
};

}  // namespace replay::metrics
