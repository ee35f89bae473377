// Records a run: writes the event log, and the other outputs and the result from tables that it fills meanwhile. A
// simulated and a real run are recorded in the same way, so that both leave the same files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/history/follower.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/results/input_file.hpp"
#include "scheduler/results/result_files.hpp"
#include "scheduler/results/run_description.hpp"

namespace replay::results {

/// The event log on disk. If a write fails, the log ends there, marked as cut, and the run goes on.
class EventsFile final : public log::Sink {
 public:
  /// Throws InputError.
  explicit EventsFile(const std::filesystem::path& file) : writer_(std::in_place, file) {}
  void header(const log::Header& header) override {
    attempt([&] { writer_->header(header); });
  }
  void record(const log::Record& record) override {
    attempt([&] { writer_->record(record); });
  }
  void flush() {
    attempt([this] { writer_->flush(); });
  }
  void save() {
    attempt([this] { writer_->save(); });
  }
  void close() {
    attempt([this] { writer_->close(); });
    writer_.reset();
  }
  /// Why it is cut; empty: it is not.
  [[nodiscard]] const std::vector<std::string>& unwritten() const { return unwritten_; }

 private:
  template <class Write>
  void attempt(const Write& write) {
    if (writer_ && !write_or_note(unwritten_, write)) writer_.reset();
  }

  std::optional<log::TextWriter> writer_;
  std::vector<std::string> unwritten_;
};

class Recorder {
 public:
  /// `folder` empty: nothing is written. Makes the folder. Throws UsageError for an unknown output.
  Recorder(std::filesystem::path folder, RunDescription description);

  /// Adds another sink for the records, or an observer of the run. Before begin(); must outlive the recorder's use.
  void also(log::Sink& sink) { sinks_.push_back(&sink); }
  void also(const history::ObserverRef& observer) { follower_.add(observer); }
  /// Writes the header; records may come from now on.
  void begin();
  [[nodiscard]] log::Sink& sink() { return tee_ ? static_cast<log::Sink&>(*tee_) : *sinks_.front(); }
  /// Brings the event log on disk up to date: what a reader sees while the run goes on, or after it was killed.
  void flush();
  /// Why the event log ends early; empty: it does not.
  [[nodiscard]] std::string unwritten_log() const {
    return events_ && !events_->unwritten().empty() ? events_->unwritten().front() : std::string{};
  }
  /// flush(), and it is on disk: after a power cut, too.
  void save();
  /// The tables are complete: closes the event log, computes the summary.
  [[nodiscard]] PolicyRun finish();
  /// Writes the other outputs, with what is known of the run by now. Adds to run.unwritten.
  void write(PolicyRun& run);

 private:
  [[nodiscard]] bool wants(const char* output) const { return !folder_.empty() && outputs_.contains(output); }
  void write_run_json(const PolicyRun* run);

  std::filesystem::path folder_;
  RunDescription description_;
  std::set<std::string> outputs_;
  std::string started_;
  std::vector<InputFile> inputs_;  // hashed once
  log::Header header_;
  std::optional<EventsFile> events_;
  ResultFiles files_;
  history::Follower follower_;  // of the files
  std::vector<log::Sink*> sinks_;
  std::unique_ptr<log::Tee> tee_;  // for several sinks
};

}  // namespace replay::results
