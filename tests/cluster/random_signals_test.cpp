// A long test that sends signals at random times, one to three in a row, to real runs on emulated cores, simulations,
// and commands that write a trace or sweep over seeds. At whatever time they come, the exit status names one of them
// (or the command completed), every result file is complete and agrees with the event log, and no process, socket,
// segment or temporary file is left. `./dev test --all` runs it. REPLAY_SIGNAL_RUNS sets the number of runs (default
// 200), REPLAY_SIGNAL_SEED the seed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/background.hpp"
#include "tests/support/deciding_policies.hpp"
#include "tests/support/random.hpp"
#include "tests/support/shell.hpp"
#include "traces/models/random.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::array kResultFiles = {"events.log", "jobs.csv",     "metrics.json",
                                     "run.json",   "schedule.swf", "series.csv"};
constexpr double kLongestGap = 0.3;  // s, between two signals

struct Kind {
  const char* name;
  std::vector<std::string> words;  // {policy} is replaced
  bool has_results;                // leaves the folder of a run
  double usual_s = 0;              // how long it takes undisturbed
};

class RandomSignals : public testing::Test {
 protected:
  void SetUp() override {
    if (shell("command -v mpiexec").status != 0) GTEST_SKIP() << "mpiexec is not on the PATH";
    for (const char* name : {"run", "tmp"}) fs::create_directory(folder_ / name);
    fs::permissions(folder_ / "run", fs::perms::owner_all);
    ::setenv("XDG_RUNTIME_DIR", (folder_ / "run").c_str(), 1);  // the agent's directory lies there
    ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    const ShellResult made =
        shell(fmt::format("{} generate lublin --jobs 60000 --seed 1 -o lublin.swf", REPLAY_PROGRAM), folder_.path());
    ASSERT_EQ(made.status, 0) << made.err;
    const std::string lublin = folder_ / "lublin.swf", out = folder_ / "r";
    kinds_ = {
        {"real",
         {"--trace", REPLAY_SOURCE_DIR "/traces/emulated-small.swf", "--policy", "{policy}", "--machine",
          "emulated:2x2x2", "--time-scale", "0.1", "--plain", "--out", out},
         true},
        {"simulated", {"simulate", "--trace", lublin, "--policy", "{policy}", "--out", out}, true},
        {"seeds", {"simulate", "--trace", lublin, "--policy", "fcfs-malleable", "--seeds", "1-3", "--out", out}, false},
        {"generate", {"generate", "lublin", "--jobs", "200000", "-o", folder_ / "out.swf.gz"}, false},
        {"cut", {"trace", "cut", lublin, "--jobs", "1-50000", "-o", folder_ / "out.swf"}, false}};
    for (Kind& kind : kinds_) {
      const auto begin = Clock::now();
      Background undisturbed{REPLAY_PROGRAM, words_of(kind, "easy"), folder_ / "out", folder_ / "out"};
      const int status = undisturbed.wait();
      ASSERT_TRUE(status == 0 || status == 1) << kind.name << ": " << undisturbed.out();  // 1: a job failed
      kind.usual_s = std::chrono::duration<double>(Clock::now() - begin).count();
      clear();
    }
  }

  static std::vector<std::string> words_of(const Kind& kind, std::string_view policy) {
    std::vector<std::string> words = kind.words;
    std::ranges::replace(words, "{policy}", std::string{policy});
    return words;
  }

  void clear() {
    for (const char* name : {"r", "check", "out.swf", "out.swf.gz"}) fs::remove_all(folder_ / name);
  }

  // What is wrong in a run's folder: files that are missing, cut, unknown, or not what the event log gives.
  std::string wrong_results() const {
    const fs::path run = folder_ / "r";
    if (!fs::exists(run)) return "";  // the signal came before the run began
    std::string wrong;
    std::set<std::string> there;
    for (const auto& entry : fs::directory_iterator(run)) there.insert(entry.path().filename());
    for (const char* file : kResultFiles) {
      const std::string text = text_of(run / file);
      if (there.erase(file) == 0) wrong += fmt::format("{} is missing; ", file);
      if (!text.empty() && text.back() != '\n') wrong += fmt::format("{} is cut; ", file);
    }
    there.erase("jobs");
    for (const std::string& file : there) wrong += fmt::format("{} is left; ", file);
    if (text_of(run / "run.json").find("\"ended\": null") != std::string::npos) wrong += "run.json has no end; ";
    const ShellResult again = shell(fmt::format("{} results r --out check", REPLAY_PROGRAM), folder_.path());
    if (again.status != 0 || again.err.find("no end") != std::string::npos) wrong += again.err;
    for (const char* file : {"jobs.csv", "metrics.json", "schedule.swf", "series.csv", "run.json"})
      if (text_of(run / file) != text_of(folder_ / "check" / file)) wrong += fmt::format("{} is not the log's; ", file);
    return wrong;
  }

  std::string left_behind() const {
    std::string left = processes_marked(folder_.path().string());
    for (const char* folder : {"run", "tmp"})
      for (const auto& entry : fs::directory_iterator(folder_ / folder)) left += entry.path().string() + " ";
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      static const std::set<std::string> kKnown = {"run", "tmp",   "lublin.swf", "out",
                                                   "r",   "check", "out.swf",    "out.swf.gz"};
      if (!kKnown.contains(entry.path().filename())) left += entry.path().string() + " ";
    }
    return left;
  }

  TemporaryFolder folder_;
  std::vector<Kind> kinds_;
};

TEST_F(RandomSignals, LoseNoResultFileAndLeaveNothing) {
  const std::uint64_t runs = number_from("REPLAY_SIGNAL_RUNS", 200);
  Rng random{Seed{number_from("REPLAY_SIGNAL_SEED", 1)}};
  constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  const auto below = [&random](std::size_t count) { return static_cast<std::size_t>(random.below(count)); };
  std::vector<std::string_view> policy_names;
  for (const PolicyEntry& entry : deciding_policies())
    if (!entry.needs_nodes) policy_names.push_back(entry.name);
  for (std::uint64_t number = 0; number < runs; ++number) {
    const std::size_t drawn = below(10);  // four real, three simulated, and one of each other kind
    const Kind& kind = kinds_[drawn < 4 ? 0 : drawn < 7 ? 1 : drawn - 5];
    const std::string policy{policy_names[below(policy_names.size())]};
    std::vector<int> signals(1 + below(3));
    for (int& signal : signals) signal = kSignals[below(kSignals.size())];
    const double at = random.uniform() * kind.usual_s * 1.2;
    std::string story = fmt::format("run {}: {}, {}, at {:.3f} s:", number, kind.name, policy, at);

    Background replay{REPLAY_PROGRAM, words_of(kind, policy), folder_ / "out", folder_ / "out"};
    std::this_thread::sleep_for(std::chrono::duration<double>{at});
    for (const int signal : signals) {
      const double gap = random.uniform() * kLongestGap;
      replay.send(signal);  // if it has ended, it is a zombie, and the signal has no effect
      std::this_thread::sleep_for(std::chrono::duration<double>{gap});
      story += fmt::format(" {}, {:.3f} s", ::sigabbrev_np(signal), gap);
    }
    const int status = replay.wait();
    // Two signals that are pending together are delivered in the order of their numbers, not of their times.
    const bool names_a_signal = std::ranges::find(signals, status - 128) != signals.end();
    EXPECT_TRUE(names_a_signal || status == 0 || status == 1) << story << ": status " << status;
    const std::string wrong = kind.has_results ? wrong_results() : "";
    EXPECT_EQ(wrong, "") << story << ": status " << status << '\n' << replay.out();
    EXPECT_TRUE(comes_true([this] { return left_behind().empty(); }, std::chrono::seconds{2}))
        << story << ": left " << left_behind();
    if (!kind.has_results)
      for (const char* file : {"out.swf", "out.swf.gz"})
        if (fs::exists(folder_ / file)) {
          const ShellResult valid = shell(fmt::format("{} trace info {}", REPLAY_PROGRAM, file), folder_.path());
          EXPECT_EQ(valid.status, 0) << story << ": " << file << " is not whole: " << valid.err;
        }
    fmt::print("{}: status {}\n", story, status);
    clear();
  }
}

}  // namespace
}  // namespace replay::test
