// What becomes of a run's event log: the log file, and the tables that the other outputs and the result are made from. Both
// commands record in the same way, so that a simulated and a real run leave the same files.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cli/outputs.hpp"
#include "scheduler/cli/scenario.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/metrics/row_stream.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/policy/registry.hpp"

namespace replay::cli {

/// One policy's run, over.
struct PolicyRun {
  std::string policy;
  std::string machine;           ///< as in the event log
  std::filesystem::path folder;  ///< empty: nothing was written
  metrics::Summary summary;
  std::size_t failed = 0;                    ///< jobs that failed by themselves, or whose verification did
  std::size_t verified = 0;                  ///< jobs whose verification passed
  std::map<std::string, std::size_t> rigid;  ///< jobs whose processes could not share cores, by reason
  bool interrupted = false;
  std::string lost;         ///< why the executor was lost
  std::string fault;        ///< what the policy did that ended the run
  bool disturbed = false;   ///< others used the machine before or after (real runs)
  double load_before = -1;  ///< share of CPU time that others used; -1: not measured
  double load_after = -1;
};

class Recorder final : private metrics::RowReader {
 public:
  /// `folder` empty: nothing is written. Makes the folder. Throws UsageError for an unknown output.
  Recorder(std::filesystem::path folder, const std::string& outputs, std::string command_line, const char* body,
           const NamedPolicy& policy, const Scenario& scenario, const CommonOptions& options,
           const std::string& machine, double time_scale);

  /// How jobs are run for real, by name; for run.json. Before begin().
  void keep(std::vector<std::pair<std::string, std::string>> settings) { settings_ = std::move(settings); }
  /// Another reader of the records. Before begin(); must outlive the recorder's use.
  void also(log::Sink& sink) { sinks_.push_back(&sink); }
  /// Writes the header; records may come from now on.
  void begin();
  [[nodiscard]] log::Sink& sink() { return *tee_; }
  /// Brings the event log on disk up to date: what a reader sees while the run goes on, or after it was killed.
  void flush();
  /// The tables are complete: computes the summary. Throws InputError when the event log cannot be written.
  [[nodiscard]] PolicyRun finish();
  /// Writes the other outputs, with what is known of the run by now. Throws InputError when a file cannot be written.
  void write(const PolicyRun& run);

 private:
  void row(const metrics::JobRow& row, const metrics::RowTexts& texts) override;
  [[nodiscard]] bool wants(const char* output) const { return !folder_.empty() && outputs_.contains(output); }
  void write_run_json(const PolicyRun* run);

  std::filesystem::path folder_;
  std::set<std::string> outputs_;
  std::string command_line_;
  std::string started_;
  const Scenario& scenario_;
  const CommonOptions& options_;
  std::string policy_;
  double time_scale_;
  std::vector<std::pair<std::string, std::string>> settings_;
  std::vector<std::string> policy_files_;
  std::vector<InputFile> inputs_;  // hashed once
  log::Header header_;
  std::unique_ptr<log::TextWriter> events_;
  metrics::RowStream rows_;  // hands them to us
  metrics::JobSums sums_;
  metrics::Series series_;
  metrics::CoreNames names_;
  std::optional<JobsCsv> jobs_csv_;  // these two grow with the run
  std::optional<ScheduleSwf> schedule_;
  PolicyRun run_;  // what is known of it
  std::vector<log::Sink*> sinks_;
  std::unique_ptr<log::Tee> tee_;
};

/// Prints the result table (as JSON if asked) and where the results are. Returns the exit status: that after a
/// stop signal if one was heeded, 1 if a job failed or the run ended before its time, else 0.
[[nodiscard]] int report(const std::vector<PolicyRun>& runs, const Scenario& scenario,
                         const std::filesystem::path& folder, bool json);

}  // namespace replay::cli
