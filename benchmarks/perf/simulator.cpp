// A measurement of `replay simulate` as whole processes: jobs per second of CPU time and the most memory of every
// policy on the logs of the papers, and how cost and memory grow with the number of jobs and the size of the machine on
// overloaded Lublin workloads; then every policy as a user has it, beside a plain loop; then policies of moldable jobs,
// and of jobs that share nodes. Input is uncompressed and in the page cache. Policies take turns (A B A B); medians of
// the rounds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/perf/beside_plain_loop.hpp"
#include "benchmarks/perf/moldable.hpp"
#include "benchmarks/perf/sharing.hpp"
#include "benchmarks/perf/vmlib_figures.hpp"
#include "benchmarks/perf/whole_runs.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace replay;
using bench::Cost;
using bench::run;
using bench::Words;

// Several policies on one trace, in turns. A policy that takes longer than kPatience is measured once.
class Race {
 public:
  Race(const TemporaryFolder& folder, std::string trace, const char* outputs)
      : folder_(folder), trace_(std::move(trace)), outputs_(outputs), jobs_(bench::records_of(trace_)) {}

  void measure(const Words& policies, int rounds) {
    for (const std::string& policy : policies) runners_.push_back({policy, {}, 0});
    for (int round = 0; round < rounds; ++round)
      for (Runner& runner : runners_) {
        constexpr double kPatience = 5;
        if (round > 0 && runner.cpu_s.front() > kPatience) continue;
        fs::remove_all(folder_ / "run");  // not by the process that is measured
        const Cost cost = run({REPLAY_PROGRAM, "simulate", "--trace", trace_, "--policy", runner.policy, "--outputs",
                               outputs_, "--out", (folder_ / "run").string()});
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
    bench::copy(zipped.string(), plain);
    Race race(folder, plain, "jobs");
    race.measure(bench::all_policies(), rounds);
    race.print(log);
    Race everything(folder, plain, "all");
    everything.measure({"easy"}, rounds);
    everything.print(fmt::format("{}, all outputs", log));
  }
}

void measure_growth(const TemporaryFolder& folder, std::uint64_t most_jobs, int rounds) {
  const Words rivals{"fcfs", "easy", "conservative"};
  fmt::print("\n## Growth with the jobs: Lublin, 256 processors, offered load 1.2, `--outputs none`\n\n{}", kColumns);
  for (std::uint64_t jobs = 10'000; jobs <= most_jobs; jobs *= 10) {
    Race race(folder, bench::lublin(folder, REPLAY_PROGRAM, jobs, 256, "1.2"), "none");
    race.measure(rivals, rounds);
    race.print("lublin");
  }
  const std::uint64_t jobs = std::min<std::uint64_t>(most_jobs, 100'000);
  fmt::print("\n## Growth with the machine: Lublin, {} jobs, offered load 1.2, `--outputs none`\n\n{}", jobs, kColumns);
  for (std::uint64_t processors = 100; processors <= 1'000'000; processors *= 10) {
    Race race(folder, bench::lublin(folder, REPLAY_PROGRAM, jobs, processors, "1.2"), "none");
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
  std::string section = "all";
  bench::BesidePlainLoop user{REPLAY_PROGRAM, PLAIN_LOOP_PROGRAM, bench::all_policies(), ""};
  user.policies.emplace_back("easy:pass=instant");  // the pass rule of the plain loop
  app.add_option("--section", section,
                 "logs, growth, user (as a user has it, beside a plain loop), moldable, sharing, or all")
      ->check(CLI::IsMember({"logs", "growth", "user", "moldable", "sharing", "all"}))
      ->capture_default_str();
  app.add_option("--longest", user.longest_s,
                 "of user, moldable and sharing: s of CPU time after which a run is stopped")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--policies", user.policies, "of user: instead of all policies")->delimiter(',');
  app.add_option("--replay", user.replay, "of user, moldable and sharing: another build of replay");
  CLI11_PARSE(app, argc, argv);
  try {
    const TemporaryFolder folder;
    const auto wanted = [&](const char* one) { return section == "all" || section == one; };
    if (logs.empty()) fmt::print(stderr, "no logs: name their folder with --logs or $REPLAY_PWA_DIR\n");
    if (wanted("logs") && !logs.empty()) measure_logs(folder, logs, rounds);
    if (wanted("growth")) measure_growth(folder, most_jobs, rounds);
    if (wanted("user")) {
      user.logs = logs;
      user.rounds = rounds;
      user.most_jobs = most_jobs;
      measure_beside_plain_loop(folder, user);
    }
    if (wanted("moldable")) bench::measure_moldable(folder, {user.replay, rounds, most_jobs, user.longest_s});
    if (wanted("sharing")) bench::measure_sharing(folder, {user.replay, rounds, user.longest_s}, most_jobs);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "simulator_bench: {}\n", error.what());
    return 1;
  }
}
