// `replay diff RUN RUN`: the first difference of two runs and its effect on the jobs. Exit status as of diff: 0 the
// same, 1 different, 2 trouble.

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/compare/run_difference.hpp"
#include "scheduler/experiment/logged/logged_runs.hpp"

namespace replay::cli {
namespace {

constexpr int kTrouble = 2;

struct DiffGiven {
  std::string a, b;
  Duration tolerance{};
  std::size_t most = 10;
  bool ignore_cores = false;
  bool json = false;
};

int diff(const DiffGiven& given) {
  try {
    const bool placements = given.tolerance == Duration::zero() && !given.ignore_cores;
    experiment::LoggedRuns logged;
    compare::RunDifference difference =
        compare::compare_runs(logged.run_of(given.a), logged.run_of(given.b), given.tolerance, placements, given.most);
    difference.runs[0].name = given.a;
    difference.runs[1].name = given.b;
    const std::string text = given.json ? json_text(to_json(difference)) : clean_lines(difference_text(difference));
    // main() reports the write error; status 1 would mean that the runs differ.
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) return kTrouble;
    return difference.none() ? 0 : 1;
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    fmt::print(stderr, "replay: {}\n", clean_lines(error.what()));
    return kTrouble;
  }
}

}  // namespace

Command add_diff(CLI::App& app) {
  CLI::App& command =
      add_command(app, "diff", "where two runs part: the first decision that differs, and the jobs' starts",
                  "RUN is a run's folder, an events.log, or a log in SWF with waits (.gz too). Exit status: 0 the "
                  "same, 1 different, 2 trouble.\n"
                  "Example: replay diff runs/compare/easy runs/compare/fcfs");
  auto given = std::make_shared<DiffGiven>();
  command.add_option("A", given->a, "the first run")->required()->type_name("RUN");
  command.add_option("B", given->b, "the second run")->required()->type_name("RUN");
  DurationRange up_to_a_year = kTolerance;
  up_to_a_year.most = std::chrono::hours{24 * 365};
  add_duration(command, "--tolerance", "SECONDS", given->tolerance, up_to_a_year,
               "instants so far apart are the same, and order within it does not matter; for real runs", "0");
  add_count(command, "--max", given->most, 0, 1'000'000'000,
            "how many of the jobs with the largest differences to show");
  command.add_flag("--ignore-cores", given->ignore_cores,
                   "a job may be on other cores of as many; always so with a tolerance, or if the machines differ");
  command.add_flag("--json", given->json, "print the comparison as JSON");
  return [given] { return diff(*given); };
}

}  // namespace replay::cli
