// The event log of a run for exports: read from the file each time, as often as a format needs it, so that no export keeps
// a log in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/history/follower.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/model/units.hpp"

namespace replay::results {

/// Thrown after a stop signal.
struct ExportStopped {};

class RunLog {
 public:
  explicit RunLog(std::filesystem::path file) : file_(std::move(file)) {}
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  struct Read {
    Instant first{}, last{};  ///< of the first and the last record; zero if there is none
    std::size_t records = 0;
  };
  /// Passes the header and every record to `follower`; of a log that a run still writes at most `most` records, so that a
  /// second reading sees what the first one saw. Throws InputError naming file and line, and ExportStopped.
  Read read(history::Follower& follower, std::size_t most = static_cast<std::size_t>(-1)) const;
  /// How the log ended when it was read last.
  [[nodiscard]] const log::LogEnd& end() const { return end_; }

 private:
  std::filesystem::path file_;
  mutable log::LogEnd end_;
};

/// What runs in an export beside the files: remarks for the user, a line each.
using Remarks = std::vector<std::string>;

/// The paths of an export's files, in the order of its suffixes.
using ExportFiles = std::vector<std::string>;

}  // namespace replay::results
