// A run as a CSV file that Evalys loads with JobSet.from_csv(): the columns that its JobSet names, and the jobs that it can
// draw. Its rules: core numbers from 0 as "0-3 7" (procset), times in seconds, no job without cores among all.
#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/results/export/job_rows.hpp"
#include "scheduler/results/export/writers.hpp"
#include "scheduler/results/jobs_csv.hpp"

namespace replay::results {
namespace {

constexpr std::string_view kEvalysColumns =
    "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,"
    "execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources";

class EvalysFile final : public history::Observer, private JobRowReader {
 public:
  explicit EvalysFile(const std::string& file) : csv_(file, kEvalysColumns) {}

  [[nodiscard]] history::Observers observers() {
    history::Observers all = rows_.observers();
    all.insert(all.begin(), this);
    return all;
  }
  void on_begin(const log::Header& header, const Machine& /*machine*/) override {
    const std::string name = clean_line(std::filesystem::path(header.value("trace")).filename().string());
    std::string memory;
    workload_ = CsvFile::quoted(name, memory);
  }

  Remarks finish(const std::string& run) {
    rows_.finish();
    if (written_ == 0)
      throw InputError(fmt::format(
          "{}: no job came to its end on cores: expected at least one, as Evalys loads no file without", run));
    csv_.close();
    if (left_out_ == 0) return {};
    return {fmt::format("{} that never ran or had not ended {} left out", counted(left_out_, "job"),
                        left_out_ == 1 ? "is" : "are")};
  }

 private:
  void job(const metrics::JobRow& row, const metrics::RowTexts& /*texts*/, std::span<const CoreRange> cores) override {
    if (!row.ran()) {
      ++left_out_;
      return;
    }
    constexpr std::size_t kNumbers = 16;
    CsvLine cells = csv_.begin_line(kNumbers + 2 * cores.size(), workload_.size());
    cells.count(number(row.job));
    cells.word(workload_);
    cells.seconds(row.submitted);
    cells.count(row.processes);
    cells.seconds(row.estimate);
    cells.count(row.outcome == Outcome::kCompleted ? 1 : 0);
    cells.seconds(row.launched);
    cells.seconds(row.execution());
    cells.seconds(row.finished);
    cells.seconds(row.wait());
    cells.seconds(row.response());
    cells.ratio(stretch_of(row));
    put_cores(cells, cores);
    csv_.end_line(cells);
    ++written_;
  }

  CsvFile csv_;
  std::string workload_;
  JobRows rows_{*this};
  std::size_t written_ = 0, left_out_ = 0;
};

}  // namespace

Remarks export_evalys(const RunLog& run, const ExportFiles& files) {
  EvalysFile file{files.front()};
  history::Follower follower{file.observers()};
  (void)run.read(follower);
  return file.finish(run.file().string());
}

}  // namespace replay::results
