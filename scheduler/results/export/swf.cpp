// A run as a trace in the Standard Workload Format, with waits, run times and states as they came out: the run's
// schedule.swf, made from the event log alone.
#include <optional>

#include "scheduler/metrics/row_stream.hpp"
#include "scheduler/results/export/writers.hpp"
#include "scheduler/results/schedule_swf.hpp"

namespace replay::results {
namespace {

class JobCount final : public history::Observer {
 public:
  void on_submit(Instant /*at*/, const history::JobState& /*job*/) override { ++jobs; }
  std::size_t jobs = 0;
};

class SwfFile final : public history::Observer, private metrics::RowReader {
 public:
  SwfFile(std::string file, std::size_t jobs) : file_(std::move(file)), jobs_(jobs) {}

  void on_begin(const log::Header& header, const Machine& machine) override {
    schedule_.emplace(file_, header, history::stated_cores(header, machine), jobs_);
  }
  [[nodiscard]] history::Observers observers() { return {this, &rows_}; }
  void finish() {
    rows_.hand_over_rest();
    schedule_->close();
  }

 private:
  void row(const metrics::JobRow& row, const metrics::RowTexts& /*texts*/) override { schedule_->put(row); }

  std::string file_;
  std::size_t jobs_;
  std::optional<ScheduleSwf> schedule_;
  metrics::RowStream rows_{*this};
};

}  // namespace

Remarks export_swf(const RunLog& run, const ExportFiles& files) {
  JobCount count;
  history::Follower first{{&count}};
  const RunLog::Read read = run.read(first);
  SwfFile file{files.front(), count.jobs};
  history::Follower second{file.observers()};
  (void)run.read(second, read.records);
  file.finish();
  return {};
}

}  // namespace replay::results
