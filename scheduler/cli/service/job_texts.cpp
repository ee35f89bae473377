#include "scheduler/cli/service/job_texts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <span>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/model/units.hpp"

namespace replay::cli {
namespace {

using service::JobState;
using service::JobStatus;
using service::UnixTime;

constexpr std::size_t kNameColumn = 24;  // bytes of a name in a table

std::string clock_text(UnixTime at) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::chrono::system_clock::to_time_t(at)));
}

// From `from` to `to`, in whole seconds: users look at it again and again.
std::string span_text(UnixTime from, UnixTime to) {
  return length_text(std::max<Duration>(Duration::zero(), std::chrono::round<std::chrono::seconds>(to - from)));
}

std::string waited_text(const JobStatus& job, UnixTime now) {
  return span_text(job.submitted, job.started.value_or(job.ended.value_or(now)));
}

std::string ran_text(const JobStatus& job, UnixTime now) {
  return job.started ? span_text(*job.started, job.ended.value_or(now)) : "-";
}

// Why jobs wait: a line for each reason, with its jobs.
std::string waiting_lines(const std::vector<JobStatus>& jobs) {
  constexpr std::size_t kMostNamed = 10;
  std::map<std::string, std::vector<JobId>> by_reason;
  for (const JobStatus& job : jobs)
    if (job.state == JobState::kWaiting) by_reason[clean_line(job.reason)].push_back(job.id);
  std::string text;
  for (const auto& [reason, ids] : by_reason) {
    if (reason.empty()) continue;
    const auto named = std::span{ids}.first(std::min(ids.size(), kMostNamed));
    text += fmt::format("{} {}{}: {}\n", noun_for(ids.size(), "job"),
                        joined(named, ", ", [](JobId id) { return fmt::to_string(number(id)); }),
                        named.size() < ids.size() ? ", ..." : "", reason);
  }
  return text;
}

const CLI::Validator kIsGiven{[](const std::string& folder) {
                                if (folder.empty()) throw UsageError("--service: expected a folder, found ''");
                                return std::string{};
                              },
                              ""};

}  // namespace

void add_service_option(CLI::App& command, std::string& folder) {
  command
      .add_option("--service", folder,
                  "folder of the service (default: $REPLAY_SERVICE, else replay/service in the user's state folder)")
      ->check(kIsGiven)
      ->type_name("DIR");
}

std::string state_text(const JobStatus& job) {
  if (job.state != JobState::kEnded || !job.outcome) return std::string{to_text(job.state)};
  const std::string outcome{to_text(*job.outcome)};
  if (*job.outcome == Outcome::kOverrun) return outcome + ", over its time limit";
  return *job.outcome == Outcome::kFailed && job.exit_code > 0 ? fmt::format("{}, exit code {}", outcome, job.exit_code)
                                                               : outcome;
}

std::string jobs_table(const std::vector<JobStatus>& jobs, UnixTime now) {
  std::vector<std::vector<std::string>> rows{
      {"job", "name", "user", "state", "processes", "cores", "limit", "submitted", "waited", "ran"}};
  for (const JobStatus& job : jobs)
    rows.push_back({fmt::format("{}", number(job.id)), std::string{cut_text(job.name, kNameColumn)}, job.user,
                    state_text(job), fmt::format("{}", job.processes),
                    job.cores > 0 ? fmt::format("{}", job.cores) : "-", length_text(job.time_limit),
                    clock_text(job.submitted), waited_text(job, now), ran_text(job, now)});
  return aligned(rows) + waiting_lines(jobs);
}

std::string job_text(const JobStatus& job, UnixTime now) {
  std::string text = fmt::format("job {} ({}) of {}: {}\n", number(job.id), job.name, job.user, state_text(job));
  const auto line = [&text](const char* what, const std::string& value) {
    text += fmt::format("  {:<11}{}\n", what, value);
  };
  if (!job.reason.empty()) line("reason", job.reason);
  line("command", job.command);
  line("directory", visible_text(job.directory));
  const std::string output = visible_text(job.output);
  line("output", job.started ? output : "none before it starts; then in " + output);
  line("processes", job.cores > 0 ? fmt::format("{} on {}", job.processes, counted(job.cores, "core"))
                                  : fmt::format("{}", job.processes));
  line("limit", length_text(job.time_limit));
  line("submitted", clock_text(job.submitted));
  line(job.started ? "started" : "waited",
       job.started ? fmt::format("{}, after {}", clock_text(*job.started), waited_text(job, now))
                   : waited_text(job, now));
  if (job.ended) line("ended", fmt::format("{}", clock_text(*job.ended)));
  if (job.started) line("ran", ran_text(job, now));
  return text;
}

}  // namespace replay::cli
