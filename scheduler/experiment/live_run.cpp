#include "scheduler/experiment/live_run.hpp"

#include <fmt/core.h>

#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/core/controller.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/experiment/kept_run.hpp"
#include "scheduler/runtime_model/neighbours_part.hpp"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

// Checks that there is room for a job's command, environment and output, a block each. Without it this job and all
// later ones would fail at once.
void expect_room_in(const fs::path& folder) {
  constexpr std::size_t kRoom = 16384;
  try {
    WholeFile(folder / "room").write(std::string(kRoom, '\0'));  // not finished, so no file stays
  } catch (const InputError& error) {
    throw live::CannotStartJobs(error.what());
  }
}

live::LaunchOrder order_of(const Programs& programs, const TracedJob& traced, ProcessCount processes,
                           const fs::path& folder) {
  live::LaunchOrder order;
  order.command = programs.command(traced, processes);
  order.directory = folder / "jobs" / fmt::format("{}", number(traced.job.id));
  std::error_code error;
  fs::create_directories(order.directory, error);
  if (error)
    throw live::CannotStartJobs(fmt::format("{}: cannot be made: {}", order.directory.string(), error.message()));
  expect_room_in(order.directory);
  return order;
}

// What slows jobs down beside those on their nodes; null: nothing, or the machine itself does.
std::unique_ptr<RuntimeModel> neighbours_of(const Prepared& run, const RealMachine& machine) {
  const std::string part = machine.is_emulated() ? neighbours_part(run.spec.runtime_model) : "";
  if (part.empty()) return nullptr;
  return make_runtime_model(part, {.profile = run.profile.get(), .pairs = run.pairs.get()});
}

NamedPolicy policy_for(const RunSpec& run, CoreCount cores) {
  const std::string text = option_text(run, "--policy");
  if (run.policies.size() != 1) throw UsageError(fmt::format("--policy: expected one policy, found '{}'", text));
  NamedPolicy named = make_policy(text);
  expect_policy_that_decides(named, "a service");
  (void)named.prepared([](std::string_view, const StartOfTrial&) {
    throw UsageError(
        "--policy: awt=conservative takes a simulation of the jobs before the run, and a service does not know its "
        "jobs before: expected numbers");
  });
  if (const auto& training = named.policy->traits().training; training && training->machine != cores)
    throw InputError(fmt::format("--policy {}: was learned on a machine of {} processors, expected {}", text,
                                 training->machine, cores));
  return named;
}

// A policy refuses a machine that it cannot use when the first job comes: here one that is none, so that the service does
// not end with a user's first job.
void expect_usable(const std::string& policy, const Machine& machine, const RuntimeModel& model) {
  log::Tee nowhere{{}};
  const NamedPolicy trial = make_policy(policy);
  Controller controller{machine, *trial.policy, model, nowhere, {}};
  TracedJob job;
  job.job.id = JobId{1};
  job.job.processes = 1;
  job.job.estimate = std::chrono::hours{1};
  const Event submitted = Submit{&job};
  (void)controller.handle(Instant{}, {&submitted, 1});
  if (!controller.failure()) return;
  try {
    std::rethrow_exception(controller.failure());
  } catch (const PolicyError& error) {
    throw UsageError(fmt::format("--policy {}: {}", policy, clean_line(error.what())));
  }
}

std::unique_ptr<RuntimeModel> model_for(const std::string& name) {
  for (const char* of_files : {kCalibrated, "pairs"})
    if (names_model(name, of_files))
      throw UsageError(
          fmt::format("--runtime-model {}: the model {} knows benchmarks and pairs of jobs by name, and "
                      "users' jobs are none: expected another one",
                      name, of_files));
  return make_runtime_model(name);
}

results::PolicyRun run_policy(const Prepared& run, const PreparedPolicy& policy, RealMachine machine,
                              const Programs& programs, const fs::path& folder, const std::string& command_line,
                              const std::function<Viewers(const fs::path&)>& watch, Keeping* goes_on) {
  const NamedPolicy named = make_policy(policy.text);
  if (policy.part) machine.take(*policy.part);
  const auto model = run.model();
  const auto neighbours = neighbours_of(run, machine);
  if (run.spec.keep_jobs) {
    fs::create_directories(folder);
    machine.lend_to_agent(AgentsLock{folder});
  }
  // Before anything else: the agent is forked while this process has one thread and no event loop.
  auto executor = machine.start();

  fs::create_directories(folder / "jobs");
  std::optional<Keeping> begins;
  if (run.spec.keep_jobs && goes_on == nullptr) goes_on = &begins.emplace(folder, KeptRun::now(machine.agents()));
  if (goes_on != nullptr) goes_on->put_log_aside();
  results::RunDescription description = describe_run(run, policy, named, command_line);
  describe_machine(description, machine, run.spec);
  description.may_requeue = run.spec.requeues_lost && !description.hosts.empty();
  description.chooses_sizes = !description.hosts.empty() && named.policy->traits().chooses_sizes;
  results::Recorder recorder{folder, std::move(description)};
  live::RunOptions options;
  options.neighbours = neighbours.get();
  options.time_scale = run.spec.time_scale;
  options.overrun = run.spec.overrun;
  options.until = run.until;
  options.requeues_lost = run.spec.requeues_lost;
  options.machine_end = machine.end();
  if (goes_on != nullptr) goes_on->tell(options, recorder);
  options.pairing = run.spec.pairing;
  options.order = [&](const TracedJob& traced, ProcessCount processes) {
    live::LaunchOrder order = order_of(programs, traced, processes, folder);
    order.label = run.spec.label;
    return order;
  };
  live::TraceSource jobs{run.workload()};
  LiveBody body{machine.machine(), std::move(executor), jobs, std::move(options), machine.is_here()};
  results::PolicyRun done = experiment::run(body, *named.policy, *model, recorder, watch(folder));
  if (done.left) machine.leave_agents();
  return done;
}

}  // namespace

BodyEnd LiveBody::run(Policy& policy, const RuntimeModel& model, results::Recorder& recorder, const Viewers& viewers) {
  BodyEnd end;
  if (measures_load_) end.load_before = load_of_others().value_or(-1);
  recorder.flush();  // a reader that follows the log finds its header
  options_.tick = [&](Instant now) {
    recorder.flush();
    if (viewers.tick) viewers.tick(now);
  };
  live::RunResult result = live::run(machine_, jobs_, policy, model, *executor_, recorder.sink(), options_);
  if (viewers.over) viewers.over();
  executor_.reset();  // ends the jobs that still run; then no process of ours uses the cores
  if (measures_load_) end.load_after = load_of_others().value_or(-1);
  end.disturbed.reset();
  if (std::min(end.load_before, end.load_after) >= 0)
    end.disturbed = std::max(end.load_before, end.load_after) >= kDisturbed;
  is_abandoned_ = result.abandoned;
  end.left = result.left;
  end.not_kept = std::move(result.not_kept);
  end.interrupted = result.interrupted;
  end.first_stop = result.first_stop;
  end.lost = std::move(result.lost);
  end.fault = std::move(result.fault);
  end.broken_off = std::move(result.broken_off);
  return end;
}

void describe_machine(results::RunDescription& description, const RealMachine& machine, const RunSpec& spec) {
  description.body = "live";
  description.machine = machine.text();
  description.hosts = machine.hosts();
  description.time_scale = spec.time_scale;
  description.settings = machine.settings();
  description.settings.emplace_back("pairing", word_of(kPairings, spec.pairing));
}

OpenRun prepare_open(const RunSpec& spec, const Machine& machine) {
  OpenRun run{policy_for(spec, machine.size()), model_for(spec.runtime_model)};
  run.part = part_for(run.policy.text, run.policy.policy->traits(), machine);
  expect_usable(run.policy.text, run.part ? run.part->machine : machine, *run.model);
  return run;
}

Programs programs_of(Prepared& run, const RealMachine& machine) {
  const RunSpec& spec = run.spec;
  Programs programs{spec.program, run.loaded.programs, spec.time_scale, spec.seed,
                    machine.is_here() ? Programs::Place::kHere : Programs::Place::kElsewhere};
  for (const TracedJob& traced : run.workload().jobs) (void)programs.command(traced);
  if (spec.time_scale != 1 && programs.has_fixed_durations(run.workload()))
    run.notes.push_back("some jobs run programs whose run time does not follow --time-scale");
  return programs;
}

void run_policies(const Prepared& run, const RealMachine& machine, const Programs& programs, const fs::path& folder,
                  const std::string& command_line, const std::function<Viewers(const fs::path&)>& watch,
                  std::vector<results::PolicyRun>& runs, Keeping* goes_on) {
  for (const PreparedPolicy& policy : run.policies) {
    const fs::path where = run.policies.size() == 1 ? folder : folder / policy.folder;
    runs.push_back(run_policy(run, policy, machine, programs, where, command_line, watch, goes_on));
    if (runs.back().interrupted || stops_asked() > 0 || !runs.back().lost.empty()) return;
  }
}

}  // namespace replay::experiment
