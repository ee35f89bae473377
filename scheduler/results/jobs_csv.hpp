// jobs.csv, one line per job: Batsim's and Evalys' columns first, then ours. Written row by row during the run. docs/formats/jobs-csv.md describes it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/sharing_times.hpp"

namespace replay::results {

/// The file gets its name when it is closed. Every call throws InputError naming the file if it cannot be written (also
/// on a full disk).
class JobsCsv {
 public:
  /// `bound` of the bounded slowdown.
  JobsCsv(const std::filesystem::path& file, const log::Header& header, Duration bound);
  /// What policies say about a job, beside what happened to it; null: nothing.
  struct Said {
    const metrics::ChosenSize* size = nullptr;
    const metrics::SharingTimes* sharing = nullptr;
  };
  void put(const metrics::JobRow& row, std::string_view reason, std::span<const CoreRange> used_cores,
           const Said& said);
  /// Everything is written when this returns.
  void close() { cells_.close(); }

 private:
  std::string workload_;                         // as a cell
  std::string program_, clean_reason_, reason_;  // of the row that is written
  Duration bound_;
  CsvFile cells_;
};

}  // namespace replay::results
