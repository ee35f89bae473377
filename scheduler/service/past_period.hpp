// What is left of the last period of a service beside the journal: its event log and the folders of its jobs. They tell
// what a journal lacks that could not be written, or was copied without its newest part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/service/journal.hpp"
#include "scheduler/service/service_folder.hpp"

namespace replay::service {

struct PastPeriod {
  std::vector<LeftJob> left;   ///< the jobs whose ends the event log has
  std::int64_t last_job = 0;   ///< the largest number that the log or a folder mentions
  std::string unreadable_log;  ///< why no end could be read; empty: it could, or there is no log
};

/// The event log of a period: while that is played back, the whole one is aside.
[[nodiscard]] std::filesystem::path log_of(const std::filesystem::path& period);

/// The newest one; empty: there is none.
[[nodiscard]] std::filesystem::path newest_event_log(const ServiceFolder& folder);

/// Reads the newest event log. O(its size, and the folders of jobs).
[[nodiscard]] PastPeriod read_past_period(const ServiceFolder& folder);

}  // namespace replay::service
