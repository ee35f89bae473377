// Reads the schedule that an audit is about: a run's folder or its jobs.csv, what Batsim writes, or SWF with waits.
// The content decides which, not the name. docs/audit.md says which jobs are left out.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/audit/schedule.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/model/units.hpp"
#include "traces/cleaning.hpp"

namespace replay::audit {

struct ScheduleFile {
  audit::Schedule schedule;
  std::string name;                             ///< for messages
  std::string format;                           ///< "SWF", "CSV"
  std::size_t records = 0;                      ///< read; those left out too
  std::map<std::string, std::size_t> left_out;  ///< how many, by reason
  std::size_t changed = 0;                      ///< jobs that were shrunk, expanded or suspended
  std::vector<std::string> odd_lines;           ///< messages for the user; empty if there were none
  std::optional<CoreCount> machine_size;        ///< as the schedule, or the run's folder, states it
};

/// A folder, a file (gzip too) or "-" for standard input. Throws InputError: cannot be read, a broken row of a table,
/// no schedule in it. `queue_from`: from when a job of SWF waits that could not start at once, as the side file says.
[[nodiscard]] ScheduleFile read_schedule(const std::string& path, QueueFrom queue_from = QueueFrom::kEligible);

/// The same for a table with a header row. Columns are found by name.
[[nodiscard]] ScheduleFile read_schedule_csv(std::unique_ptr<ByteSource> source);

}  // namespace replay::audit
