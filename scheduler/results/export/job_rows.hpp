// The rows of a run's jobs for exports with a line per job: in the order of submission, with the cores that each job used.
#pragma once

#include <span>

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/metrics/row_stream.hpp"

namespace replay::results {

class JobRowReader {
 public:
  /// `cores`: of its first allocation and those it gained later. All valid during the call.
  virtual void job(const metrics::JobRow& row, const metrics::RowTexts& texts, std::span<const CoreRange> cores) = 0;

 protected:
  ~JobRowReader() = default;
};

/// Memory as that of RowStream.
class JobRows final : private metrics::RowReader {
 public:
  /// `reader` must outlive this.
  explicit JobRows(JobRowReader& reader) : reader_(&reader) {}

  /// What is to follow the log: a job's cores are known before its row is complete.
  [[nodiscard]] history::Observers observers() { return {&names_, &rows_}; }
  /// No record comes any more: hands over jobs that have not ended, and those behind them.
  void finish() { rows_.hand_over_rest(); }

 private:
  void row(const metrics::JobRow& row, const metrics::RowTexts& texts) override {
    reader_->job(row, texts, names_.used(row.job));
    names_.forget(row.job);
  }

  JobRowReader* reader_;
  metrics::CoreNames names_;
  metrics::RowStream rows_{*this};
};

}  // namespace replay::results
