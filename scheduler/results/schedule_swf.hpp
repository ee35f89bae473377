// schedule.swf, the run as a trace in the Standard Workload Format: with waits, run times and states as they came out.
// Written row by row during the run. docs/formats/swf.md describes it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "scheduler/log/record.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "traces/swf_writer.hpp"

namespace replay::results {

/// The file gets its name when it is closed. Every call throws InputError naming the file if it cannot be written (also
/// on a full disk).
class ScheduleSwf {
 public:
  /// `jobs`: the expected number, for the header, if there is one.
  ScheduleSwf(const std::filesystem::path& file, const log::Header& header, CoreCount cores,
              std::optional<std::size_t> jobs);
  void put(const metrics::JobRow& row);
  /// Everything is written when this returns; the header has the actual number of jobs.
  void close();

 private:
  SwfHeader header_;
  SwfWriter writer_;
  std::size_t expected_;
  std::size_t jobs_ = 0;
};

}  // namespace replay::results
