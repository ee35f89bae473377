#include "benchmarks/perf/beside_plain_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "benchmarks/perf/vmlib_figures.hpp"
#include "scheduler/base/text/add_item.hpp"

namespace replay::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kPatience = 5;  // s; what takes longer is measured once

struct Runner {
  std::string name;  // "easy", or "plain easy"
  bool jobs_csv;
  Words words;
  std::vector<double> user_s = {};  // by round
  double peak_mb = 0;
  bool stopped = false;
};

std::string plain_of(const std::string& policy) { return policy == "fcfs" ? "plain fcfs" : "plain easy"; }

// Median of the ratios round by round. Nothing: one of them was not measured to its end.
std::optional<double> ratio(const Runner& ours, const Runner* plain) {
  if (plain == nullptr || plain->stopped || ours.stopped) return {};
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(ours.user_s.size(), plain->user_s.size()); ++round)
    if (plain->user_s[round] > 0)  // the kernel tells user from system time by ticks of milliseconds
      ratios.push_back(ours.user_s[round] / plain->user_s[round]);
  if (ratios.empty()) return {};
  return median(ratios);
}

// The growth of the cost of a job: machine and policy -> us by number of jobs.
using Growth = std::map<std::pair<std::string, std::string>, std::map<std::uint64_t, double>>;

class Turns {
 public:
  Turns(const TemporaryFolder& folder, const BesidePlainLoop& what, const std::string& trace, const Words& policies)
      : folder_(folder), what_(what), jobs_(records_of(trace)) {
    const std::string csv = (folder / "plain.csv").string();
    for (const char* policy : {"fcfs", "easy"}) {
      runners_.push_back({fmt::format("plain {}", policy), false, {what.plain_loop, trace, policy}});
      runners_.push_back({fmt::format("plain {}", policy), true, {what.plain_loop, trace, policy, csv}});
    }
    for (const std::string& policy : policies)
      for (const char* outputs : {"none", "jobs"})
        runners_.push_back({policy,
                            outputs == std::string("jobs"),
                            {what.replay, "simulate", "--trace", trace, "--policy", policy, "--outputs", outputs,
                             "--out", (folder / "run").string()}});
  }

  void measure() {
    for (int round = 0; round < what_.rounds; ++round)
      for (Runner& runner : runners_) {
        if (round > 0 && runner.user_s.front() > kPatience) continue;
        const Runner* const without = find(runner.name, false);
        if (runner.jobs_csv && without->stopped) {  // as it would be
          runner.user_s = without->user_s;
          runner.stopped = true;
          continue;
        }
        fs::remove_all(folder_ / "run");  // not by the process that is measured
        const Cost cost = run(runner.words, what_.longest_s);
        runner.user_s.push_back(cost.user_s);
        runner.peak_mb = std::max(runner.peak_mb, cost.peak_mb);
        runner.stopped = cost.stopped;
      }
  }

  void print(const std::string& trace) const {
    for (const Runner& runner : runners_) {
      const auto shown = [](std::optional<double> value) { return value ? fmt::format("{:.2f}", *value) : "-"; };
      const double s = median(runner.user_s);
      const std::string row =
          fmt::format("| {} | {} | {} | {} |", trace, jobs_, runner.name, runner.jobs_csv ? "jobs" : "none");
      if (runner.stopped)
        fmt::print("{} over {} | | | | | |\n", row, what_.longest_s);
      else
        fmt::print("{} {:.3f} | {:.3f}-{:.3f} | {:.2f} | {} | {} | {:.0f} |\n", row, s, std::ranges::min(runner.user_s),
                   std::ranges::max(runner.user_s), s * 1e6 / static_cast<double>(jobs_),
                   shown(ratio(runner, find(plain(runner), false))), shown(ratio(runner, find(plain(runner), true))),
                   runner.peak_mb);
    }
    std::fflush(stdout);
  }

  // Policies that were stopped.
  [[nodiscard]] std::set<std::string> too_slow() const {
    std::set<std::string> names;
    for (const Runner& runner : runners_)
      if (runner.stopped) names.insert(runner.name);
    return names;
  }

  void add_to(Growth& growth, const std::string& trace) const {
    for (const Runner& runner : runners_)
      if (!runner.jobs_csv && !runner.stopped)
        growth[{trace, runner.name}][jobs_] = median(runner.user_s) * 1e6 / static_cast<double>(jobs_);
  }

 private:
  static std::string plain(const Runner& runner) {
    return runner.name.starts_with("plain") ? runner.name : plain_of(runner.name);
  }
  [[nodiscard]] const Runner* find(const std::string& name, bool jobs_csv) const {
    for (const Runner& runner : runners_)
      if (runner.name == name && runner.jobs_csv == jobs_csv) return &runner;
    return nullptr;
  }

  const TemporaryFolder& folder_;
  const BesidePlainLoop& what_;
  std::uint64_t jobs_;
  std::vector<Runner> runners_;
};

void print(const Growth& growth) {
  fmt::print("\nGrowth, user us per job, `--outputs none`:\n\n| trace | policy | jobs: us |\n|---|---|---|\n");
  for (const auto& [key, by_jobs] : growth) {
    std::string cells;
    for (const auto& [jobs, us] : by_jobs) add_item(cells, ", ", "{}: {:.2f}", jobs, us);
    fmt::print("| {} | {} | {} |\n", key.first, key.second, cells);
  }
}

}  // namespace

void measure_beside_plain_loop(const TemporaryFolder& folder, const BesidePlainLoop& what) {
  fmt::print(
      "\n## As a user has it: Lublin, offered load 0.9, and KTH, beside a plain loop\n\n"
      "| trace | jobs | policy | `--outputs` | user s | fastest-slowest | us per job | / plain | / plain with jobs.csv "
      "| peak MB |\n|---|---|---|---|---|---|---|---|---|---|\n");
  Growth growth;
  for (const std::uint64_t processors : {128u, 1024u}) {
    const std::string name = fmt::format("lublin, {} processors", processors);
    Words policies = what.policies;
    for (std::uint64_t jobs = 10'000; jobs <= what.most_jobs; jobs *= 10) {
      Turns turns(folder, what, lublin(folder, what.replay, jobs, processors, "0.9"), policies);
      turns.measure();
      turns.print(name);
      turns.add_to(growth, name);
      for (const std::string& slow : turns.too_slow())
        if (std::erase(policies, slow) > 0)
          fmt::print(stderr, "{}, {}: over {} s on {} jobs, left out of longer traces\n", name, slow, what.longest_s,
                     jobs);
    }
  }
  const fs::path zipped = fs::path(what.logs) / "KTH-SP2-EASY-reference.swf.gz";
  if (fs::exists(zipped)) {
    const std::string log = (folder / "log.swf").string();
    copy(zipped.string(), log);
    Turns turns(folder, what, log, what.policies);
    turns.measure();
    turns.print("KTH");
  } else {
    fmt::print(stderr, "{} is not there and is left out\n", zipped.string());
  }
  print(growth);
}

}  // namespace replay::bench
