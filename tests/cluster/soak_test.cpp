// A soak test: four hundred short jobs in a row through one executor and one agent, two at a time. At the end both hold
// what they held after the first hundred. A descriptor, a child, a file or a block of memory that each job leaves
// behind would show three hundredfold.
#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include "scheduler/base/process/process.hpp"
#include "tests/support/launcher_fixture.hpp"

#ifdef REPLAY_SANITIZED
// The address sanitizer keeps 256 MB of freed memory, more than the warm-up fills; 8 MB are full before we measure.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=8"; }
#endif

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

#ifdef REPLAY_SANITIZED
constexpr int kJobs = 150;
constexpr long kMostGrowthKb = 16 * 1024;  // the sanitizer keeps freed memory for a while
#else
constexpr int kJobs = 400;
constexpr long kMostGrowthKb = 384;  // 1.3 kB of heap growth per job: an occasional page
#endif
constexpr int kWarmUp = 100;
constexpr int kAtATime = 2;

long count_of(const fs::path& folder) {
  return std::distance(fs::directory_iterator{folder}, fs::directory_iterator{});
}

/// The resources that a process holds.
struct Holdings {
  long descriptors = 0;
  long children = 0;  // zombies too
  long resident_kb = 0;
};

Holdings holdings_of(pid_t pid) {
  const fs::path process = fs::path{"/proc"} / std::to_string(pid);
  Holdings found{count_of(process / "fd"), static_cast<long>(children_of(pid).size()), 0};
  std::ifstream status{process / "status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) found.resident_kb = std::stol(line.substr(6));
  return found;
}

class Soak : public Launcher {
 protected:
  /// Launches one MPI job of one or two ranks; the single ranks alternate between the cores.
  void launch_number(int number) {
    const std::size_t ranks = number % 10 == 0 ? 2 : 1;
    auto job = order({REPLAY_RANK_PROGRAM, "talk", "0"}, ranks, JobId{number});
    job.directory = directory_ / ("job" + std::to_string(number % 4));  // more folders than jobs run at a time
    fs::create_directories(job.directory);
    if (ranks == 1) job.core_of_rank = {core(static_cast<std::size_t>(number))};
    executor_->launch(job);
  }
  /// Runs jobs `first` to `last`, two at any time; returns when all have ended.
  void run(int first, int last) {
    int next = first;
    const auto ended = [this] { return static_cast<int>(seen_.ended.size()); };
    while (ended() < last) {
      while (next <= last && next - 1 - ended() < kAtATime) launch_number(next++);
      const int before = ended();
      ASSERT_TRUE(until([&] { return ended() > before; }, 30s)) << "after " << before << " jobs";
    }
  }
  /// Waits until counts are stable: the last job's resources are released after its end is reported.
  void settle() {
    EXPECT_TRUE(until([&] { return children_of(agent_pid_).empty() && its_processes().empty(); }));
    long before = 0;
    int looks = 0;  // consecutive looks with the same count
    EXPECT_TRUE(until([&] {
      const long now = holdings_of(agent_pid_).descriptors;
      looks = now == std::exchange(before, now) ? looks + 1 : 0;
      return looks >= 20;
    }));
  }
  [[nodiscard]] long files() const {
    long count = 0;
    for (const auto& agent : fs::directory_iterator{directory_ / "run"}) count += count_of(agent);
    return count;
  }
};

void expect_as_before(const char* who, const Holdings& before, const Holdings& after) {
  std::cout << who << ": descriptors " << before.descriptors << " -> " << after.descriptors << ", resident "
            << before.resident_kb << " -> " << after.resident_kb << " kB\n";
  EXPECT_EQ(after.descriptors, before.descriptors) << who;
  EXPECT_EQ(after.children, before.children) << who;
  EXPECT_LE(after.resident_kb - before.resident_kb, kMostGrowthKb) << who;
}

TEST_F(Soak, FourHundredJobsLeaveDescriptorsChildrenFilesAndMemoryAsTheyWere) {
  start();
  const auto begin = std::chrono::steady_clock::now();
  run(1, kWarmUp);
  if (HasFatalFailure()) return;
  settle();
  const Holdings our_start = holdings_of(::getpid());
  const Holdings agents_start = holdings_of(agent_pid_);
  const long files_at_start = files();
  run(kWarmUp + 1, kJobs);
  if (HasFatalFailure()) return;
  settle();
  expect_as_before("daemon", our_start, holdings_of(::getpid()));
  expect_as_before("agent", agents_start, holdings_of(agent_pid_));
  EXPECT_EQ(files(), files_at_start) << "segments and sockets in the agent's directory";
  for (const auto& [id, end] : seen_.ended) {
    ASSERT_EQ(end.outcome, Outcome::kCompleted) << "job " << static_cast<std::int64_t>(id) << ": " << end.reason;
  }
  std::cout << kJobs << " jobs in "
            << std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count()
            << " s\n";
}

}  // namespace
}  // namespace replay::launcher
