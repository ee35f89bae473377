// Stream of the rows of a run's jobs, in the order of submission, without keeping them: for runs of ten million jobs. A
// row is complete when its job has ended, but it is handed over only when all jobs submitted before have ended, too.
// With jobs of days among jobs of seconds nearly all rows are held for the whole run, so held rows are packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "scheduler/metrics/row_keeper.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// Reasons for what happened to a job, as text; each empty if there is none.
struct RowTexts {
  std::string_view reason;        ///< why the job ended as it did
  std::string_view rigid_reason;  ///< why its processes turned out to be unable to share cores
};

/// Receives rows that are final.
class RowReader {
 public:
  virtual ~RowReader() = default;
  /// In the order of submission. `row` and `texts` are valid during the call.
  virtual void row(const JobRow& row, const RowTexts& texts) = 0;
};

class RowStream final : public RowKeeper {
 public:
  /// `reader` must outlive this.
  explicit RowStream(RowReader& reader) : reader_(reader) {}

  /// Hands over what is left: jobs that have not ended, and those behind them. No record may come any more.
  void hand_over_rest();

  /// Number of jobs that were submitted and have a row not handed over yet.
  [[nodiscard]] std::size_t held() const { return order_.size(); }
  /// How many of these rows are not packed.
  [[nodiscard]] std::size_t held_whole() const { return open_.size(); }

 private:
  // A row that may still change, or that does not fit a Plain.
  struct Open {
    JobRow row;
    std::uint64_t place = 0;  // index in order_, counting those handed over
  };
  // The packed row of a job that has ended and ran on as many cores as it has processes from start to end, if it ran.
  struct Plain {
    JobId job;
    Instant submitted, launched, finished;
    Duration runtime, estimate;
    ProcessCount processes;
    std::int32_t user, group, queue, executable;
    Outcome outcome;
    Flexibility flexibility;

    explicit Plain(const JobRow& row);
    [[nodiscard]] JobRow row() const;
  };
  using Place = std::variant<const Open*, std::unique_ptr<const Plain>>;

  JobRow& add(const history::JobState& job) override;
  JobRow& row_of(const history::JobState& job) override { return open_.at(job.id).row; }
  void ended(const JobRow& row) override;
  void hand_over_first();
  void make_plain(JobId job);

  RowReader& reader_;
  JobMap<Open> open_;
  std::deque<Place> order_;  // of submission: all that were not handed over
  std::uint64_t handed_over_ = 0;
  std::vector<JobId> ended_;  // since rows were handed over
};

}  // namespace replay::metrics
