// Tests of `replay generate`: its output on stdout, in files and on stderr, and errors.

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

class Generate : public testing::Test {
 protected:
  ShellResult replay(const std::string& arguments) {
    return shell(std::string{REPLAY_PROGRAM} + " " + arguments, folder_.path());
  }
  void expect_complaint(const std::string& arguments, int status, std::initializer_list<const char*> words) {
    const ShellResult result = replay("generate " + arguments);
    EXPECT_EQ(result.status, status) << arguments << "\n" << result.err;
    for (const char* word : words)
      EXPECT_NE(result.err.find(word), std::string::npos) << arguments << " says: " << result.err;
  }
  TemporaryFolder folder_;
};

std::string command_in(const std::string& trace) {
  const std::string mark = "; Note: made by: replay ";
  const std::size_t from = trace.find(mark);
  if (from == std::string::npos) return "no note";
  return trace.substr(from + mark.size(), trace.find('\n', from) - from - mark.size());
}

TEST_F(Generate, TheCommandInTheHeaderMakesTheSameBytes) {
  for (const std::string options :
       {"--jobs 50", "--jobs 40 --load 0.7 --machine-size 100 --seed 5 --uhi 5.5 --start-hour 7",
        "--jobs 60 --duration 2h --load 0.5 --solve runtimes --min-runtime 5s --max-runtime 2h --machine-size 32",
        "--types --jobs 50 --batch.aarr 6.5 --interactive.uprob 0.8 --rng drand48 --seed 3",
        "--duration 1d --arrivals poisson --aarr 0.1 --arar 100", "--jobs 30 --uhi 6 --umed 4.5"}) {
    const ShellResult first = replay("generate lublin " + options);
    ASSERT_EQ(first.status, 0) << options << first.err;
    const std::string command = command_in(first.out);
    EXPECT_EQ(replay(command).out, first.out) << options << "\n" << command;
  }
}

TEST_F(Generate, TheTraceGoesToStandardOutputAndTheSummaryToStderr) {
  const ShellResult result = replay("generate lublin --jobs 20");
  EXPECT_TRUE(result.out.starts_with("; Version: 2.2\n"));
  EXPECT_NE(result.err.find("20 jobs"), std::string::npos) << result.err;
  const ShellResult info = shell(std::string{REPLAY_PROGRAM} + " generate lublin --jobs 300 --load 0.8 | " +
                                     std::string{REPLAY_PROGRAM} + " trace info -",
                                 folder_.path());
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_NE(info.out.find("0.800"), std::string::npos) << info.out;  // offered load
}

TEST_F(Generate, SetsOfALogGoToAFolderAndASingleOneIsTheSame) {
  ASSERT_EQ(replay("generate lublin --jobs 3000 -o log.swf.gz").status, 0);
  const ShellResult sets =
      replay("generate from-log log.swf.gz --sets 2 --jobs 400 --tolerance 10 --factors 1.0,0.6 --output-folder sets");
  ASSERT_EQ(sets.status, 0) << sets.err;
  for (const char* name : {"set01-f1.swf", "set01-f0.6.swf", "set02-f1.swf", "set02-f0.6.swf"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "sets" / name)) << name;
  const ShellResult one = replay("generate from-log log.swf.gz --set 2 --jobs 400 --tolerance 10 --factors 0.6");
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, text_of(folder_ / "sets" / "set02-f0.6.swf"));
  expect_complaint("from-log log.swf.gz --jobs 400 --tolerance 10 --output-folder sets", 1,
                   {"set01-f1.swf", "--force"});
}

TEST_F(Generate, OrdersThatMakeNoSenseAreRefused) {
  expect_complaint("", 2, {"lublin, from-log"});
  expect_complaint("lublin --jobs 0", 2, {"--jobs", "expected a number from 1 to", "found '0'"});
  expect_complaint("lublin --jobs -3", 2, {"--jobs"});
  expect_complaint("lublin --duration soon", 2, {"--duration", "'soon'", "2h"});
  expect_complaint("lublin --duration 1500ms", 2, {"--duration", "whole seconds"});
  expect_complaint("lublin --duration 1s", 2, {"no job arrives within 1 s"});
  expect_complaint("lublin --load 0", 2, {"--load"});
  expect_complaint("lublin --solve runtimes", 2, {"--solve", "--load"});
  expect_complaint("lublin --jobs 9 --min-runtime 2h --max-runtime 1h", 2, {"--max-runtime"});
  expect_complaint("lublin --batch.aarr 6", 2, {"--batch.aarr", "--types"});
  expect_complaint("lublin --types --aarr 6", 2, {"--aarr", "--batch."});
  expect_complaint("lublin --uprob 1.5", 2, {"--uprob", "0 to 1"});
  expect_complaint("lublin --uhi 9", 2, {"--uhi", "128"});
  expect_complaint("lublin --machine-size 0", 2, {"--machine-size"});
  expect_complaint("lublin --seed 5000000000 --rng drand48", 2, {"--seed", "4294967295"});
  expect_complaint("lublin --seed -1", 2, {"--seed", "-1"});
  expect_complaint("lublin -o nowhere/x.swf", 1, {"nowhere"});
  expect_complaint("from-log missing.swf", 1, {"missing.swf"});
  expect_complaint("from-log missing.swf --sets 3", 2, {"--output-folder"});
  expect_complaint("from-log missing.swf --factors 1,0.9", 2, {"--output-folder"});
  expect_complaint("from-log missing.swf --factors 1,1 --output-folder x", 2, {"twice"});
  expect_complaint("from-log missing.swf --factors 0", 2, {"--factors"});
  expect_complaint("from-log missing.swf --output-folder x -o y.swf", 2, {"--output-folder"});
}

}  // namespace
}  // namespace replay::test
