#include "scheduler/results/event_log_file.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::results {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kMicro = 1'000'000;

std::vector<std::string> runs_below(const fs::path& folder) {
  std::vector<std::string> runs;
  for (const fs::path& run : folders_with("events.log", folder)) runs.push_back(run.string());
  return runs;
}

// ".25" of a second, "" where there is none.
std::string fraction_text(std::int64_t micro) {
  if (micro == 0) return "";
  std::string text = fmt::format(".{:06}", micro);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace

std::vector<fs::path> folders_with(const char* file, const fs::path& folder) {
  std::vector<fs::path> folders = entries_of(folder);
  std::error_code error;
  std::erase_if(folders, [&](const fs::path& below) {
    expect_readable(below);
    return !fs::exists(below / file, error);
  });
  return folders;
}

fs::path event_log_of(const std::string& run) {
  std::error_code error;
  expect_readable(run);
  if (!fs::exists(run, error))
    throw InputError(fmt::format("{}: expected a run's folder or its events.log, found nothing", run));
  if (!fs::is_directory(run, error)) return run;
  fs::path file = fs::path{run} / "events.log";
  if (fs::exists(file, error)) return file;
  const auto runs = runs_below(run);
  if (!runs.empty())
    throw InputError(
        fmt::format("{}: is the folder of {} runs, expected one of them: {}", run, runs.size(), fmt::join(runs, ", ")));
  throw InputError(fmt::format(
      "{}: has no events.log, so it is no run, or one whose --outputs left it out (--outputs events writes it)", run));
}

std::vector<fs::path> event_logs_of(const std::string& run) {
  std::error_code error;
  std::vector<fs::path> logs;
  expect_readable(run);
  if (fs::is_directory(run, error) && !fs::exists(fs::path{run} / "events.log", error))
    for (const std::string& below : runs_below(run)) logs.push_back(fs::path{below} / "events.log");
  if (logs.empty()) logs.push_back(event_log_of(run));
  return logs;
}

void expect_no_log(const fs::path& out, std::span<const fs::path> logs) {
  std::error_code error;
  for (const fs::path& log : logs)
    if (fs::equivalent(out, log, error))
      throw InputError(fmt::format("{}: is an event log that is read, expected another file", out.string()));
}

void read_event_log(const fs::path& file, const history::Observers& observers) {
  history::Follower follower{observers};
  read_event_log(file, follower);
}

void read_event_log(const fs::path& file, history::Follower& follower) {
  const log::LogEnd end = log::read_text(file, follower);
  if (!end)
    fmt::print(stderr, "replay: {}: the log was cut off{}; what follows is about what there is\n",
               clean_line(file.string()), end.reason.empty() ? "" : ": " + end.reason);
}

std::string instant_text(Instant instant, TimeStyle style) {
  if (instant == kNever) return "never";
  if (style == TimeStyle::kSeconds) return to_text(instant) + " s";
  const std::int64_t micro = instant.time_since_epoch().count();
  const std::int64_t size = micro < 0 ? -micro : micro;
  const std::int64_t s = size / kMicro;
  const std::string days = s >= 86400 ? fmt::format("{} ", s / 86400) : "";
  return fmt::format("{}{}{:02}:{:02}:{:02}{}", micro < 0 ? "-" : "", days, s / 3600 % 24, s / 60 % 60, s % 60,
                     fraction_text(size % kMicro));
}

}  // namespace replay::results
