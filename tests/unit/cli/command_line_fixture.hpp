// The program with a folder of its own, for tests of its command line.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {

inline const std::string kReplay = REPLAY_PROGRAM;
inline const std::string kSynth = REPLAY_SOURCE_DIR "/traces/synth.swf";

inline constexpr const char* kTwoJobs =
    "; MaxProcs: 4\n"
    "1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
    "2 5 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 -1 -1 -1 -1\n";

class CommandLine : public testing::Test {
 protected:
  ShellResult replay(const std::string& arguments) { return shell(kReplay + " " + arguments, folder_.path()); }
  void expect_complaint(const std::string& arguments, int status, std::initializer_list<const char*> words) {
    const ShellResult result = replay(arguments);
    EXPECT_EQ(result.status, status) << arguments << "\n" << result.out << result.err;
    for (const char* word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << arguments << " says: " << result.err;
    EXPECT_EQ(result.err.find("terminate called"), std::string::npos) << result.err;
  }
  TemporaryFolder folder_;
};

}  // namespace replay::test
