// Tests of `replay run` with wrong arguments: messages and exit status. No MPI here.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/first_core.hpp"
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
  expect_complaint("--bogus cg", 2, {"no option '--bogus'"});
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
  expect_complaint("--cores 8000 cg", 1, {"no core 8000"});
}

TEST(RunProgramCommand, AProgramThatIsNotThereIsNamed) {
  expect_complaint("no-such-program --help", 127, {"no program 'no-such-program'", "PATH"});
  expect_complaint("./no-such-program", 127, {"./no-such-program"});
}

TEST(RunProgramCommand, AReportThatCannotBeWrittenIsSaidBeforeTheProgramRuns) {
  const ShellResult result = shell(fmt::format("{} run --report /nowhere/report echo ran", REPLAY_PROGRAM));
  EXPECT_EQ(result.status, 127);
  EXPECT_NE(result.err.find("/nowhere/report"), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(RunProgramCommand, WithoutMpichItSaysWhatIsMissing) {
  const ShellResult result = shell(fmt::format("PATH=/nowhere {} run /bin/true", REPLAY_PROGRAM));
  EXPECT_EQ(result.status, 127);
  EXPECT_NE(result.err.find("mpiexec is not on the PATH"), std::string::npos) << result.err;
}

// Without mpiexec: what is said before the program starts.
std::string said_before_start(const std::string& before, const std::string& words) {
  return shell(fmt::format("{} env PATH=/nowhere {} run {}", before, REPLAY_PROGRAM, words)).err;
}

TEST(RunProgramCommand, StandardInputThatTheRanksDoNotGetIsSaid) {
  const TemporaryFolder folder;
  write_text(folder / "in", "hello\n");
  write_text(folder / "empty", "");
  const std::string in = (folder / "in").string(), empty = (folder / "empty").string();
  constexpr const char* kNote = "note: standard input is not passed on";
  EXPECT_NE(said_before_start("echo hello |", "/bin/true").find(kNote), std::string::npos);
  EXPECT_NE(said_before_start("", "/bin/true <" + in).find(kNote), std::string::npos);
  for (const std::string& none : {empty, std::string("/dev/null")})
    EXPECT_EQ(said_before_start("", "-n 1 /bin/true <" + none).find(kNote), std::string::npos) << none;
}

TEST(RunProgramCommand, MoreRanksThanTheCoresThatItMayUseIsSaid) {
  const std::string on_one = "taskset -c " + first_core();
  EXPECT_NE(said_before_start(on_one, "-n 2 /bin/true </dev/null").find("note: 2 ranks share 1 core"),
            std::string::npos);
  EXPECT_EQ(said_before_start(on_one, "-n 1 /bin/true </dev/null").find("share 1 core"), std::string::npos);
}

}  // namespace
}  // namespace replay::test
