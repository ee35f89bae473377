// Computes rows and figures from the records of a run's event log and writes the files made of them. A run passes its
// records as they occur, and `replay results` reads them from events.log; both get the same bytes. A file that cannot
// be written does not end the run: it is left out and reported.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/metrics/row_stream.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/sharing_times.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/results/jobs_csv.hpp"
#include "scheduler/results/schedule_swf.hpp"

namespace replay::results {

/// The result of one policy's run.
struct PolicyRun {
  std::string policy;
  std::string machine;           ///< as in the event log
  std::filesystem::path folder;  ///< empty: nothing was written
  metrics::Summary summary;
  std::size_t failed = 0;                 ///< jobs that failed by themselves, or failed their verification
  std::size_t lost_jobs = 0;              ///< jobs that were lost with a node, and have not run again
  std::vector<std::string> often_down{};  ///< nodes that went down several times, each with how often: "node2 3 times"
  std::size_t verified = 0;               ///< jobs that passed their verification
  std::map<std::string, std::size_t> rigid;  ///< jobs with processes that could not share cores, by reason
  bool left = false;                         ///< its jobs go on, and so will the run: there are no results yet
  std::string not_kept;                      ///< why it has left them, and not ended as it was told
  bool interrupted = false;
  int first_stop = 0;      ///< the stop signal that came first to it, though to another daemon; 0: not known
  std::string lost;        ///< why the executor was lost
  std::string fault;       ///< what the policy did that ended the run
  std::string broken_off;  ///< why no further job was started
  std::vector<std::string> unwritten;  ///< files that could not be written, each with the reason
  std::optional<bool> disturbed =
      false;                ///< other processes used the machine before or after (real runs); nothing: not known
  double load_before = -1;  ///< share of CPU time that other processes used; -1: not measured
  double load_after = -1;
};

class ResultFiles final : public history::Observer, private metrics::RowReader {
 public:
  /// Which of the files that are made of rows and figures `outputs` names. `folder` empty: none.
  ResultFiles(std::filesystem::path folder, const std::set<std::string>& outputs);

  /// What is to follow the run, in this order.
  [[nodiscard]] history::Observers observers();
  /// Before the run: as many jobs as the trace has, if that is known.
  void expect(std::optional<std::size_t> jobs) { jobs_ = jobs; }
  /// Throws InputError when a file cannot be made.
  void on_begin(const log::Header& header, const Machine& machine) override;
  /// Call it once, after the last record: computes the summary.
  [[nodiscard]] PolicyRun finish();
  void on_record(const log::Record& record, const history::JobState* job) override;
  [[nodiscard]] log::Kinds records() const override {
    return writes_jobs_ ? log::kinds<NodeChange, log::Launched>() : log::kinds<NodeChange>();
  }
  /// Gives the files their names. Adds to run.unwritten.
  void write(PolicyRun& run);

 private:
  void row(const metrics::JobRow& row, const metrics::RowTexts& texts) override;
  [[nodiscard]] bool wants(const char* output) const { return !folder_.empty() && outputs_.contains(output); }
  [[nodiscard]] std::filesystem::path path_of(const char* output) const;

  std::filesystem::path folder_;
  std::set<std::string> outputs_;
  std::optional<std::size_t> jobs_;
  log::Header header_;
  metrics::RowStream rows_;  // calls row()
  metrics::JobSums sums_;
  metrics::Series series_;
  metrics::CoreNames names_;
  metrics::ChosenSizes sizes_;
  metrics::SharingFacts sharing_;
  std::map<JobId, Instant> since_;   // of adopted jobs, when another run has started them
  bool writes_jobs_;                 // jobs.csv, which names the cores and the size that a job had
  std::optional<JobsCsv> jobs_csv_;  // these two grow with the run
  std::optional<ScheduleSwf> schedule_;
  std::vector<NodeEvent> node_events_;
  log::NodeNames names_of_nodes_;
  PolicyRun run_;  // as far as it is known
};

/// Calls `write`; where it throws InputError, its message is added to `unwritten` and the result is false.
template <class Write>
bool write_or_note(std::vector<std::string>& unwritten, const Write& write) {
  try {
    write();
    return true;
  } catch (const InputError& error) {
    unwritten.emplace_back(error.what());
    return false;
  }
}

}  // namespace replay::results
