#include "scheduler/experiment/simulation.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"

namespace replay::experiment {
namespace {

// Keeps only the instant of the last change.
class LastInstant final : public history::Observer {
 public:
  void on_load(Instant at, const history::Load& /*load*/) override { last = at; }
  Instant last{};
};

class FirstStarts final : public history::Observer {
 public:
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override {
    if (before.phase == history::Phase::kWaiting) starts.try_emplace(job.id, ExpectedStart{at, job.held});
  }
  std::map<JobId, ExpectedStart> starts;
};

/// Nothing is kept of it but what the observer has seen. Throws PolicyError.
void simulate_for(history::ObserverRef observer, const Prepared& run, const PreparedPolicy& policy) {
  const NamedPolicy named = make_policy(policy.text);
  const auto model = run.model();
  const Machine& machine = run.machine_of(policy);
  results::Recorder recorder{{}, figures_only(machine, named.full_text, run.spec.runtime_model)};
  SimBody body{machine, run.workload(), run.simulation_options()};
  const results::PolicyRun done = experiment::run(body, *named.policy, *model, recorder, {.observers = {observer}});
  if (!done.fault.empty()) throw PolicyError(done.fault);
}

}  // namespace

BodyEnd SimBody::run(Policy& policy, const RuntimeModel& model, results::Recorder& recorder,
                     const Viewers& /*viewers*/) {
  try {
    const SimulationResult result = simulate(machine_, workload_, policy, model, recorder.sink(), options_);
    return {.interrupted = result.interrupted, .broken_off = result.broken_off};
  } catch (const PolicyError& error) {
    return {.fault = error.what()};
  }
}

results::RunDescription figures_only(const Machine& machine, std::string_view policy,
                                     const std::string& runtime_model) {
  results::RunDescription description;
  description.body = "sim";
  description.machine = machine.to_text();
  description.policy = policy;
  description.policy_full = policy;
  description.runtime_model = runtime_model;
  description.outputs = "none";
  return description;
}

results::PolicyRun simulate_policy(const Prepared& run, std::size_t policy, const std::filesystem::path& folder,
                                   const std::string& command_line, std::function<void(std::size_t)> progress) {
  const PreparedPolicy& prepared = run.policies[policy];
  const NamedPolicy named = make_policy(prepared.text);
  const auto model = run.model_named(run.runtime_model_of(prepared));
  results::Recorder recorder{folder, describe_run(run, prepared, named, command_line)};
  SimulationOptions options = run.simulation_options_of(prepared);
  options.interrupted = [] { return stops_asked() > 0; };
  options.progress = std::move(progress);
  SimBody body{run.machine_of(prepared), run.workload_of(prepared), std::move(options)};
  return experiment::run(body, *named.policy, *model, recorder);
}

Needs needs_of(const Prepared& run) {
  constexpr double kBytesPerProcess = 16e6;                         // resident, of a rank of `phases` (measured)
  constexpr double kStartUpBase = 0.1, kStartUpPerProcess = 0.035;  // s: measured, 1 rank 0.1 s, 32 ranks 1.2 s
  Needs needs;
  std::int64_t ranks = 0;
  for (const TracedJob& traced : run.workload().jobs) {
    needs.widest = std::max(needs.widest, traced.job.processes);
    ranks += traced.job.processes;
  }
  needs.start_up_s = kStartUpBase + kStartUpPerProcess * needs.widest;
  needs.bytes = kBytesPerProcess * static_cast<double>(std::min(ranks, std::int64_t{2} * run.machine.size()));
  for (const PreparedPolicy& policy : run.policies) {
    LastInstant log;
    simulate_for(&log, run, policy);
    needs.seconds += seconds(log.last - run.workload().jobs.front().job.submitted) * run.spec.time_scale;
  }
  return needs;
}

std::map<JobId, ExpectedStart> expected_starts(const Prepared& run, const PreparedPolicy& policy) {
  FirstStarts log;
  simulate_for(&log, run, policy);
  return std::move(log.starts);
}

}  // namespace replay::experiment
