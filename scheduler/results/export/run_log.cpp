#include "scheduler/results/export/run_log.hpp"

#include "scheduler/base/process/stop_signals.hpp"

namespace replay::results {
namespace {

class CountedRecords final : public log::Sink {
 public:
  CountedRecords(log::Sink& sink, std::size_t most) : sink_(sink), most_(most) {}

  void header(const log::Header& header) override { sink_.header(header); }
  void record(const log::Record& record) override {
    if (stops_asked() > 0) throw ExportStopped{};
    if (read.records == most_) return;
    if (read.records++ == 0) read.first = record.at;
    read.last = record.at;
    sink_.record(record);
  }

  RunLog::Read read;

 private:
  log::Sink& sink_;
  std::size_t most_;
};

}  // namespace

RunLog::Read RunLog::read(history::Follower& follower, std::size_t most) const {
  CountedRecords records{follower, most};
  end_ = log::read_text(file_, records);
  return records.read;
}

}  // namespace replay::results
