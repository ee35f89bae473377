// What the commands for jobs of a service have in common: the option that names the service, and a job in words.
#pragma once

#include <string>
#include <vector>

#include "scheduler/cli/options.hpp"
#include "scheduler/service/messages.hpp"

namespace replay::cli {

/// Of a job, and of those that name none.
inline constexpr DurationRange kTimeLimit{.least = service::kShortestLimit,
                                          .most = service::kLongestLimit,
                                          .expected = "a duration from 1 s to 10 years, such as 90s, 10min or 2h",
                                          .needs_unit = true};

/// Adds --service.
void add_service_option(CLI::App& command, std::string& folder);

/// "running", or how it has ended: "failed with exit code 3".
[[nodiscard]] std::string state_text(const service::JobStatus& job);
/// A row for each job, with titles; times of day are local ones. `now`: for those that wait or run.
[[nodiscard]] std::string jobs_table(const std::vector<service::JobStatus>& jobs, service::UnixTime now);
/// All that is known of a job, a line for each fact.
[[nodiscard]] std::string job_text(const service::JobStatus& job, service::UnixTime now);

}  // namespace replay::cli
