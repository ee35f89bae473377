// One row for each job of a run, built from the event log as it is written or read. What a row says is what happened:
// a job waits until its cores are given to it (`launch`), and resizes count when they are done. Metrics, jobs.csv and
// the schedule in SWF come from these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/job_index.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// How long a job waited and ran, and would have run alone on its cores.
struct JobTimes {
  Duration wait;
  Duration execution;
  Duration runtime;  ///< expanded

  [[nodiscard]] Duration response() const { return wait + execution; }
  /// FCFS-malleable paper, formula (1): response over the expanded run time. NaN if that is zero.
  [[nodiscard]] double slowdown() const;
  /// max(1, response / max(expanded run time, bound)). REQUIRES: bound > 0.
  [[nodiscard]] double bounded_slowdown(Duration bound) const;
};

struct JobRow {
  JobId job{};
  Instant submitted{};        ///< when it came into the queue; later than Job::submitted where it follows another job
  Instant launched = kNever;  ///< kNever: it never ran
  Instant finished = kNever;  ///< kNever: it had not ended when the log did
  Duration runtime{};         ///< expanded, alone on its cores; live too, the trace's
  Duration estimate{};        ///< as submitted
  Duration suspended{};       ///< in all
  std::int64_t mpl_time = 0;  ///< multiprogramming level integrated over the time it was on cores, in microseconds
  double cpu_use = -1;        ///< measured; -1: not measured
  ProcessCount processes = 0;
  CoreCount first_cores = 0;  ///< when launched
  CoreCount last_cores = 0;   ///< when it ended, or now
  CoreCount most_cores = 0;   ///< the most it ever had
  std::int32_t shrinks = 0;
  std::int32_t expands = 0;
  std::int32_t exit_code = 0;
  std::int32_t user = -1;
  std::int32_t group = -1;
  std::int32_t queue = -1;
  std::int32_t executable = -1;
  std::int32_t mpl = 1;                   ///< when it ended, or now
  Outcome outcome = Outcome::kCompleted;  ///< if it has ended
  Verification verification = Verification::kNone;
  Flexibility flexibility = Flexibility::kMalleable;  ///< kRigid also if its processes turned out to be unable to share

  [[nodiscard]] bool has_started() const { return launched != kNever; }
  [[nodiscard]] bool has_ended() const { return finished != kNever; }
  /// It was launched, and it ended. The times below are defined for such jobs only.
  [[nodiscard]] bool ran() const { return has_started() && has_ended(); }

  [[nodiscard]] Duration wait() const { return launched - submitted; }
  [[nodiscard]] Duration response() const { return finished - submitted; }
  [[nodiscard]] Duration execution() const { return finished - launched; }
  [[nodiscard]] JobTimes times() const { return {wait(), execution(), runtime}; }
  /// Mean multiprogramming level over the time it was on cores; the last one if that time is zero.
  [[nodiscard]] double mean_mpl() const;
};

/// What is said of a job in words; each empty where there is nothing to say.
struct RowTexts {
  std::string_view reason;        ///< why the job ended as it did
  std::string_view rigid_reason;  ///< why its processes turned out to be unable to share cores
};

/// Takes rows that nothing will change any more.
class RowReader {
 public:
  virtual ~RowReader() = default;
  /// In the order of submission. `row` and `texts` are valid during the call.
  virtual void row(const JobRow& row, const RowTexts& texts) = 0;
};

/// Throws InputError when a record cannot be true (a job that ends and was never submitted): then the log is broken.
class JobTable final : public log::Sink {
 public:
  /// Keeps every row.
  JobTable() = default;
  /// Hands each row to `reader`, which must outlive this, some time after its job and all before it have ended, and keeps it no
  /// longer: for runs of ten million jobs.
  explicit JobTable(RowReader& reader) : reader_(&reader) {}

  void header(const log::Header& header) override { header_ = header; }
  void record(const log::Record& record) override;

  /// Hands over what is left: jobs that have not ended, and those behind them. No record may come any more.
  void hand_over_rest();

  /// In the order of submission; those that were handed over are gone.
  [[nodiscard]] std::span<const JobRow> rows() const { return std::span{rows_}.subspan(first_); }
  /// Null if there is no such job.
  [[nodiscard]] const JobRow* find(JobId job) const;
  /// Why the job ended as it did; empty where its outcome says it all.
  [[nodiscard]] std::string_view reason(JobId job) const;
  /// Why the job's processes turned out to be unable to share cores; empty: they were not.
  [[nodiscard]] std::string_view rigid_reason(JobId job) const;
  [[nodiscard]] const log::Header& header() const { return header_; }

 private:
  struct OnRecord;
  JobRow& row(JobId job, std::string_view event);
  void hand_over(const JobRow& row);
  void hand_over_ended();

  log::Header header_;
  RowReader* reader_ = nullptr;
  std::vector<JobRow> rows_;
  std::vector<Instant> on_cores_since_;  // as rows_; kNever: not on cores
  std::size_t first_ = 0;                // of rows_: those before it were handed over
  std::size_t ended_ = 0;                // jobs, since rows were handed over
  std::uint32_t forgotten_ = 0;          // rows that stood before those of rows_
  JobIndex index_;                       // counts those too
  std::unordered_map<std::int64_t, std::string> reasons_;
  std::unordered_map<std::int64_t, std::string> rigid_reasons_;
};

}  // namespace replay::metrics
