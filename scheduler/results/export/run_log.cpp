#include "scheduler/results/export/run_log.hpp"

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::results {
namespace {

class CountedRecords final : public log::Sink {
 public:
  CountedRecords(const std::vector<log::Sink*>& sinks, std::size_t most) : tee_(sinks), most_(most) {}

  void header(const log::Header& header) override { tee_.header(header); }
  void record(const log::Record& record) override {
    if (stops_asked() > 0) throw ExportStopped{};
    if (read.records == most_) return;
    ++read.records;
    read.last = record.at;
    tee_.record(record);
  }

  RunLog::Read read;

 private:
  log::Tee tee_;
  std::size_t most_;
};

}  // namespace

RunLog::Read RunLog::read(const std::vector<log::Sink*>& sinks, std::size_t most) const {
  CountedRecords records{sinks, most};
  end_ = read_with_places(file_, records);
  return records.read;
}

}  // namespace replay::results
