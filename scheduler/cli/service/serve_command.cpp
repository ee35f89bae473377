// `replay serve`: the scheduler as a service. Takes jobs of its user at a socket and starts them on the machine's cores,
// under one policy, until a stop signal.

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/run_viewers.hpp"
#include "scheduler/cli/service/job_texts.hpp"
#include "scheduler/service/period.hpp"

namespace replay::cli {
namespace {

struct ServeGiven {
  service::PeriodOptions period;
  std::optional<std::uint16_t> live_page;  // its port, 0: any
  bool plain = false;
};

void announce(const service::Period& period, RunViewers& viewers) {
  const service::Recovered& recovered = period.recovered();
  const service::Intake& intake = period.intake();
  fmt::print("service at {}, process {}\n", period.folder().path().string(), ::getpid());
  fmt::print("{}, policy {}\n", period.machine().description(), period.policy());
  for (const std::string& note : period.machine().notes()) fmt::print("note: {}\n", clean_lines(note));
  viewers.tell_address(period.folder().page());
  fmt::print("results in {}\n", period.run_folder().string());
  for (const std::string& note : period.notes()) fmt::print(stderr, "replay: {}\n", clean_lines(note));
  if (period.goes_on()) fmt::print("the jobs of the last service go on\n");
  if (!period.adopts().empty()) fmt::print("{}\n", clean_lines(period.adopts()));
  if (recovered.read_back > 0)
    fmt::print("{} only its event log had\n", counted(recovered.read_back, "job of the last service whose end",
                                                      "jobs of the last service whose ends"));
  if (recovered.failed > 0)
    fmt::print("{} ran when the last service ended, and {} recorded as failed\n", counted(recovered.failed, "job"),
               recovered.failed == 1 ? "is" : "are");
  if (recovered.damaged > 0)
    fmt::print("{} in the journal, recorded as failed\n",
               counted(recovered.damaged, "job has a damaged row", "jobs have damaged rows"));
  if (recovered.requeued > 0)
    fmt::print("{} ran when the last service ended, and {} again\n", counted(recovered.requeued, "job"),
               recovered.requeued == 1 ? "waits" : "wait");
  if (intake.waiting() > 0) fmt::print("{} in the journal\n", counted(intake.waiting(), "waiting job"));
  if (intake.held_back() > 0)
    fmt::print("{} in the journal until the machine has enough cores\n",
               counted(intake.held_back(), "job stays", "jobs stay"));
  std::fflush(stdout);
}

// An ordered stop is no failure of a service, and neither is a job's.
int tell_end(const results::PolicyRun& done, const service::Period& period) {
  if (!done.not_kept.empty()) fmt::print(stderr, "replay: {}\n", clean_lines(done.not_kept));
  if (!done.not_kept.empty() && stop_signal() == SIGINT) {
    fmt::print(
        stderr,
        "replay: stopped: the jobs could not be ended; they go on for {}, and the next service goes on with them\n",
        length_text(period.lease()));
    return exit_status_after_stop();
  }
  if (done.left) {
    fmt::print("the service has left its jobs: they go on for {}, and the next service goes on with them\n",
               length_text(period.lease()));
    return 0;
  }
  fmt::print("the service has ended; {} in its journal\n",
             counted(period.waiting_in_journal(), "job waits", "jobs wait"));
  bool has_failed = false;
  const auto tell = [&has_failed](const char* what, const std::string& why) {
    if (why.empty()) return;
    has_failed = true;
    fmt::print(stderr, "replay: {}: {}\n", what, clean_lines(why));
  };
  tell("the service ended early", done.lost);
  tell("the service ended early", done.fault);
  tell("no further job was started", done.broken_off);
  tell("the ends of some jobs are missing", period.intake().fault());
  for (const std::string& what : done.unwritten) tell("not written", what);
  if (period.is_abandoned()) fmt::print(stderr, "replay: the ends of some jobs were not waited for\n");
  if (period.is_abandoned()) return exit_status_after_stop();
  return has_failed ? 1 : 0;
}

int run_period(const ServeGiven& given, const std::string& command_line) {
  service::Period period{given.period, command_line};
  RunViewers watching{stdout, given.plain};
  const HeedStops heeding{HeedStops::Ignored::kStaysIgnored};
  const auto tell_wait = [](const std::string& why) {
    fmt::print("waiting for the node agent of the last service to end{}\n",
               why.empty()
                   ? ""
                   : clean_lines("; its jobs would go on with a service of the options of before: it had " + why));
    std::fflush(stdout);
  };
  if (!period.start(tell_wait, [&] { return watching.open_page(given.live_page, "live: service"); })) {
    fmt::print("stopped before the service has begun\n");
    return 0;
  }
  announce(period, watching);
  experiment::Viewers viewers = watching.begin_run(period.run_folder(), std::nullopt);
  viewers.over = [&watching] { watching.forget_address(); };
  const results::PolicyRun done = period.run(
      std::move(viewers), [](const std::string& what) { fmt::print(stderr, "replay: {}\n", clean_line(what)); });
  watching.finish(fmt::format("the service has ended; `replay report {}` makes a page of this period that stays",
                              period.run_folder().string()));
  return tell_end(done, period);
}

int run_service(ServeGiven given, const std::string& command_line) {
  try {
    return run_period(given, command_line);
  } catch (const live::TurnLogDiffers& error) {
    given.period.why_not_again = error.what();
  }
  fmt::print(stderr, "replay: {}\n", clean_lines(given.period.why_not_again));
  return run_period(given, command_line);
}

}  // namespace

Command add_serve(CLI::App& app, const std::string& command_line) {
  auto given = std::make_shared<ServeGiven>();
  CLI::App& serve =
      add_command(app, "serve", "take jobs of users and run them on this machine or several hosts, under one policy",
                  "Example:\n"
                  "  replay serve --policy easy --machine local:0-3        until Ctrl-C; then in another terminal:\n"
                  "  replay submit -n 4 --time 10min -- ./a.out");
  add_service_option(serve, given->period.folder);
  experiment::RunSpec& run = given->period.run;
  run.world = experiment::World::kService;
  run.policies = {"fcfs-malleable"};
  run.runtime_model = "isolated";
  add_options_of_run(serve, run, {"--policy", "--machine"});
  add_node_options(serve, run);
  add_host_options(serve, run);
  add_options_of_run(serve, run, {"--runtime-model", "--overrun", "--pairing", "--keep-jobs"});
  serve.get_option("--keep-jobs")
      ->description(
          "jobs go on for as long as --lease says when the service is killed, or told to end by SIGTERM or SIGHUP; the "
          "next service on the same machine goes on with them, under another policy too");
  serve.get_option("--policy")
      ->description("the policy; parameters as name:key=value (`replay policies`)")
      ->type_name("TEXT");
  serve.get_option("--runtime-model")
      ->description("how fast a shrunk job is expected to run (`replay models` lists them)");
  serve.get_option("--overrun")
      ->description("what happens to a job at its time limit: kill it, extend the limit by 10 %, or as the policy says")
      ->default_str("");
  serve.get_option("--pairing")->default_str("");
  add_duration(serve, "--default-time", "T", given->period.default_limit, kTimeLimit,
               "time limit of jobs that are submitted without one (default 1h)");
  add_live_page_option(serve, given->live_page);
  serve.add_flag("--plain", given->plain, "plain lines instead of the live view, on a terminal too");
  return [given, command_line] { return run_service(*given, command_line); };
}

}  // namespace replay::cli
