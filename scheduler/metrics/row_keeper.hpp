// What the classes have in common that keep a row for each job: how a row follows its job.
#pragma once

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/job_row.hpp"

namespace replay::metrics {

class RowKeeper : public history::Observer {
 public:
  void on_submit(Instant at, const history::JobState& job) final;
  void on_change(Instant at, const history::Before& before, const history::JobState& job) final;
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) final;
  void on_record(const log::Record& record, const history::JobState* job) final;
  [[nodiscard]] log::Kinds records() const final { return log::kinds<log::RanksSeen>(); }

 protected:
  /// A new row, of the job that was submitted just now.
  virtual JobRow& add(const history::JobState& job) = 0;
  virtual JobRow& row_of(const history::JobState& job) = 0;
  /// The row is final.
  virtual void ended(const JobRow& /*row*/) {}

  JobTexts texts_;

 private:
  void requeue(JobRow& row, const history::JobState& job);
};

}  // namespace replay::metrics
