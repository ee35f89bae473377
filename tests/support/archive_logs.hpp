// The logs of the Parallel Workloads Archive. They are not part of the source: a test that needs a missing one skips
// with a message.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>

namespace replay::test {

/// The folder of the logs: REPLAY_PWA_DIR, or one beside the project. It need not exist.
inline std::filesystem::path archive_folder() {
  const char* const named = std::getenv("REPLAY_PWA_DIR");
  if (named != nullptr && *named != '\0') return named;
  return std::filesystem::path{REPLAY_SOURCE_DIR} / "../shared/traces/pwa";
}

/// The path of NAME.swf.gz; need not exist.
inline std::string archive_log(const std::string& name) { return (archive_folder() / (name + ".swf.gz")).string(); }

/// NAME-EASY-reference.swf.gz: a log with each job's wait under EASY in field 3, as another simulator (pyss) computed
/// it.
struct EasyReferenceLog {
  const char* name;
  std::size_t jobs;
  [[nodiscard]] std::string path() const { return archive_log(std::string{name} + "-EASY-reference"); }
};
inline void PrintTo(const EasyReferenceLog& log, std::ostream* out) { *out << log.name; }

inline constexpr EasyReferenceLog kEasyReferenceLogs[] = {
    {"KTH-SP2", 28'481}, {"SDSC-SP2", 54'006}, {"CTC-SP2", 77'199}, {"SDSC-BLUE", 232'542}};  // 392,228 jobs

/// For the names of tests: KTHSP2.
inline std::string name_of_log(const testing::TestParamInfo<EasyReferenceLog>& log) {
  std::string name = log.param.name;
  std::erase(name, '-');
  return name;
}

}  // namespace replay::test

/// Ends the test as skipped unless `path` exists.
#define SKIP_WITHOUT(path)                                \
  if (!std::filesystem::exists(path))                     \
  GTEST_SKIP() << (path)                                  \
               << " is not there: set REPLAY_PWA_DIR to " \
                  "the folder of the archive's .swf.gz files"
