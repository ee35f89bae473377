// A measurement of `replay simulate` as whole processes: jobs per second of CPU time and the most memory of every
// policy on the logs of the papers, and how cost and memory grow with the number of jobs and the size of the machine on
// overloaded Lublin workloads. Input is uncompressed and in the page cache. Policies take turns (A B A B); medians of
// the rounds.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "benchmarks/perf/vmlib_figures.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/policy/registry.hpp"

namespace {

namespace fs = std::filesystem;
using namespace replay;
using Words = std::vector<std::string>;

struct Cost {
  double cpu_s = 0;  // user and system
  double peak_mb = 0;
};

// Drops the program's output; its errors stay on stderr.
Cost run(Words words) {
  words.insert(words.begin(), REPLAY_PROGRAM);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw InputError(fmt::format("{} cannot be started", words[0]));
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  if (status != 0) throw InputError(fmt::format("{} fails: {}", words[0], fmt::join(words, " ")));
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds_of(used.ru_utime) + seconds_of(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024};
}

void copy(const std::string& from, const std::string& to) {
  const auto source = open_source(from);
  const auto sink = open_sink(to);
  std::vector<char> block(std::size_t{256} * 1024);
  for (std::size_t got = 1; got > 0;) {
    got = source->read(block.data(), block.size());
    sink->write({block.data(), got});
  }
  sink->close();
}

std::uint64_t records_of(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t count = 0;
  for (std::string line; std::getline(file, line);) count += line.empty() || line[0] == ';' ? 0u : 1u;
  return count;
}

// Several policies on one trace, in turns. A policy that takes longer than kPatience is measured once.
class Race {
 public:
  Race(const TemporaryFolder& folder, std::string trace, const char* outputs)
      : folder_(folder), trace_(std::move(trace)), outputs_(outputs), jobs_(records_of(trace_)) {}

  void measure(const Words& policies, int rounds) {
    for (const std::string& policy : policies) runners_.push_back({policy, {}, 0});
    for (int round = 0; round < rounds; ++round)
      for (Runner& runner : runners_) {
        constexpr double kPatience = 5;
        if (round > 0 && runner.cpu_s.front() > kPatience) continue;
        fs::remove_all(folder_ / "run");  // not by the process that is measured
        const Cost cost = run({"simulate", "--trace", trace_, "--policy", runner.policy, "--outputs", outputs_, "--out",
                               (folder_ / "run").string()});
        runner.cpu_s.push_back(cost.cpu_s);
        runner.peak_mb = std::max(runner.peak_mb, cost.peak_mb);
      }
  }
  void print(const std::string& name) const {
    for (const Runner& runner : runners_) {
      const double taken = bench::median(runner.cpu_s);
      fmt::print("| {} | {} | {} | {:.0f} | {:.1f} | {:.1f}-{:.1f} | {:.0f} |\n", name, runner.policy, jobs_,
                 static_cast<double>(jobs_) / taken, taken * 1e3, std::ranges::min(runner.cpu_s) * 1e3,
                 std::ranges::max(runner.cpu_s) * 1e3, runner.peak_mb);
    }
    std::fflush(stdout);
  }

 private:
  struct Runner {
    std::string policy;
    std::vector<double> cpu_s;
    double peak_mb;
  };
  const TemporaryFolder& folder_;
  std::string trace_;
  const char* outputs_;
  std::uint64_t jobs_;
  std::vector<Runner> runners_;
};

constexpr const char* kColumns =
    "| trace | policy | jobs | jobs per CPU second | CPU ms | fastest-slowest | peak MB "
    "|\n|---|---|---|---|---|---|---|\n";

Words all_policies() {
  Words names;
  for (const PolicyEntry& policy : policies()) names.emplace_back(policy.name);
  return names;
}

void measure_logs(const TemporaryFolder& folder, const std::string& logs, int rounds) {
  static constexpr std::array kLogs{"KTH-SP2-EASY-reference", "SDSC-SP2-1998-4.2-cln", "SDSC-BLUE-2000-4.2-cln",
                                    "CTC-SP2-EASY-reference", "lublin_256"};
  fmt::print("## Logs, `--outputs jobs`\n\n{}", kColumns);
  for (const char* log : kLogs) {
    const fs::path zipped = fs::path(logs) / (std::string(log) + ".swf.gz");
    if (!fs::exists(zipped)) {
      fmt::print(stderr, "{} is not there and is left out\n", zipped.string());
      continue;
    }
    const std::string plain = (folder / "log.swf").string();
    copy(zipped.string(), plain);
    Race race(folder, plain, "jobs");
    race.measure(all_policies(), rounds);
    race.print(log);
    Race everything(folder, plain, "all");
    everything.measure({"easy"}, rounds);
    everything.print(fmt::format("{}, all outputs", log));
  }
}

std::string overloaded(const TemporaryFolder& folder, std::uint64_t jobs, std::uint64_t processors) {
  std::string path = (folder / "lublin.swf").string();
  run({"generate", "lublin", "--jobs", fmt::to_string(jobs), "--machine-size", fmt::to_string(processors), "--load",
       "1.2", "--force", "-o", path});
  return path;
}

void measure_growth(const TemporaryFolder& folder, std::uint64_t most_jobs, int rounds) {
  const Words rivals{"fcfs", "easy", "conservative"};
  fmt::print("\n## Growth with the jobs: Lublin, 256 processors, offered load 1.2, `--outputs none`\n\n{}", kColumns);
  for (std::uint64_t jobs = 10'000; jobs <= most_jobs; jobs *= 10) {
    Race race(folder, overloaded(folder, jobs, 256), "none");
    race.measure(rivals, rounds);
    race.print("lublin");
  }
  const std::uint64_t jobs = std::min<std::uint64_t>(most_jobs, 100'000);
  fmt::print("\n## Growth with the machine: Lublin, {} jobs, offered load 1.2, `--outputs none`\n\n{}", jobs, kColumns);
  for (std::uint64_t processors = 100; processors <= 1'000'000; processors *= 10) {
    Race race(folder, overloaded(folder, jobs, processors), "none");
    race.measure(rivals, rounds);
    race.print(fmt::format("lublin, {} processors", processors));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"jobs per CPU second and memory of `replay simulate`, as markdown tables"};
  const char* const from_environment = std::getenv("REPLAY_PWA_DIR");
  std::string logs = from_environment == nullptr ? "" : from_environment;
  int rounds = 5;
  std::uint64_t most_jobs = 100'000;
  app.add_option("--logs", logs, "folder with the logs of the archive, as .swf.gz (default: $REPLAY_PWA_DIR)");
  app.add_option("--rounds", rounds, "of which the median counts")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--most-jobs", most_jobs, "the longest overloaded workload; 10^7 takes 5 GB")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    const TemporaryFolder folder;
    if (logs.empty())
      fmt::print(stderr, "no logs: name their folder with --logs or $REPLAY_PWA_DIR\n");
    else
      measure_logs(folder, logs, rounds);
    measure_growth(folder, most_jobs, rounds);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "simulator_bench: {}\n", error.what());
    return 1;
  }
}
