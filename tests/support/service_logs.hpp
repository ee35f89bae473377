// The ends of a service's jobs, as the event logs of its periods tell them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/shell.hpp"

namespace replay::test {

struct EndsInLogs {
  std::map<int, int> completed;
  std::map<int, int> ends;  ///< but for those of jobs that waited on or were queued again, and cancellations
};

/// `runs`: the folder of its periods.
[[nodiscard]] inline EndsInLogs ends_in_logs(const std::filesystem::path& runs) {
  EndsInLogs found;
  for (const auto& run : std::filesystem::directory_iterator(runs)) {
    std::istringstream log{text_of(run.path() / "events.log")};
    for (std::string line; std::getline(log, line);) {
      const std::size_t at = line.find(" finish job=");
      if (at == std::string::npos || line.find("outcome=") == std::string::npos) continue;
      const int job = std::atoi(line.c_str() + at + 12);
      if (line.find("outcome=completed") != std::string::npos) ++found.completed[job];
      if (line.find("outcome=cancelled") == std::string::npos &&
          line.find("the service was stopped") == std::string::npos)
        ++found.ends[job];
    }
  }
  return found;
}

}  // namespace replay::test
