#include "scheduler/results/result_files.hpp"

#include <fmt/core.h>

#include <utility>

#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/results/metrics_json.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/series_csv.hpp"
#include "traces/nodes/node_table.hpp"

namespace replay::results {

ResultFiles::ResultFiles(std::filesystem::path folder, const std::set<std::string>& outputs)
    : folder_(std::move(folder)),
      outputs_(outputs),
      rows_(*this),
      series_({.keep_points = !folder_.empty() && outputs_.contains("series")}),
      writes_jobs_(wants("jobs")) {}

history::Observers ResultFiles::observers() {
  // A job's cores and sizes are known before its row is complete.
  if (writes_jobs_) return {this, &names_, &sizes_, &sharing_, &rows_, &series_};
  return {this, &rows_, &series_};
}

void ResultFiles::on_begin(const log::Header& header, const Machine& machine) {
  header_ = header;
  names_of_nodes_ = {header, machine};
  sums_.expect(jobs_.value_or(0));
  if (wants("jobs")) jobs_csv_.emplace(path_of("jobs"), header_, sums_.options().bound);
  if (wants("swf")) schedule_.emplace(path_of("swf"), header_, history::stated_cores(header_, machine), jobs_);
}

void ResultFiles::row(const metrics::JobRow& row, const metrics::RowTexts& texts) {
  sums_.add(row);
  const bool wrong = row.verification == Verification::kFailed || row.outcome == Outcome::kFailed;
  run_.failed += row.has_ended() && wrong ? 1u : 0u;
  run_.lost_jobs += row.has_ended() && row.outcome == Outcome::kLost ? 1u : 0u;
  run_.verified += row.verification == Verification::kPassed ? 1u : 0u;
  if (!texts.rigid_reason.empty()) ++run_.rigid[std::string{texts.rigid_reason}];
  if (schedule_ && !write_or_note(run_.unwritten, [&] { schedule_->put(row); })) schedule_.reset();
  if (writes_jobs_) {
    const auto put = [&] {
      const auto adopted = since_.find(row.job);
      jobs_csv_->put(
          row, texts.reason, names_.used(row.job),
          {sizes_.find(row.job), sharing_.find(row.job), adopted == since_.end() ? kNever : adopted->second});
    };
    if (jobs_csv_ && !write_or_note(run_.unwritten, put)) jobs_csv_.reset();
    names_.forget(row.job);
    sizes_.forget(row.job);
    sharing_.forget(row.job);
  }
}

void ResultFiles::on_record(const log::Record& record, const history::JobState* /*job*/) {
  if (const auto* launched = std::get_if<log::Launched>(&record.what)) {
    if (launched->since != kNever)
      since_[launched->job] = launched->since;
    else if (!since_.empty())
      since_.erase(launched->job);  // it has begun anew
    return;
  }
  node_events_.push_back({record.at, std::get<NodeChange>(record.what)});
}

PolicyRun ResultFiles::finish() {
  rows_.hand_over_rest();
  run_.machine = header_.value("machine");
  run_.folder = folder_;
  run_.summary = metrics::summarise(sums_, series_);
  std::map<NodeId, int> downs;
  for (const auto& [at, change] : node_events_) downs[change.node] += change.state == NodeState::kDown ? 1 : 0;
  for (const auto& [node, times] : downs)
    if (times > 1) run_.often_down.push_back(fmt::format("{} {} times", names_of_nodes_.of(node), times));
  return std::move(run_);
}

void ResultFiles::write(PolicyRun& run) {
  const auto attempt = [&run](const auto& write) { (void)write_or_note(run.unwritten, write); };
  if (jobs_csv_) attempt([this] { jobs_csv_->close(); });
  if (schedule_) attempt([this] { schedule_->close(); });
  jobs_csv_.reset();  // a file that could not be written frees its disk space
  schedule_.reset();
  if (wants("metrics")) attempt([&] { write_metrics_json(path_of("metrics"), header_, sums_, series_, run.summary); });
  if (wants("series")) attempt([this] { write_series_csv(path_of("series"), series_); });
  if (wants("nodes") && !node_events_.empty())
    attempt([this] { write_whole_file(path_of("nodes"), node_table_text(node_events_)); });
}

std::filesystem::path ResultFiles::path_of(const char* output) const { return folder_ / file_of(output); }

}  // namespace replay::results
