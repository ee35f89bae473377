// `replay why RUN JOB`: what a job waited for, from its submission to its start.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/compare/waiting_report.hpp"
#include "scheduler/experiment/logged/logged_runs.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::cli {
namespace {

constexpr std::int64_t kMostJob = 1'000'000'000'000'000'000;  // larger ones would be read as another number

struct WhyGiven {
  std::string run;
  std::int64_t job = 0;
  compare::WaitTextOptions text;
  bool instants = false;
  bool in_seconds = false;
  bool json = false;
};

compare::ExplainedWait explain(const WhyGiven& given) {
  experiment::LoggedRuns logged;
  const std::string log = results::event_log_of(logged.run_of(given.run)).string();
  try {
    return compare::explain_wait(log, JobId{given.job}, !given.instants, given.text.most_named);
  } catch (const InputError& error) {  // such as a job that is not there
    std::string text = error.what();
    if (logged.given_for(log) && text.starts_with(log)) text.replace(0, log.size(), given.run);
    throw InputError(text);
  }
}

int why(WhyGiven given) {
  if (given.in_seconds) given.text.style = results::TimeStyle::kSeconds;
  const auto [header, report] = explain(given);
  if (given.json) {
    print_json(to_json(report, given.text));
    return 0;
  }
  fmt::print("{}",
             clean_lines(fmt::format("{}: {}, {}, machine {}\n{}", given.run, header.value("policy"),
                                     header.value("body"), header.value("machine"), to_text(report, given.text))));
  return 0;
}

}  // namespace

Command add_why(CLI::App& app) {
  CLI::App& command = add_command(app, "why", "what a job of a run waited for, from its submission to its start",
                                  "RUN is a run's folder, an events.log, or a log in SWF with waits (.gz too). Times "
                                  "are of the trace: days since its zero, hours:minutes:seconds.\n"
                                  "Example: replay why runs/compare/easy 1234");
  auto given = std::make_shared<WhyGiven>();
  command.add_option("RUN", given->run, "the run")->required();
  add_count(command, "JOB", given->job, -kMostJob, kMostJob, "the job's number in the trace")
      ->required()
      ->default_str("");
  command.add_flag("--instants", given->instants, "a line for each instant at which something happened");
  add_count(command, "--max", given->text.most_named, 0, 1'000'000'000,
            "how many running or overtaking jobs to name on a line");
  add_count(command, "--lines", given->text.most_lines, 0, 1'000'000'000,
            "how many spans of time to show; of more, the first and the last");
  command.add_flag("--seconds", given->in_seconds, "times in seconds, as in events.log");
  command.add_flag("--json", given->json, "print it as JSON");
  return [given] { return why(*given); };
}

}  // namespace replay::cli
