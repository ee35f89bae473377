// Tests of real runs with a daemon that is stopped and continued at random, as on a machine that is overloaded or goes
// to sleep: small traces on two emulated cores under every policy, with time scales so small that each stop lasts
// seconds of the trace. No run aborts, no core is used twice, every job has its end and every result file exists. It
// prints a summary of REPLAY_STALLED_RUNS runs (`./dev stalls`; by default a few).

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/background.hpp"
#include "tests/support/deciding_policies.hpp"
#include "tests/support/random.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

constexpr int kFewRuns = 3;  // slack, on the trace that once aborted

int runs_wanted() {
  const char* const given = std::getenv("REPLAY_STALLED_RUNS");
  return given == nullptr ? kFewRuns : std::atoi(given);
}

// Jobs of one or two processes, more than two cores can do in time, with estimates near the run times.
std::string drawn_trace(std::uint64_t seed) {
  Random random{seed};
  std::string text = "; Version: 2.2\n; MaxProcs: 2\n";
  double now = 0;
  for (int job = 1; job <= 20; ++job) {
    now += 0.1 * static_cast<double>(random.below(6));
    const auto processes = 1 + random.below(2);
    const double run = 0.2 + 0.2 * static_cast<double>(random.below(8));
    const double request = run + 0.2 * static_cast<double>(random.below(4));
    text += fmt::format("{} {:.2f} -1 {:.1f} {} {:.1f} -1 {} {:.1f} -1 1 2 1 -1 -1 -1 -1 -1\n", job, now, run,
                        processes, run, processes, request);
  }
  return text;
}

class StalledRuns : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
  }

  // How the run ended: "aborted", "broken invariant", "lost a file", ..., or "well", "well, some jobs failed".
  std::string run(const fs::path& trace, const std::string& policy, const char* time_scale, std::uint64_t seed) {
    const fs::path out = folder_ / "run", said = folder_ / "said";
    fs::remove_all(out);
    Background replay{REPLAY_PROGRAM,
                      {"--trace", trace.string(), "--policy", policy, "--machine", "emulated:1x1x2", "--time-scale",
                       time_scale, "--out", out.string(), "--plain"},
                      said,
                      said};
    stall_until_it_ends(replay.pid(), seed);
    const int status = replay.wait();
    said_ = text_of(said);
    if (said_.find("invariant `") != std::string::npos) return "broken invariant";
    if (status >= 128) return fmt::format("killed by signal {}", status - 128);
    if (status > 1) return fmt::format("exit status {}", status);
    for (const char* file : {"run.json", "events.log", "jobs.csv", "schedule.swf", "metrics.json", "series.csv"})
      if (text_of(out / file).empty()) return std::string{"lost "} + file;
    MemoryLog log;
    if (!log::read_text(out / "events.log", log)) return "events.log cannot be read";
    said_ = what_is_wrong(log, Machine::parse("1x1x2"));
    if (!said_.empty()) return "wrong schedule";
    return status == 0 ? "well" : "well, some jobs failed";
  }

  std::string what_it_said() const { return said_; }

  TemporaryFolder folder_;

 private:
  // Stops of up to 0.4 s, up to 0.4 s apart. A child that has ended keeps its pid until Background waits for it.
  static void stall_until_it_ends(pid_t pid, std::uint64_t seed) {
    Random random{seed};
    const auto nap = [&random] { std::this_thread::sleep_for(std::chrono::milliseconds{5 + random.below(400)}); };
    siginfo_t ended{};
    const auto runs = [&] {
      ended.si_pid = 0;
      return ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
    };
    while (runs()) {
      nap();
      send_signal(pid, SIGSTOP);
      nap();
      send_signal(pid, SIGCONT);
    }
  }

  std::string said_;
};

TEST_F(StalledRuns, EndWithAllResultsWhenTheDaemonIsHeldUp) {
  std::vector<std::string> all;
  for (const PolicyEntry& entry : deciding_policies())
    if (!entry.needs_nodes) all.emplace_back(entry.name);
  const int wanted = runs_wanted();
  std::map<std::string, int> ends;
  for (int i = 0; i < wanted; ++i) {
    // Every other run is slack's; the others go through the table. The trace that once aborted and a random one
    // alternate in pairs of runs.
    const auto seed = static_cast<std::uint64_t>(i) + 1;
    const std::string policy = i < kFewRuns || i % 2 == 0 ? "slack" : all[static_cast<std::size_t>(i / 2) % all.size()];
    fs::path trace = REPLAY_SOURCE_DIR "/tests/data/cases/slack-live.swf";
    if (i % 4 > 1) {
      trace = folder_ / "drawn.swf";
      write_text(trace, drawn_trace(seed));
    }
    const std::string end = run(trace, policy, i % 3 == 2 ? "0.1" : "0.02", seed);
    ++ends[end];
    EXPECT_TRUE(end.starts_with("well")) << "run " << i << ", " << policy << ": " << end << "\n" << what_it_said();
  }
  EXPECT_TRUE(comes_true([&] { return processes_marked(folder_.path().string()).empty(); }))
      << processes_marked(folder_.path().string());
  fmt::print("{} runs with a daemon that is stopped at random:", wanted);
  for (const auto& [end, count] : ends) fmt::print(" {} {};", count, end);
  fmt::print("\n");
}

}  // namespace
}  // namespace replay::test
