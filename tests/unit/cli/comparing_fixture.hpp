// Fixture for tests of the commands that compare runs: the program on five jobs.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {

/// The jobs of tests/unit/metrics/five_jobs.hpp: 1 to 5 instead of A to E.
inline constexpr const char* kFiveJobs =
    "; MaxProcs: 4\n"
    "1 0 -1 10 3 -1 -1 3 10 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "2 1 -1 10 4 -1 -1 4 10 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "3 2 -1 5 1 -1 -1 1 5 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "4 3 -1 8 1 -1 -1 1 8 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "5 4 -1 2 2 -1 -1 2 2 -1 1 1 1 -1 -1 -1 -1 -1\n";

class Comparing : public testing::Test {
 protected:
  Comparing() { write_text(folder_ / "t.swf", kFiveJobs); }

  ShellResult replay(const std::string& arguments, const std::string& in = "") {
    return shell(std::string{REPLAY_PROGRAM} + " " + arguments, folder_.path() / in);
  }
  /// Writes runs/easy and runs/fcfs.
  void simulate_both() { ASSERT_EQ(replay("simulate --trace t.swf --policy easy,fcfs --out runs").status, 0); }
  void expect_says(const std::string& arguments, int status, std::initializer_list<const char*> words) {
    const ShellResult result = replay(arguments);
    EXPECT_EQ(result.status, status) << arguments << "\n" << result.out << result.err;
    for (const char* word : words)
      EXPECT_NE((result.out + result.err).find(word), std::string::npos)
          << arguments << " does not say '" << word << "':\n"
          << result.out << result.err;
  }
  TemporaryFolder folder_;
};

}  // namespace replay::test
