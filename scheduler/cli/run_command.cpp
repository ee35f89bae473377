// `replay --trace FILE --policy LIST`: runs the trace with real programs, on this machine's cores or emulated ones.
// Estimates the duration, starts the node agent, lets the live engine run each policy in turn, writes the results.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "launcher/agent/agent.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/report.hpp"
#include "scheduler/cli/run_viewers.hpp"
#include "scheduler/experiment/consent.hpp"
#include "scheduler/experiment/kept_run.hpp"
#include "scheduler/experiment/live_run.hpp"
#include "scheduler/experiment/past_run.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_folder.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

struct RunGiven {
  experiment::RunSpec run;
  ResultOptions results;
  bool yes = false;
  bool dry_run = false;
  bool plain = false;
  std::string resume;                      // the folder of a run that goes on; empty: a new one
  std::optional<std::uint16_t> live_page;  // its port, 0: any
};

// ---- what is said before a run ----

// "node1 0,1; node2 0", "cores 0,1": by their numbers on each node.
std::string place_text(const Allocation& on, const experiment::Prepared& run, const experiment::PreparedPolicy& policy,
                       const experiment::RealMachine& machine) {
  const std::vector<std::string> hosts = machine.hosts();
  std::vector<std::string> nodes;
  for_each_node(on, run.machine_of(policy), [&](const NodeShare& share) {
    std::vector<launcher::PuId> cores;
    for (const CoreLoad& load : share.cores)
      cores.push_back(
          machine.pu_of_core()[index_of(policy.part ? policy.part->cores[index_of(load.core)] : load.core)]);
    const auto node = static_cast<std::size_t>(share.node);
    const std::string name = !hosts.empty()                  ? hosts[node] + " "
                             : machine.machine().nodes() > 1 ? fmt::format("node {}: ", node)
                                                             : "cores ";
    nodes.push_back(fmt::format("{}{}", name, fmt::join(launcher::numbers(cores), ",")));
  });
  return fmt::format("{}", fmt::join(nodes, "; "));
}

// The machine, what the run takes, and its notes.
void announce(std::FILE* out, const experiment::Prepared& run, const experiment::RealMachine& machine,
              const experiment::Needs& needs) {
  fmt::print(out, "{} on {}, policies: {}\n", counted(run.workload().jobs.size(), "job"), machine.description(),
             fmt::join(texts_of(run.policies), ", "));
  fmt::print(out, "it will take about {}; widest job {}, start-up up to about {:.1f} s, about {} of memory\n",
             about_text(needs.seconds), counted(needs.widest, "process", "processes"), needs.start_up_s,
             size_text(needs.bytes));
  if (const auto end = machine.end())
    fmt::print(out, "{} is about {} away; a run that is not over ends {} s before it\n", end->what,
               about_text(std::chrono::duration<double>(end->at - std::chrono::steady_clock::now()).count()),
               live::kBeforeMachineEnd.count());
  for (const std::string& note : run.notes) fmt::print(out, "note: {}\n", clean_lines(note));
}

// The machine; then each job's command, when and on which cores a simulation of the first policy starts it.
void print_plan(const experiment::Prepared& run, const experiment::RealMachine& machine,
                const experiment::Programs& programs) {
  for (const std::string& line : machine.layout()) fmt::print("{}\n", clean_line(line));
  const experiment::PreparedPolicy& policy = run.policies.front();
  const auto starts = experiment::expected_starts(run, policy);
  fmt::print("starts and cores are those of a simulation of {}\n", policy.text);
  for (const TracedJob& traced : run.workload().jobs) {
    const auto start = starts.find(traced.job.id);
    const std::string where = start == starts.end() ? "not started"
                                                    : fmt::format("starts at {} s on {}", to_text(start->second.at),
                                                                  place_text(start->second.on, run, policy, machine));
    fmt::print("job {}: at {} s, {}, mpiexec -n {} {}\n", static_cast<std::int64_t>(traced.job.id),
               to_text(traced.job.submitted), where, traced.job.processes,
               visible_text(fmt::format("{}", fmt::join(programs.command(traced), " "))));
  }
}

// ---- the run ----

// What the page says when it follows no run any more.
std::string last_words(const results::PolicyRun& last, const fs::path& folder) {
  const std::string why = last.lost.empty() ? last.fault : last.lost;
  if (last.left) return fmt::format("the run was stopped; `replay --resume {}` goes on with it", folder.string());
  return fmt::format("the run {}; `replay report {}` makes a page of it that stays",
                     !why.empty()       ? "ended early: " + why
                     : last.interrupted ? "was interrupted"
                                        : "is over",
                     folder.string());
}

// A folder that no run has begun in is taken away again, so that the next try finds none.
void check_nodes(experiment::RealMachine& machine, experiment::Prepared& run, const experiment::Programs& programs,
                 const fs::path& folder, std::FILE* out) {
  try {
    for (const std::string& note : machine.check_nodes(folder, programs.needed_by(run.workload()))) {
      fmt::print(out, "note: {}\n", clean_lines(note));
      run.notes.push_back(note);
    }
  } catch (const InputError&) {
    std::error_code error;
    fs::remove(folder, error);  // only if it is empty
    throw;
  }
}

// Stopped while its inputs could not be kept.
int tell_left(const results::PolicyRun& left, Duration lease, const fs::path& folder) {
  fmt::print(stderr, "replay: {}\nreplay: stopped: the jobs go on for {}, and `replay --resume {}` goes on with them\n",
             clean_lines(left.not_kept), length_text(lease), folder.string());
  return exit_status_after_stop();
}

// `goes_on`: the run in given.resume; null: it is a new one.
int run_all(const RunGiven& given, experiment::Prepared& run, experiment::RealMachine& machine,
            const experiment::Programs& programs, const std::string& command_line, std::FILE* out,
            experiment::Keeping* goes_on) {
  const std::string& trace = run.spec.trace;
  RunViewers viewers{out, given.plain};
  (void)viewers.open_page(given.live_page,
                          "live: " + (trace == "-" ? "standard input" : fs::path{trace}.filename().string()));
  machine.leave_the_jobs_cores();
  const HeedStops heeding;  // until the results are in place
  const fs::path folder =
      goes_on != nullptr
          ? fs::path{given.resume}
          : results::make_run_folder(given.results.out, experiment::texts_of(run.policies), given.results.force);
  if (goes_on == nullptr) check_nodes(machine, run, programs, folder, out);
  viewers.tell_address(folder / results::kLivePageFile);
  const auto watch = [&](const fs::path& where) { return viewers.begin_run(where, run.workload().jobs.size()); };
  std::vector<results::PolicyRun> runs;
  try {
    experiment::run_policies(run, machine, programs, folder, command_line, watch, runs, goes_on);
  } catch (const InputError&) {  // results cannot be written
    if (!runs.empty()) (void)report(runs, context_of(run), folder, given.results.json);
    throw;
  }
  viewers.finish(last_words(runs.back(), folder));
  if (runs.back().left) return tell_left(runs.back(), run.spec.node.lease, folder);
  return report(runs, context_of(run), folder, given.results.json);
}

// The notes of a run that is about to be carried out.
void add_notes(experiment::Prepared& run, experiment::RealMachine& machine) {
  machine.find_programs();
  run.notes.insert(run.notes.begin(), machine.notes().begin(), machine.notes().end());
  if (const auto note = launcher::threads_note(); note && !machine.is_emulated()) run.notes.push_back(*note);
}

// The daemon of the run has ended, and its jobs have not.
int resume(RunGiven given) {
  const bool has_consent = std::exchange(given.run.programs_from_trace, false);
  if (given.run != experiment::RunSpec{} || !given.results.out.empty() || given.results.force || given.dry_run)
    throw UsageError(
        "--resume: the run goes on as it was begun: expected no other options than --programs-from-trace, --live-page, "
        "--plain and --json");
  given.resume = fs::absolute(given.resume).lexically_normal().string();
  const fs::path folder = given.resume;
  const experiment::PastRun past = experiment::read_past_run(folder);
  if (!past.spec.keep_jobs)
    throw InputError(
        fmt::format("--resume {}: was given without --keep-jobs: its jobs have ended with it", folder.string()));
  const experiment::InputCheck inputs = experiment::check_inputs(past);
  if (!inputs.problems.empty())
    throw InputError(fmt::format("--resume {}:\n  {}", folder.string(), fmt::join(inputs.problems, "\n  ")));
  experiment::Keeping kept{folder};
  if (past.was_over && !experiment::is_an_agent_there(kept.run().agents))
    throw InputError(fmt::format("--resume {}: is over", folder.string()));
  fs::current_path(inputs.folder);
  experiment::KeptAgents agents = kept.run().agents;
  agents.are_gone = !experiment::is_elsewhere(past.spec.machine) && experiment::is_free_of_agents(folder);
  experiment::RealMachine machine{past.spec, agents};
  experiment::Prepared run = experiment::prepare(past.spec, machine.cores());
  const experiment::Programs programs = experiment::programs_of(run, machine);
  experiment::expect_consent(experiment::request_for_programs(run.spec.trace, programs.named_by_trace(run.workload())),
                             has_consent || run.spec.programs_from_trace, given.results.json ? stderr : stdout);
  add_notes(run, machine);
  return run_all(given, run, machine, programs, past.command, given.results.json ? stderr : stdout, &kept);
}

int run(const RunGiven& given, const std::string& command_line) {
  if (!given.resume.empty()) return resume(given);
  std::FILE* out = given.results.json ? stderr : stdout;
  experiment::RealMachine machine{given.run};
  experiment::Prepared run = experiment::prepare(given.run, machine.cores());
  const experiment::Programs programs = experiment::programs_of(run, machine);
  const experiment::Request request =
      experiment::request_for_programs(run.spec.trace, programs.named_by_trace(run.workload()));
  if (given.dry_run) {
    experiment::show(request, out);
    print_plan(run, machine, programs);
    return 0;
  }
  experiment::expect_consent(request, run.spec.programs_from_trace, out);
  machine.expect_runs(run.policies.size());
  if (run.spec.keep_jobs && run.policies.size() > 1)
    throw UsageError("--keep-jobs: a run goes on by itself: expected one policy");
  add_notes(run, machine);

  const experiment::Needs needs = experiment::needs_of(run);
  announce(out, run, machine, needs);
  if (needs.seconds > kLongRun && !given.yes)
    throw UsageError(fmt::format("this run takes about {}: say --yes to start it, or a smaller --time-scale",
                                 about_text(needs.seconds)));
  return run_all(given, run, machine, programs, command_line, out, nullptr);
}

}  // namespace

void prepare_runtime() { experiment::use_hwloc(); }

Command add_run(CLI::App& app, const std::string& command_line) {
  auto given = std::make_shared<RunGiven>();
  add_common_options(app, given->run, given->results);
  add_node_options(app, given->run);
  add_host_options(app, given->run);
  app.get_option("--runtime-model")
      ->description("how fast a shrunk job is expected to run (`replay models` lists them; default isolated)");
  add_options_of_run(app, given->run,
                     {"--time-scale", "--pairing", "--label", "--program", "--programs-from-trace", "--keep-jobs"});
  add_text(app, "--resume", given->resume, "RUN",
           "go on with a run that was given with --keep-jobs, and whose `replay` was killed: within its --lease");
  app.add_flag("--yes", given->yes, "start even if it takes longer than an hour");
  app.add_flag(
      "--dry-run", given->dry_run,
      "print the machine, how agents on hosts are started, each job's expected place and its command, and stop");
  add_live_page_option(app, given->live_page);
  app.add_flag("--plain", given->plain, "plain lines instead of the live view, on a terminal too");
  return [given, command_line] { return run(*given, command_line); };
}

}  // namespace replay::cli
