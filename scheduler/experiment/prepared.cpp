#include "scheduler/experiment/prepared.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/sha256.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/experiment/hardware.hpp"
#include "scheduler/experiment/profile_use.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/sim/trial_run.hpp"
#include "traces/nodes/node_table.hpp"

namespace replay::experiment {
namespace {

// What a policy has learned from before the run.
struct LearnedFrom {
  std::string file;  // where it is stored
  Training training;
};

// ---- machine ----

// Nothing: the machine that the log is of.
std::optional<Machine> machine_of(const RunSpec& spec, const std::optional<RealCores>& cores) {
  if (cores) return cores->machine;
  if (spec.machine.empty()) return std::nullopt;
  Machine machine =
      Machine::is_for_parse(spec.machine) ? Machine::parse(spec.machine) : machine_by_hardware(spec.machine);
  return spec.flat ? Machine::pool(machine.size()) : machine;
}

// ---- model ----

void read_model(Prepared& run) {
  RunSpec& spec = run.spec;
  spec.runtime_model = runtime_model_of(spec);
  const bool is_calibrated = names_model(spec.runtime_model, kCalibrated);
  if (!is_calibrated && !names_model(spec.runtime_model, "pairs"))
    (void)make_runtime_model(spec.runtime_model);  // a name that is none is said before what does not go with it
  if (!spec.profile.empty() && !is_calibrated)
    throw UsageError(
        fmt::format("--profile: the runtime model {} reads none; it is for --runtime-model {}, or {}+pairs, "
                    "which also has its slowdowns of pairs",
                    spec.runtime_model, kCalibrated, kCalibrated));
  if (is_calibrated) run.profile = load_profile(spec);
  const bool has_pairs = names_model(spec.runtime_model, "pairs");
  if (!spec.pairs.empty() && !has_pairs)
    throw UsageError(
        fmt::format("--pairs: the runtime model {} reads none; it is for --runtime-model pairs, or for "
                    "another one joined to it, such as isolated+pairs",
                    spec.runtime_model));
  if (has_pairs)
    if (const auto pairs = pairs_file_of(spec)) run.pairs = std::make_shared<const PairTable>(read_pairs(*pairs));
  (void)run.model();  // throws for a name that is none
}

// ---- policies ----

// Throws if two policies have the same folder name.
std::string folder_for(const std::string& policy, std::map<std::string, std::string>& of_folder) {
  std::string folder = results::folder_name(policy);
  if (const auto [there, is_new] = of_folder.emplace(folder, policy); !is_new)
    throw UsageError(there->second == policy
                         ? fmt::format("--policy: {} stands there twice; expected each policy once", policy)
                         : fmt::format("--policy: {} and {} would both be written to the folder {}; rename one",
                                       there->second, policy, there->first));
  return folder;
}

// The first such policy; nullptr: all of them decide.
const PreparedPolicy* follower_of_log(const Prepared& run) {
  const auto found = std::ranges::find_if(run.policies, [](const auto& policy) { return policy.traits.follows_log; });
  return found == run.policies.end() ? nullptr : &*found;
}

std::vector<NamedPolicy> make_policies(Prepared& run, bool is_real) {
  std::vector<NamedPolicy> made;
  for (const std::string& policy : policies_of(run.spec)) {
    made.push_back(make_policy(policy));
    if (is_real) expect_policy_that_decides(made.back(), "a real run");
    run.policies.push_back({policy, {}, made.back().policy->traits()});
  }
  std::map<std::string, std::string> of_folder;
  for (PreparedPolicy& policy : run.policies) policy.folder = folder_for(policy.text, of_folder);
  // Jobs that were cancelled while they waited are a part of the log's schedule; all policies get the same jobs.
  if (follower_of_log(run) != nullptr) run.spec.cleaning.emplace("cancelled", "honour");
  return made;
}

std::vector<LearnedFrom> learned_by(const std::vector<NamedPolicy>& policies) {
  std::vector<LearnedFrom> learned;
  for (const NamedPolicy& named : policies)
    if (const auto& training = named.policy->traits().training)
      learned.push_back({named.files.empty() ? named.text : named.files.front(), *training});
  return learned;
}

// ---- jobs ----

// Throws if a policy has learned from the trace that it is to be judged on.
void expect_another_trace(const std::vector<LearnedFrom>& learned, const std::string& trace) {
  if (learned.empty()) return;
  const LearnedFrom& first = learned.front();
  if (trace == "-")
    throw UsageError(
        fmt::format("--trace -: expected the trace in a file, which can be told from {}, the one that {} was learned "
                    "from; found standard input",
                    first.training.trace, first.file));
  const std::string sha256 = digest_of(trace).sha256;
  for (const LearnedFrom& one : learned)
    if (one.training.sha256 == sha256)
      throw InputError(
          fmt::format("{}: was learned from {}, and {} is the same file (SHA-256 {}): its jobs are known before they "
                      "come; expected a forecast from another trace",
                      one.file, one.training.trace, trace, sha256));
}

// Throws if a policy has learned on a machine of another size.
void expect_machine_of_training(const std::vector<LearnedFrom>& learned, CoreCount machine_size) {
  for (const LearnedFrom& one : learned)
    if (one.training.machine != machine_size)
      throw InputError(
          fmt::format("{}: was learned from {} on a machine of {} processors: expected {}, those of the machine here; "
                      "`replay trace forecast --machine-size {}` learns for them",
                      one.file, one.training.trace, one.training.machine, machine_size, machine_size));
}

// What decides which machine is simulated stands in the notes, directly above the table, and not among what was cleaned.
void note_partitions(Prepared& run) {
  CleaningReport& report = run.loaded.report;
  if (const std::uint64_t partitions = report.count("partitions"); partitions > 0)
    run.notes.push_back(fmt::format(
        "the log has {} partitions, which are one machine here: `replay trace cut --partition NUMBER` keeps one",
        partitions));
  std::erase_if(report.findings, [&](const Finding& finding) {
    return finding.rule == "partitions" || (finding.rule == "machine-size" && finding.action == "noted");
  });
}

// Where the size of the machine that the log is of is from, if its header does not say it.
void note_machine_of_log(Prepared& run) {
  if (run.loaded.is_machine_seen)
    run.notes.push_back(
        fmt::format("the size of the machine was taken from the log, whose header does not say it: {} processors, {}; "
                    "--machine sets another one",
                    run.loaded.machine_size, run.loaded.machine_source));
}

CleaningRules rules_of(const RunSpec& spec, const std::optional<RealCores>& cores) {
  CleaningRules rules = cleaning_rules(spec.cleaning);
  if (spec.overrun != Overrun::kKill && !spec.cleaning.contains("over-request"))
    rules.over_request = OverRequest::kKeep;  // run times are not cut where a job may go on
  // Without --oversize, wider jobs must be seen by expect_jobs_that_fit(), which says what to do about them.
  if (cores && !rules.machine_size && spec.cleaning.contains("oversize")) rules.machine_size = cores->machine.size();
  return rules;
}

void read_trace(Prepared& run, const std::optional<RealCores>& cores) {
  const RunSpec& spec = run.spec;
  TraceReader trace(spec.trace,
                    {.swf = {.strict = spec.strict}, .job_table = side_file_of(spec.trace, spec.jobs_from)});
  CleaningRules rules = rules_of(spec, cores);
  // Accounting says when users took jobs back. Of other logs that is not known, and the literature leaves such jobs out.
  if (!spec.cleaning.contains("cancelled") && trace.header().is_from_accounting()) rules.cancelled = Cancelled::kHonour;
  run.loaded = read_workload(std::move(trace), rules, follower_of_log(run) != nullptr);
  note_partitions(run);
}

// For the runtime model `pairs` without a file of pairs or a profile, of a workload in which no job declares a slowdown.
std::optional<std::string> note_on_slowdowns(const Prepared& run) {
  if (!names_model(run.spec.runtime_model, "pairs") || run.pairs || run.profile) return std::nullopt;
  const TracedJobs& jobs = run.workload().jobs;
  if (jobs.declare_anything())
    for (const TracedJob& traced : jobs)
      if (const Declaration* const declared = traced.job.declaration.get();
          declared != nullptr && (declared->same_cpu_slowdown || declared->same_node_slowdown || declared->pair_key))
        return std::nullopt;
  return fmt::format(
      "no job declares slowdowns, and there is no file of pairs: in runtime model {} no job slows another one "
      "or itself down on a node; `replay trace declare --contention table4` declares slowdowns",
      run.spec.runtime_model);
}

// What the seed and the runtime model make of the jobs.
void draw_truth(Prepared& run) {
  const auto model = run.model();
  if (model->uses_network_overhead()) draw_network_overheads(run.workload(), run.spec.seed);
  if (!model->allows_sharing())
    run.workload().jobs.change_each([](TracedJob& traced) {
      traced.job.flexibility = has_choice_of_size(traced.job) ? Flexibility::kMoldable : Flexibility::kRigid;
    });
  misjudge(run.workload(), run.spec.errors, run.spec.seed);
  if (auto note = note_on_slowdowns(run)) run.notes.push_back(*std::move(note));
}

void take_machine(Prepared& run, std::optional<Machine> machine) {
  run.machine = machine ? *std::move(machine) : Machine::pool(run.loaded.machine_size);
  for (PreparedPolicy& policy : run.policies) {
    policy.part = part_for(policy.text, policy.traits, run.machine);
    if (policy.part) run.notes.push_back(policy.part->note);
  }
}

void read_node_events(Prepared& run) {
  const auto file = nodes_file_of(run.spec);
  if (!file) return;
  const Machine& machine = run.machine;
  if (!machine.names_cores())
    throw InputError(
        fmt::format("{}: has node events, and the machine {} has no nodes: expected one that names them, such as "
                    "--machine {}x1x1; --nodes-from none leaves the node events out",
                    *file, machine.to_text(), machine.size()));
  NodeTable table = read_node_table(*file, machine);
  run.node_events = std::move(table.events);
  run.notes.push_back(fmt::format("node events: {} of {}", counted(table.rows, "row"), *file));
}

// Of the policies' machines, as every job runs under each policy.
CoreCount smallest_machine(const Prepared& run) {
  CoreCount smallest = run.machine.size();
  for (const PreparedPolicy& policy : run.policies)
    if (!policy.traits.follows_log) smallest = std::min(smallest, run.machine_of(policy).size());
  return smallest;
}

// Sizes by the machine over the one that --scale-sizes names.
void scale_jobs(Prepared& run) {
  if (!run.spec.scale_from) return;
  TracedJobs& jobs = run.workload().jobs;
  const CoreCount machine_size = smallest_machine(run);
  const double from = *run.spec.scale_from == 0 ? number(run.loaded.machine_size) : *run.spec.scale_from;
  std::size_t changed = 0;
  const auto scaled = [&](ProcessCount old) {
    return static_cast<ProcessCount>(
        std::clamp(std::round(old * machine_size / from), 1.0, static_cast<double>(machine_size)));
  };
  jobs.change_each([&](TracedJob& traced) {
    const ProcessCount size = scaled(traced.job.processes);
    changed += size != traced.job.processes ? 1u : 0u;
    if (traced.job.declaration) {
      Declaration declaration = *traced.job.declaration;
      scale_sizes(declaration, traced.job.processes, {machine_size / from, scaled, scaled});
      traced.job.declaration = std::make_shared<const Declaration>(std::move(declaration));
    }
    traced.job.processes = size;
  });
  const bool is_seen = *run.spec.scale_from == 0 && run.loaded.is_machine_seen;
  run.notes.push_back(fmt::format("sizes scaled from {:.0f}{} to {}: {} of {} changed", from,
                                  is_seen ? fmt::format(" ({} in the log)", run.loaded.machine_source) : "",
                                  counted(machine_size, "core"), changed, counted(jobs.size(), "job")));
}

// A job that can be started with no size is a mistake in the side file: a policy that chooses sizes would never start it.
void expect_sizes_that_fit(const TracedJobs& jobs, const std::string& trace, CoreCount machine_size) {
  if (!jobs.declare_anything()) return;
  for (const TracedJob& traced : jobs) {
    if (!has_choice_of_size(traced.job) || largest_size(traced.job, processes_on(traced.job, machine_size))) continue;
    throw InputError(
        fmt::format("{}: job {} runs with {} processes by its side file: expected one size at least of 1 to {}", trace,
                    number(traced.job.id), sizes_text(traced.job), machine_size));
  }
}

// Throws for a job that does not fit, and names the ways out.
void expect_jobs_that_fit(const Prepared& run, bool is_real) {
  const TracedJobs& jobs = run.workload().jobs;
  const CoreCount machine_size = smallest_machine(run);
  std::size_t widest = 0, too_wide = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs.cores_needed(i) > jobs.cores_needed(widest)) widest = i;
    too_wide += jobs.cores_needed(i) > machine_size ? 1u : 0u;
  }
  if (too_wide == 0) return expect_sizes_that_fit(jobs, run.spec.trace, machine_size);
  throw InputError(fmt::format(
      "{}: job {} needs {} processors, the machine has {} ({} of {} jobs are too wide); ways out: --scale-sizes auto "
      "scales the jobs to the machine, --oversize skip or clamp with --machine-size {} leaves them out or cuts them{}",
      run.spec.trace, number(jobs.id(widest)), jobs.cores_needed(widest), machine_size, too_wide, jobs.size(),
      machine_size,
      is_real ? ", --machine takes other cores, `replay simulate` needs none" : ", --machine takes a larger machine"));
}

// Run times of benchmarks, as the profile has them.
void apply_profile(Prepared& run, const std::optional<RealCores>& cores) {
  if (!cores) {
    const auto kind = run.spec.machine.starts_with("local") ? JobsCores::Kind::kHere : JobsCores::Kind::kVirtual;
    return use_profile(run, {kind, run.machine}, {.adds_overheads = run.adds_overheads});
  }
  use_profile(
      run, {cores->kind, run.machine, cores->hosts},
      {.everywhere = run.spec.program, .time_scale = run.spec.time_scale, .adds_overheads = run.adds_overheads});
  if (!cores->turn) return;
  if (auto note = note_on_turns(run, *cores->turn)) run.notes.push_back(*std::move(note));
}

void read_jobs(Prepared& run, std::optional<Machine> machine, const std::optional<RealCores>& cores,
               const std::vector<LearnedFrom>& learned) {
  read_trace(run, cores);
  expect_another_trace(learned, run.spec.trace);
  if (run.workload().jobs.empty())
    throw InputError(
        fmt::format("{}: has no job that can be run; {}", run.spec.trace, run.loaded.report.to_lines().front()));
  if (run.spec.until) run.until = run.workload().jobs.front().job.submitted + *run.spec.until;
  if (const PreparedPolicy* const policy = follower_of_log(run))
    run.logged = logged_schedule(run.loaded, run.spec.trace, policy->text, run.notes);
  draw_truth(run);
  if (!machine) note_machine_of_log(run);
  take_machine(run, std::move(machine));
  read_node_events(run);
  expect_machine_of_training(learned, run.machine.size());
  scale_jobs(run);
  expect_jobs_that_fit(run, cores.has_value());
  apply_profile(run, cores);
}

// ---- trial runs ----

void run_trials(Prepared& run, const std::vector<NamedPolicy>& policies) {
  const auto model = run.model();
  const TrialRun trial = trial_run(run.machine, run.workload(), *model, run.simulation_options());
  for (std::size_t i = 0; i < policies.size(); ++i) {
    auto found = policies[i].prepared(trial);
    if (!found) continue;
    run.notes.push_back(
        fmt::format("{} is {}: what the same jobs wait under conservative backfilling", policies[i].text, *found));
    run.policies[i].text = *std::move(found);
  }
}

}  // namespace

std::optional<std::string> side_file_of(const std::string& trace, const std::string& jobs_from) {
  return jobs_from.empty() ? find_beside(trace, kJobTableEnding) : jobs_from;
}

std::optional<std::string> pairs_file_of(const RunSpec& spec) {
  return spec.pairs.empty() ? find_beside(spec.trace, ".pairs.csv") : spec.pairs;
}

std::optional<std::string> nodes_file_of(const RunSpec& spec) {
  if (spec.world != World::kSimulated || spec.nodes_from == "none") return std::nullopt;
  return spec.nodes_from.empty() ? find_beside(spec.trace, kNodeTableEnding) : spec.nodes_from;
}

// The log's jobs run on, whatever they have requested, and what happened to nodes has happened to them.
SimulationOptions Prepared::simulation_options_of(const PreparedPolicy& policy) const {
  return policy.traits.follows_log ? SimulationOptions{.overrun = Overrun::kNone, .until = until}
                                   : simulation_options();
}

void expect_policy_that_decides(const NamedPolicy& policy, std::string_view here) {
  if (policy.policy->traits().follows_log)
    throw UsageError(
        fmt::format("--policy {}: repeats the schedule of the log that `replay simulate` gets as its trace, and {} has "
                    "none: expected a policy that decides, such as easy",
                    policy.text, here));
}

SimulationOptions Prepared::simulation_options() const {
  return {.overrun = spec.overrun, .until = until, .nodes = node_events, .requeues_lost = spec.requeues_lost};
}

std::string runtime_model_of(const RunSpec& spec) {
  if (!spec.runtime_model.empty()) return spec.runtime_model;
  return spec.world == World::kSimulated ? "utrera" : "isolated";
}

const std::vector<std::string>& policies_of(const RunSpec& spec) {
  if (spec.policies.empty())
    throw UsageError("--policy is missing: expected a policy such as fcfs-malleable; `replay policies` lists them");
  return spec.policies;
}

std::vector<std::string> texts_of(std::span<const PreparedPolicy> policies) {
  std::vector<std::string> texts;
  for (const PreparedPolicy& policy : policies) texts.push_back(policy.text);
  return texts;
}

Prepared prepare(RunSpec spec, const std::optional<RealCores>& cores) {
  if (spec.trace.empty()) throw UsageError("--trace is missing: expected a trace in SWF, such as traces/synth.swf");
  (void)policies_of(spec);
  Prepared run{std::move(spec)};
  run.adds_overheads = !cores && !run.spec.machine.starts_with("emulated:");
  std::optional<Machine> machine = machine_of(run.spec, cores);
  read_model(run);
  const std::vector<NamedPolicy> policies = make_policies(run, cores.has_value());
  read_jobs(run, std::move(machine), cores, learned_by(policies));
  run_trials(run, policies);
  return run;
}

results::RunDescription describe_run(const Prepared& run, const PreparedPolicy& policy, const NamedPolicy& named,
                                     const std::string& command_line) {
  RunSpec of_policy = run.spec;
  of_policy.policies = {named.text};
  results::RunDescription description;
  description.command_line = command_line;
  description.words = to_words(of_policy);
  description.body = "sim";
  description.machine = run.machine_of(policy).to_text();
  if (policy.traits.follows_log) description.stated_cores = run.logged.stated;
  description.policy = named.text;
  description.policy_full = named.full_text;
  description.runtime_model = run.runtime_model_of(policy);
  description.seed = run.spec.seed;
  description.overrun = policy.traits.follows_log ? "none" : word_of(kOverruns, run.spec.overrun);
  description.jobs = run.workload_of(policy).jobs.size();
  description.notes = run.notes;
  for (std::string& line : run.loaded.report.to_lines()) description.notes.push_back(std::move(line));
  description.trace = run.spec.trace;
  description.side_file = side_file_of(run.spec.trace, run.spec.jobs_from);
  if (!policy.traits.follows_log) description.nodes = nodes_file_of(run.spec);
  description.may_requeue = run.spec.requeues_lost && description.nodes;
  description.chooses_sizes = description.nodes && named.policy->traits().chooses_sizes;
  if (run.pairs) description.pairs = pairs_file_of(run.spec);
  if (run.profile) description.profile = profile_path(run.spec);
  description.policy_files = named.files;
  description.outputs = run.spec.outputs;
  return description;
}

}  // namespace replay::experiment
