// A log in SWF where a run is expected: the run that repeats its schedule, simulated under the policy `logged`. So every
// reader of runs reads logs, too.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace replay::experiment {

/// The event logs are in temporary folders, as long as this exists; those of a program that was killed go with the next
/// one.
class LoggedRuns {
 public:
  LoggedRuns();
  LoggedRuns(const LoggedRuns&) = delete;
  LoggedRuns& operator=(const LoggedRuns&) = delete;
  ~LoggedRuns();

  /// `run` itself, or the event log of its schedule if it is a log in SWF (.gz too), with its file name. Says on stderr
  /// what a reader of the schedule has to know. Throws InputError for another kind of file that is known and is no run,
  /// and for a log that does not say when its jobs started.
  [[nodiscard]] std::string run_of(const std::string& run);
  [[nodiscard]] std::vector<std::string> runs_of(std::span<const std::string> runs);
  /// What was given where run_of() has answered `log`; nothing if it is another one.
  [[nodiscard]] std::optional<std::string> given_for(const std::filesystem::path& log) const;

 private:
  struct Made;
  std::map<std::string, std::unique_ptr<Made>> made_;  // by what was given
};

}  // namespace replay::experiment
