#include "scheduler/results/export/run_log.hpp"

#include <fmt/format.h>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"

namespace replay::results {
namespace {

class PlacedRecords final : public log::Sink {
 public:
  PlacedRecords(const std::filesystem::path& file, const std::vector<log::Sink*>& sinks, std::size_t most)
      : file_(file.string()), tee_(sinks), most_(most) {}

  void header(const log::Header& header) override {
    lines_before_ = 1 + header.entries.size();
    try {
      tee_.header(header);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", file_, error.what()));
    }
  }
  void record(const log::Record& record) override {
    if (stops_asked() > 0) throw ExportStopped{};
    if (read.records == most_) return;
    ++read.records;
    read.last = record.at;
    try {
      tee_.record(record);
    } catch (const InputError& error) {
      throw InputError(file_, lines_before_ + read.records, error.what());
    }
  }

  RunLog::Read read;

 private:
  std::string file_;
  log::Tee tee_;
  std::size_t most_;
  std::size_t lines_before_ = 0;
};

}  // namespace

RunLog::Read RunLog::read(const std::vector<log::Sink*>& sinks, std::size_t most) const {
  PlacedRecords records{file_, sinks, most};
  end_ = log::read_text(file_, records);
  return records.read;
}

}  // namespace replay::results
