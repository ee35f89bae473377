// The folder of a service: where it is, and what its files are called. The daemon and its clients find each other by it.
#pragma once

#include <filesystem>
#include <string>

#include "scheduler/model/units.hpp"

namespace replay::service {

class ServiceFolder {
 public:
  /// The folder that --service names; empty: $REPLAY_SERVICE, else $XDG_STATE_HOME/replay/service, else
  /// ~/.local/state/replay/service. Made absolute; need not exist. Throws UsageError if none of them is set, or if a
  /// socket's path in it would be too long.
  explicit ServiceFolder(const std::string& given);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path socket() const { return path_ / "socket"; }
  [[nodiscard]] std::filesystem::path lock() const { return path_ / "lock"; }
  /// Held by agents that outlive their service.
  [[nodiscard]] std::filesystem::path agents_lock() const { return path_ / "agents"; }
  [[nodiscard]] std::filesystem::path journal() const { return path_ / "journal.db"; }
  /// The largest number that a job was given.
  [[nodiscard]] std::filesystem::path last_number() const { return path_ / kLastNumber; }
  /// Address of the live page, where standard output is no terminal.
  [[nodiscard]] std::filesystem::path page() const { return path_ / "live-page"; }
  /// A run folder for each period of the service.
  [[nodiscard]] std::filesystem::path runs() const { return path_ / "runs"; }
  /// A folder for each job that was started.
  [[nodiscard]] std::filesystem::path jobs() const { return path_ / "jobs"; }
  /// Standard output and error of a job, its command and environment.
  [[nodiscard]] std::filesystem::path job(JobId job) const { return jobs() / std::to_string(number(job)); }

  /// Throws InputError if there are jobs and no journal: a new one would give their numbers to other jobs.
  void expect_journal() const;

  /// The longest path of a Unix socket, by sockaddr_un.
  static constexpr std::size_t kLongestSocketPath = 107;
  static constexpr const char* kLastNumber = "last-number";

 private:
  std::filesystem::path path_;
};

}  // namespace replay::service
