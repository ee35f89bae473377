// The RUN that commands on finished runs take: a run's folder, or its events.log by itself; and times as people read
// them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "scheduler/history/follower.hpp"
#include "scheduler/model/units.hpp"

namespace replay::results {

/// The event log that RUN names. Throws InputError if there is none; for a folder of several policies' runs, with
/// their names.
[[nodiscard]] std::filesystem::path event_log_of(const std::string& run);

/// The same where RUN may also be the folder of several policies' runs: one log for each.
[[nodiscard]] std::vector<std::filesystem::path> event_logs_of(const std::string& run);

/// The folders directly below `folder` that have this file, sorted. Throws InputError for a folder that cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> folders_with(const char* file, const std::filesystem::path& folder);

/// What is made of logs must not take the place of one. Throws InputError if `out` is one of them.
void expect_no_log(const std::filesystem::path& out, std::span<const std::filesystem::path> logs);

/// Reads an event log for `observers`, which are told in this order; says on stderr when the log was cut off by a crash. Throws
/// InputError with file and line for a bad or impossible record.
void read_event_log(const std::filesystem::path& file, const history::Observers& observers);
/// The same for those of `follower`, which knows the last state afterwards.
void read_event_log(const std::filesystem::path& file, history::Follower& follower);

/// How instants of the trace are shown.
enum class TimeStyle { kClock, kSeconds };
/// "3 12:00:05" (days since the trace's zero, hours, minutes, seconds) or "302405 s"; "never" for kNever.
[[nodiscard]] std::string instant_text(Instant instant, TimeStyle style);

}  // namespace replay::results
