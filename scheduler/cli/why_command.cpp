// `replay why RUN JOB`: what a job waited for, from its submission to its start.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/compare/waiting_report.hpp"
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

int why(WhyGiven given) {
  if (given.in_seconds) given.text.style = results::TimeStyle::kSeconds;
  const auto [header, report] =
      compare::explain_wait(results::event_log_of(given.run), JobId{given.job}, !given.instants, given.text.most_named);
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
  auto* command = app.add_subcommand("why", "what a job of a run waited for, from its submission to its start");
  command->footer(
      "RUN is a run's folder or an events.log. Times are of the trace: days since its zero, hours:minutes:seconds.\n"
      "Example: replay why runs/compare/easy 1234");
  auto given = std::make_shared<WhyGiven>();
  command->add_option("RUN", given->run, "the run")->required();
  command->add_option("JOB", given->job, "the job's number in the trace")
      ->required()
      ->check(CLI::Range(std::int64_t{-kMostJob}, kMostJob));
  command->add_flag("--instants", given->instants, "a line for each instant at which something happened");
  command->add_option("--max", given->text.most_named, "how many running or overtaking jobs to name on a line")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command
      ->add_option("--lines", given->text.most_lines, "how many spans of time to show; of more, the first and the last")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command->add_flag("--seconds", given->in_seconds, "times in seconds, as in events.log");
  command->add_flag("--json", given->json, "print it as JSON");
  return [given] { return why(*given); };
}

}  // namespace replay::cli
