#include "scheduler/service/service_folder.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "scheduler/base/error.hpp"

namespace replay::service {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path folder_of(const std::string& given) {
  if (!given.empty()) return given;
  if (const std::string named = variable("REPLAY_SERVICE"); !named.empty()) return named;
  if (const std::string state = variable("XDG_STATE_HOME"); state.starts_with('/'))
    return fs::path{state} / "replay" / "service";
  if (const std::string home = variable("HOME"); home.starts_with('/'))
    return fs::path{home} / ".local" / "state" / "replay" / "service";
  throw UsageError(
      "no folder for the service: expected --service DIR, or one of REPLAY_SERVICE, XDG_STATE_HOME and HOME to be set");
}

}  // namespace

ServiceFolder::ServiceFolder(const std::string& given) : path_(fs::absolute(folder_of(given)).lexically_normal()) {
  if (!path_.has_filename()) path_ = path_.parent_path();  // "DIR/"
  if (const std::string path = socket().string(); path.size() > kLongestSocketPath)
    throw UsageError(
        fmt::format("--service {}: expected a folder whose socket has a path of at most {} bytes, found {}",
                    path_.string(), kLongestSocketPath, path.size()));
}

void ServiceFolder::expect_journal() const {
  std::error_code error;
  if (fs::exists(journal(), error) && fs::file_size(journal(), error) > 0) return;
  const bool has_jobs = fs::is_directory(jobs(), error) && !fs::is_empty(jobs(), error);
  std::int64_t number = 0;
  std::ifstream{last_number()} >> number;
  if (has_jobs || number > 0)
    throw InputError(fmt::format("{}: expected the journal of the jobs in {}, found none: put it back, or move {} away",
                                 journal().string(), (has_jobs ? jobs() : last_number()).string(),
                                 has_jobs && number > 0 ? fmt::format("them and {}", last_number().string())
                                 : has_jobs             ? "them"
                                                        : "that file"));
}

}  // namespace replay::service
