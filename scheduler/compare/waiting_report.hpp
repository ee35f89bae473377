// Why one job of a run waited, as text for a terminal and as JSON: `replay why`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "scheduler/compare/waiting_reasons.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::compare {

struct ExplainedWait {
  log::Header header;  ///< of the event log
  WaitReport report;
};
/// Reads an event log; `merge` and `most_holders` as of WaitingReasonsOptions. Estimated ends are those of the runtime
/// model that the log names. Throws InputError, also if the log has no such job.
[[nodiscard]] ExplainedWait explain_wait(const std::filesystem::path& log_file, JobId job, bool merge,
                                         std::size_t most_holders);

struct WaitTextOptions {
  results::TimeStyle style = results::TimeStyle::kClock;
  std::size_t most_named = 5;    ///< overtaking jobs on a line
  std::size_t most_lines = 30;   ///< segments; of more, the first and the last
  std::string more = "--lines";  ///< what shows the others
};

/// The texts that to_text() makes of several jobs, in one pass over the log; empty for a job that it does not have. Does not
/// say when the log was cut off. O(records * waiting jobs of `jobs`). Throws InputError.
[[nodiscard]] std::vector<std::string> explain_waits(const std::filesystem::path& log_file, std::span<const JobId> jobs,
                                                     const WaitTextOptions& options);

using replay::to_text;  // the overloads for times, which the next one would hide
[[nodiscard]] std::string to_text(const WaitReport& report, const WaitTextOptions& options);
[[nodiscard]] nlohmann::ordered_json to_json(const WaitReport& report, const WaitTextOptions& options);

}  // namespace replay::compare
