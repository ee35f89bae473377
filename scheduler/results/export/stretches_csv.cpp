// A run as a table of stretches: what each job had on the machine from one change to the next, a line each, for R, pandas
// and the like. docs/formats/stretches-csv.md describes it.

#include <string_view>
#include <vector>

#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/metrics/sharing_times.hpp"
#include "scheduler/metrics/stretches.hpp"
#include "scheduler/results/export/node_ranges.hpp"
#include "scheduler/results/export/writers.hpp"
#include "scheduler/results/jobs_csv.hpp"

namespace replay::results {
namespace {

constexpr std::string_view kStretchColumns =
    "job,from_s,to_s,state,cores,core_list,node_list,processes,mpl,shareable,class,user,group,queue,requested,"
    "submitted_s";

class StretchesCsv final : public history::Observer, private metrics::StretchReader {
 public:
  explicit StretchesCsv(const std::string& file) : csv_(file, kStretchColumns) {}

  [[nodiscard]] history::Follower& follower() { return follower_; }
  void on_record(const log::Record& record, const history::JobState* /*job*/) override {
    told_.forget(std::get<log::Finished>(record.what).job);  // its last stretch is written
  }
  [[nodiscard]] log::Kinds records() const override { return log::kinds<log::Finished>(); }
  void finish(Instant last) {
    stretches_.open(last, *this);
    csv_.close();
  }

 private:
  void stretch(const metrics::Stretch& stretch) override {
    if (stretch.from >= stretch.to) return;
    nodes_.clear();
    for_each_node_range(stretch.cores, follower_.machine(), [&](NodeId node, const CoreRange&) {
      const CoreId number{static_cast<std::int32_t>(node)};
      if (!nodes_.empty() && nodes_.back().last >= prev(number))
        nodes_.back().last = number;
      else
        nodes_.push_back({number, number});
    });
    constexpr std::size_t kNumbers = 20, kWords = 40;
    CsvLine cells = csv_.begin_line(kNumbers + 2 * (stretch.cores.size() + nodes_.size()), kWords);
    cells.count(number(stretch.job));
    cells.seconds(stretch.from);
    cells.seconds(stretch.to);
    if (stretch.kind == metrics::Stretch::Kind::kSuspended)
      cells.word("suspended");
    else
      cells.word("runs");
    cells.count(stretch.core_count());
    put_cores(cells, stretch.cores);
    put_cores(cells, nodes_);
    cells.count(stretch.processes);
    cells.count(stretch.mpl);
    cells.count(stretch.shareable ? 1 : 0);
    put_job(cells, *stretch.state);
    csv_.end_line(cells);
  }
  void put_job(CsvLine& cells, const history::JobState& job) {
    const metrics::SharingTimes* const told = told_.find(job.id);
    if (told != nullptr && told->job_class)
      cells.word(to_text(*told->job_class));
    else
      cells.empty();
    for (const std::int32_t field : {job.user, job.group, job.queue}) {
      if (field >= 0)
        cells.count(field);
      else
        cells.empty();
    }
    cells.count(job.requested);
    cells.seconds(job.submitted);
  }

  CsvFile csv_;
  metrics::Stretches stretches_{*this};
  metrics::SharingFacts told_;
  history::Follower follower_{{&stretches_, &told_, this}};
  std::vector<CoreRange> nodes_;  // ranges of node numbers
};

}  // namespace

Remarks export_stretches_csv(const RunLog& run, const ExportFiles& files) {
  StretchesCsv csv{files.front()};
  csv.finish(run.read(csv.follower()).last);
  return {};
}

}  // namespace replay::results
