// Tests of `replay run` with wrong arguments: messages and exit status. No MPI here.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

void expect_complaint(const std::string& arguments, int status, std::initializer_list<const char*> words) {
  const ShellResult result = shell(fmt::format("{} run {}", REPLAY_PROGRAM, arguments));
  EXPECT_EQ(result.status, status) << arguments << "\n" << result.out << result.err;
  for (const char* word : words)
    EXPECT_NE(result.err.find(word), std::string::npos) << arguments << " says: " << result.err;
}

TEST(RunProgramCommand, WrongOptionsAreNamed) {
  expect_complaint("", 2, {"expected a program"});
  expect_complaint("--bogus cg", 2, {"no option --bogus"});
  expect_complaint("-n 0 cg", 2, {"-n", "0"});
  expect_complaint("--shrink-at soon cg", 2, {"--shrink-at", "'soon'"});
  expect_complaint("--shrink-at 1s --shrink-at 2s cg", 2, {"--shrink-at 2s", "1s"});
  expect_complaint("--every 1s --shrink-at 2s cg", 2, {"--every"});
  expect_complaint("--env REPLAY cg", 2, {"--env", "NAME=VALUE"});
  expect_complaint("--pairing odd cg", 2, {"--pairing", "odd"});
  expect_complaint("--back-end none cg", 2, {"--back-end", "none"});
  expect_complaint("-n 1 --shrink-at 1s cg", 2, {"nothing to shrink"});
  expect_complaint("-n 2 --to 2 cg", 2, {"--to"});
  expect_complaint("--no-vm --shrink-at 1s cg", 2, {"--no-vm", "--cores"});
  expect_complaint("--cores 0-nine cg", 1, {"nine"});
  expect_complaint("--cores 99999 cg", 1, {"no core 99999"});
}

TEST(RunProgramCommand, AProgramThatIsNotThereIsNamed) {
  expect_complaint("no-such-program --help", 127, {"no program 'no-such-program'", "PATH"});
  expect_complaint("./no-such-program", 127, {"./no-such-program"});
}

TEST(RunProgramCommand, AReportThatCannotBeWrittenIsSaidBeforeTheProgramRuns) {
  const ShellResult result = shell(fmt::format("{} run --report /nowhere/report echo ran", REPLAY_PROGRAM));
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("/nowhere/report"), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(RunProgramCommand, WithoutMpichItSaysWhatIsMissing) {
  const ShellResult result = shell(fmt::format("PATH=/nowhere {} run /bin/true", REPLAY_PROGRAM));
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("mpiexec is not on the PATH"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace replay::test
