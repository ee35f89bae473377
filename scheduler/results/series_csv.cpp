#include "scheduler/results/series_csv.hpp"

#include "scheduler/base/text/csv_file.hpp"

namespace replay::results {

void write_series_csv(const std::filesystem::path& path, const metrics::Series& series) {
  CsvFile file(path,
               "time_s,queued_jobs,waiting_processors,running_jobs,suspended_jobs,busy_cores,processes,mpl_ratio");
  for (const metrics::Point& point : series.points()) {
    CsvLine cells = file.begin_line(8);
    cells.seconds(point.at);
    cells.count(point.queued);
    cells.count(point.waiting_processors);
    cells.count(point.running);
    cells.count(point.suspended);
    cells.count(point.busy_cores);
    cells.count(point.processes);
    cells.ratio(static_cast<double>(point.processes) / series.cores());
    file.end_line(cells);
  }
  file.close();
}

}  // namespace replay::results
