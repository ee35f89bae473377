// A run as a trace in the Standard Workload Format, with waits, run times and states as they came out: the run's
// schedule.swf, made from the event log alone.
#include <optional>

#include "scheduler/metrics/row_stream.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/results/export/writers.hpp"
#include "scheduler/results/schedule_swf.hpp"

namespace replay::results {
namespace {

class JobCount final : public log::Sink {
 public:
  void header(const log::Header& header) override { (void)Machine::parse(header.value("machine")); }
  void record(const log::Record& record) override {
    jobs += std::holds_alternative<log::Submitted>(record.what) ? 1u : 0u;
  }
  std::size_t jobs = 0;
};

class SwfFile final : public log::Sink, private metrics::RowReader {
 public:
  SwfFile(std::string file, std::size_t jobs) : file_(std::move(file)), jobs_(jobs) {}

  void header(const log::Header& header) override {
    schedule_.emplace(file_, header, Machine::parse(header.value("machine")).size(), jobs_);
  }
  void record(const log::Record& record) override { rows_.record(record); }
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
  const RunLog::Read read = run.read({&count});
  SwfFile file{files.front(), count.jobs};
  (void)run.read({&file}, read.records);
  file.finish();
  return {};
}

}  // namespace replay::results
