// A run as Batsim leaves it: NAME_jobs.csv with Batsim's seventeen columns alone, and NAME_schedule.json with its summary
// under its names. Only jobs that ended are in it: Batsim writes a job when it has ended.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/results/export/job_rows.hpp"
#include "scheduler/results/export/writers.hpp"
#include "scheduler/results/jobs_csv.hpp"

namespace replay::results {
namespace {

class BatsimFiles final : public history::Observer, private JobRowReader {
 public:
  explicit BatsimFiles(const ExportFiles& files) : files_(files) {}

  [[nodiscard]] history::Observers observers() {
    history::Observers all = rows_.observers();
    all.insert(all.begin(), {this, &series_});
    return all;
  }
  void on_begin(const log::Header& header, const Machine& /*machine*/) override {
    csv_.emplace(files_[0], header, sums_.options().bound, JobsCsv::Columns::kBatsim);
  }
  Remarks finish() {
    rows_.finish();
    csv_->close();
    nlohmann::ordered_json summary = nlohmann::ordered_json::object();
    for (const auto& [name, value] : metrics::batsim_summary(sums_, series_))
      summary[std::string{name}] = number_or_null(value);
    write_json(files_[1], summary);
    if (left_out_ == 0) return {};
    return {fmt::format("{} that had not ended {} left out", counted(left_out_, "job"), left_out_ == 1 ? "is" : "are")};
  }

 private:
  void job(const metrics::JobRow& row, const metrics::RowTexts& texts, std::span<const CoreRange> cores) override {
    if (!row.has_ended()) {
      ++left_out_;
      return;
    }
    sums_.add(row);
    csv_->put(row, texts.reason, cores, {});
  }

  ExportFiles files_;
  std::optional<JobsCsv> csv_;
  metrics::JobSums sums_;
  metrics::Series series_{{.keep_points = false}};
  JobRows rows_{*this};
  std::size_t left_out_ = 0;
};

}  // namespace

Remarks export_batsim(const RunLog& run, const ExportFiles& files) {
  BatsimFiles writer{files};
  history::Follower follower{writer.observers()};
  (void)run.read(follower);
  return writer.finish();
}

}  // namespace replay::results
