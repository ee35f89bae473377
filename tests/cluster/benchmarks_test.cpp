// Tests of the MPI benchmarks under the real mpiexec: they verify themselves, notice a wrong byte, fail when told to,
// and name a wrong argument. No test depends on the speed of the machine, only on lower bounds of run times. mpiexec is
// REPLAY_MPIEXEC or the first one on PATH; without one the tests skip with a message.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string mpiexec() {
  if (const char* given = std::getenv("REPLAY_MPIEXEC")) return given;
  const char* path = std::getenv("PATH");
  for (std::string rest = path == nullptr ? "" : path; !rest.empty();) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = rest.substr(0, colon) + "/mpiexec";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return "";
}

struct Outcome {
  int exit_code = -1;
  std::string output;  // stdout and stderr of all ranks
  double seconds = 0;

  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

class Benchmarks : public testing::Test {
 protected:
  void SetUp() override {
    if (mpiexec().empty()) GTEST_SKIP() << "no mpiexec on PATH: install mpich or set REPLAY_MPIEXEC";
  }

  /// Runs e.g. run(2, "ep --class S"). A run that hangs ends after 100 s with exit code 124.
  static Outcome run(int ranks, const std::string& program_and_arguments) {
    const std::string command = fmt::format("timeout -k 5 100 '{}' -n {} '{}'/{} 2>&1 < /dev/null", mpiexec(), ranks,
                                            REPLAY_BENCH_DIR, program_and_arguments);
    const auto start = std::chrono::steady_clock::now();
    Outcome outcome;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return outcome;
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) outcome.output.append(buffer, got);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
  }

  static void expect_verified(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_TRUE(outcome.output.ends_with("\nVERIFICATION SUCCESSFUL\n")) << outcome.output;
  }
};

TEST_F(Benchmarks, EpFindsThePublishedSumsOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) expect_verified(run(ranks, "ep --class S"));
}

TEST_F(Benchmarks, CgFindsThePublishedEigenvalue) {
  for (const int ranks : {1, 2}) expect_verified(run(ranks, "cg --class S"));
}

TEST_F(Benchmarks, IsFindsAllPublishedRanksAndSortsOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    const Outcome outcome = run(ranks, "is --class S --repeat 2");
    expect_verified(outcome);
    EXPECT_TRUE(outcome.says("ranks_right        50\n")) << outcome.output;
  }
}

TEST_F(Benchmarks, MgFindsThePublishedNormOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    const Outcome outcome = run(ranks, "mg --class S --repeat 2");
    expect_verified(outcome);
    EXPECT_TRUE(outcome.says("norm               5.307707005")) << outcome.output;
  }
}

TEST_F(Benchmarks, FtFindsThePublishedChecksumsOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    const Outcome outcome = run(ranks, "ft --class S --repeat 2");
    expect_verified(outcome);
    EXPECT_TRUE(outcome.says("checksum           554.268341190")) << outcome.output;
  }
}

TEST_F(Benchmarks, MoreRanksThanPlanesAreRefusedWithTheLimit) {
  const Outcome outcome = run(17, "mg --class S");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_TRUE(outcome.says("mg: --class S: expected at most 16 processes, with two planes each, found 17"))
      << outcome.output;
}

TEST_F(Benchmarks, LuFindsThePublishedNormsAndSurfaceIntegral) {
  for (const int ranks : {1, 2}) {
    const Outcome outcome = run(ranks, "lu --class S");
    expect_verified(outcome);
    EXPECT_TRUE(outcome.says("surface            7.84189288659")) << outcome.output;
  }
}

TEST_F(Benchmarks, LuNamesANumberOfRanksThatItsGridCannotBeCutFor) {
  const Outcome outcome = run(11, "lu --class S");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_TRUE(outcome.says("lu: --class S: expected a product of two numbers up to 10 of processes")) << outcome.output;
  EXPECT_TRUE(outcome.says("found 11")) << outcome.output;
}

TEST_F(Benchmarks, EveryRepeatIsTimed) {
  const Outcome outcome = run(1, "cg --class S --repeat 3");
  expect_verified(outcome);
  EXPECT_TRUE(outcome.says("repeats            3\n")) << outcome.output;
}

TEST_F(Benchmarks, PhasesTakesAtLeastItsRunTimeInBothPatterns) {
  for (const std::string pattern : {"independent", "bsp"}) {
    const Outcome outcome = run(2, "phases --runtime 1 --cpu-use 0.5 --pattern " + pattern);
    expect_verified(outcome);
    EXPECT_GE(outcome.seconds, 1.0) << pattern;
  }
}

TEST_F(Benchmarks, PhasesRunsOnOneRankAndOnMoreRanksThanCores) {
  for (const int ranks : {1, 3}) {
    expect_verified(run(ranks, "phases --runtime 0.2 --pattern bsp --message-size 1001"));
    expect_verified(run(ranks, "phases --runtime 0.2 --cpu-use 0 --message-size 0"));
  }
}

TEST_F(Benchmarks, AJobWithoutWorkSucceeds) { expect_verified(run(2, "phases --runtime 0")); }

TEST_F(Benchmarks, OneWrongByteIsNotVerified) {
  for (const std::string pattern : {"independent", "bsp"}) {
    const Outcome outcome = run(2, "phases --runtime 0.2 --corrupt-at 0.19 --pattern " + pattern);
    EXPECT_EQ(outcome.exit_code, 4) << outcome.output;
    EXPECT_TRUE(outcome.output.ends_with("\nVERIFICATION FAILED\n")) << outcome.output;
  }
}

TEST_F(Benchmarks, AJobToldToFailDoesSoBeforeItsEnd) {
  const Outcome outcome = run(2, "phases --runtime 60 --fail-at 0.2");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
  EXPECT_FALSE(outcome.says("VERIFICATION")) << outcome.output;
  EXPECT_LT(outcome.seconds, 50);
}

TEST_F(Benchmarks, AWrongArgumentIsNamedOnceAndEndsAllRanks) {
  struct Case {
    std::string command;
    std::string message;
  };
  const Case cases[] = {
      {"phases --cpu-use 1.5", "--cpu-use: expected a number from 0 to 1, found '1.5'"},
      {"phases --runtime", "--runtime: expected a number from 0 to 10000000, found nothing"},
      {"phases --runtime 1 --fail-at 2", "--fail-at: expected less than --runtime, 1, found 2"},
      {"ep --class X", "--class: expected S, W, A, B, found 'X'"},
      {"is --class C", "--class: expected S, W, A, B, found 'C'"},
      {"mg --repeat 1.5", "--repeat: expected a whole number from 1 to 1000000, found '1.5'"},
      {"ft --class", "--class: expected S, W, A, B, found nothing"},
      {"lu --class C", "--class: expected S, W, A, B, found 'C'"},
      {"lu --repeat 0", "--repeat: expected a whole number from 1 to 1000000, found '0'"},
      {"cg --repeat=-1", "--repeat: expected a whole number from 1 to 1000000, found '-1'"},
      {"cg --clas S", "unknown argument '--clas'"},
  };
  for (const Case& wrong : cases) {
    const Outcome outcome = run(2, wrong.command);
    EXPECT_EQ(outcome.exit_code, 2) << wrong.command << '\n' << outcome.output;
    const std::size_t first = outcome.output.find(wrong.message);
    EXPECT_NE(first, std::string::npos) << wrong.command << '\n' << outcome.output;
    EXPECT_EQ(outcome.output.find(wrong.message, first + 1), std::string::npos) << "said more than once";
  }
}

}  // namespace
