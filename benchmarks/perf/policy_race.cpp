#include "benchmarks/perf/policy_race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "benchmarks/perf/vmlib_figures.hpp"

namespace replay::bench {

void race(const TemporaryFolder& folder, const RaceRules& rules, const std::string& trace, const std::string& name,
          std::vector<PolicyRunner>& runners) {
  constexpr double kPatience = 5;  // s
  for (PolicyRunner& runner : runners) runner.user_s.clear();
  for (int round = 0; round < rules.rounds; ++round)
    for (PolicyRunner& runner : runners) {
      if (runner.stopped || (round > 0 && runner.user_s.front() > kPatience)) continue;
      Words words{rules.replay,
                  "simulate",
                  "--trace",
                  trace,
                  "--policy",
                  runner.policy,
                  "--outputs",
                  "none",
                  "--force",
                  "--out",
                  (folder / "run").string()};
      words.insert(words.end(), rules.options.begin(), rules.options.end());
      const Cost cost = run(std::move(words), rules.longest_s);
      runner.stopped = cost.stopped;
      if (!cost.stopped) runner.user_s.push_back(cost.user_s);
    }
  for (const PolicyRunner& runner : runners) {
    if (runner.user_s.empty()) {
      fmt::print("| {} | {} | more than {} | |\n", name, runner.policy, rules.longest_s);
      continue;
    }
    fmt::print("| {} | {} | {:.2f} | {:.2f}-{:.2f} |\n", name, runner.policy, median(runner.user_s),
               std::ranges::min(runner.user_s), std::ranges::max(runner.user_s));
  }
  std::fflush(stdout);
}

}  // namespace replay::bench
