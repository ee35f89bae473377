// jobs.csv, one line per job: Batsim's and Evalys' columns first, then ours. Written row by row during the run. docs/formats/jobs-csv.md describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/sharing_times.hpp"

namespace replay::results {

/// Turnaround time over execution time; NaN if the latter is zero. REQUIRES: row.ran().
[[nodiscard]] double stretch_of(const metrics::JobRow& row);
/// A cell of core numbers as "0-3 7 10-12": procset's text. Takes the room of two numbers for each range.
void put_cores(CsvLine& cells, std::span<const CoreRange> cores);

/// The file gets its name when it is closed. Every call throws InputError naming the file if it cannot be written (also
/// on a full disk).
class JobsCsv {
 public:
  enum class Columns : std::uint8_t {
    kAll,    ///< Batsim's, then ours
    kBatsim  ///< Batsim's alone
  };
  /// `bound` of the bounded slowdown.
  JobsCsv(const std::filesystem::path& file, const log::Header& header, Duration bound,
          Columns columns = Columns::kAll);
  /// What is said about a job beside what happened to it.
  struct Said {
    const metrics::ChosenSize* size = nullptr;       ///< by a policy; null: nothing
    const metrics::SharingTimes* sharing = nullptr;  ///< likewise
    Instant since = kNever;                          ///< another run has started it then
  };
  void put(const metrics::JobRow& row, std::string_view reason, std::span<const CoreRange> used_cores,
           const Said& said);
  /// Everything is written when this returns.
  void close() { cells_.close(); }

 private:
  [[nodiscard]] std::string hosts_of(std::span<const CoreRange> cores) const;

  std::string workload_;  // as a cell
  log::NodeNames names_;
  std::optional<Machine> machine_;               // if its nodes have names and there is a column for them
  std::string program_, clean_reason_, reason_;  // of the row that is written
  Duration bound_;
  Columns columns_;
  CsvFile cells_;
  bool has_requeues_, has_since_;  // columns
};

}  // namespace replay::results
