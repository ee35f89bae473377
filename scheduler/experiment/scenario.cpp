#include "scheduler/experiment/scenario.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/sha256.hpp"
#include "scheduler/experiment/calibrated_scenario.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/sim/trial_run.hpp"

namespace replay::experiment {

std::optional<std::string> side_file_of(const CommonOptions& options) {
  if (!options.jobs_from.empty()) return options.jobs_from;
  const auto beside = job_table_beside(options.trace);
  std::error_code ignored;
  return beside && std::filesystem::exists(*beside, ignored) ? beside : std::nullopt;
}

CleaningRules cleaning_rules(const std::map<std::string, std::string>& given) {
  CleaningRules rules;
  for (const auto& [name, value] : given) set_rule(rules, name, value);
  return rules;
}

// Throws if two policies have the same folder name.
static std::vector<std::string> folders_of(const std::vector<std::string>& policies) {
  std::vector<std::string> folders;
  std::map<std::string, std::string> of_folder;
  for (const std::string& policy : policies) {
    folders.push_back(results::folder_name(policy));
    if (const auto [there, is_new] = of_folder.emplace(folders.back(), policy); !is_new)
      throw UsageError(there->second == policy
                           ? fmt::format("--policy: {} stands there twice; expected each policy once", policy)
                           : fmt::format("--policy: {} and {} would both be written to the folder {}; rename one",
                                         there->second, policy, there->first));
  }
  return folders;
}

// Throws if a policy has learned from the trace that it is to be judged on.
static void expect_another_trace(const std::vector<LearnedFrom>& learned, const std::string& trace) {
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
static void expect_machine_of_training(const std::vector<LearnedFrom>& learned, CoreCount machine_size) {
  for (const LearnedFrom& one : learned)
    if (one.training.machine != machine_size)
      throw InputError(
          fmt::format("{}: was learned from {} on a machine of {} processors: expected {}, those of the machine here; "
                      "`replay trace forecast --machine-size {}` learns for them",
                      one.file, one.training.trace, one.training.machine, machine_size, machine_size));
}

std::optional<std::string> pairs_file_of(const CommonOptions& options) {
  if (!options.pairs.empty()) return options.pairs;
  auto beside = file_beside(options.trace, ".pairs.csv");
  std::error_code error;
  return beside && std::filesystem::exists(*beside, error) ? beside : std::nullopt;
}

// What decides which machine is simulated stands in the notes, directly above the table, and not among what was cleaned.
static void note_partitions(Scenario& scenario) {
  CleaningReport& report = scenario.loaded.report;
  if (const std::uint64_t partitions = report.count("partitions"); partitions > 0)
    scenario.notes.push_back(fmt::format(
        "the log has {} partitions, which are one machine here: `replay trace cut --partition NUMBER` keeps one",
        partitions));
  std::erase_if(report.findings, [&](const Finding& finding) {
    return finding.rule == "partitions" || (finding.rule == "machine-size" && finding.action == "noted");
  });
}

void note_machine_of_log(Scenario& scenario) {
  if (scenario.loaded.is_machine_seen)
    scenario.notes.push_back(
        fmt::format("the size of the machine was taken from the log, whose header does not say it: {} processors, {}; "
                    "--machine sets another one",
                    scenario.loaded.machine_size, scenario.loaded.machine_source));
}

// For the runtime model `pairs` without a file of pairs or a profile, of a workload in which no job declares a slowdown.
static std::optional<std::string> note_on_slowdowns(const Scenario& scenario) {
  if (!names_model(scenario.runtime_model, "pairs") || scenario.pairs || scenario.profile) return std::nullopt;
  const TracedJobs& jobs = scenario.workload().jobs;
  if (jobs.declare_anything())
    for (const TracedJob& traced : jobs)
      if (const Declaration* const declared = traced.job.declaration.get();
          declared != nullptr && (declared->same_cpu_slowdown || declared->same_node_slowdown || declared->pair_key))
        return std::nullopt;
  return fmt::format(
      "no job declares slowdowns, and there is no file of pairs: in runtime model {} no job slows another one "
      "or itself down on a node; `replay trace declare --contention table4` declares slowdowns",
      scenario.runtime_model);
}

Scenario load_scenario(const CommonOptions& options, const std::string& default_model,
                       std::optional<CoreCount> machine_size) {
  if (options.trace.empty()) throw UsageError("--trace is missing: expected a trace in SWF, such as traces/synth.swf");
  if (options.policies.empty())
    throw UsageError("--policy is missing: expected a policy such as fcfs-malleable; `replay policies` lists them");
  Scenario scenario;
  scenario.policies = split_policies(options.policies);
  for (const std::string& policy : scenario.policies) {
    const NamedPolicy named = make_policy(policy);
    if (const Training* const training = named.policy->training())
      scenario.learned.push_back({named.files.empty() ? policy : named.files.front(), *training});
    if (named.policy->chooses_sizes()) scenario.size_choosers.push_back(policy);
  }
  scenario.folders = folders_of(scenario.policies);
  scenario.runtime_model = options.runtime_model.empty() ? default_model : options.runtime_model;
  const bool is_calibrated = names_model(scenario.runtime_model, kCalibrated);
  if (!options.profile.empty() && !is_calibrated)
    throw UsageError(
        fmt::format("--profile: the runtime model {} reads none; it is for --runtime-model {}, or {}+pairs, "
                    "which also has its slowdowns of pairs",
                    scenario.runtime_model, kCalibrated, kCalibrated));
  if (is_calibrated) scenario.profile = load_profile(options);
  if (!options.pairs.empty() && !names_model(scenario.runtime_model, "pairs"))
    throw UsageError(
        fmt::format("--pairs: the runtime model {} reads none; it is for --runtime-model pairs, or for "
                    "another one joined to it, such as isolated+pairs",
                    scenario.runtime_model));
  if (names_model(scenario.runtime_model, "pairs"))
    if (const auto pairs = pairs_file_of(options))
      scenario.pairs = std::make_shared<const PairTable>(read_pairs(*pairs));
  const auto model = scenario.model();
  scenario.overrun = options.overrun == "extend"   ? Overrun::kExtend
                     : options.overrun == "policy" ? Overrun::kPolicy
                                                   : Overrun::kKill;

  CleaningRules rules = cleaning_rules(options.cleaning);
  if (scenario.overrun != Overrun::kKill && !options.cleaning.contains("over-request"))
    rules.over_request = OverRequest::kKeep;  // run times are not cut where a job may go on
  // Without --oversize, wider jobs must be seen by fit_to_machine(), which says what to do about them.
  if (!rules.machine_size && options.cleaning.contains("oversize")) rules.machine_size = machine_size;
  scenario.loaded = read_workload(
      TraceReader(options.trace, {.swf = {.strict = options.strict}, .job_table = side_file_of(options)}), rules);
  note_partitions(scenario);
  expect_another_trace(scenario.learned, options.trace);
  if (scenario.workload().jobs.empty())
    throw InputError(
        fmt::format("{}: has no job that can be run; {}", options.trace, scenario.loaded.report.to_lines().front()));

  if (!options.until.empty()) {
    const auto until = parse_duration(options.until);
    if (!until || until->count() <= 0)
      throw UsageError(fmt::format("--until: expected a duration such as 90s, 5min or 2h, found '{}'", options.until));
    scenario.until = scenario.workload().jobs.front().job.submitted + *until;
  }
  if (model->uses_network_overhead()) draw_network_overheads(scenario.workload(), options.seed);
  if (!model->allows_sharing())
    scenario.workload().jobs.change_each([](TracedJob& traced) {
      traced.job.flexibility = has_choice_of_size(traced.job) ? Flexibility::kMoldable : Flexibility::kRigid;
    });
  misjudge(scenario.workload(), options.errors, options.seed);
  if (auto note = note_on_slowdowns(scenario)) scenario.notes.push_back(*std::move(note));
  return scenario;
}

// A job that can be started with no size is a mistake in the side file: a policy that chooses sizes would never start it.
static void expect_sizes_that_fit(const TracedJobs& jobs, const std::string& trace, CoreCount machine_size) {
  if (!jobs.declare_anything()) return;
  for (const TracedJob& traced : jobs) {
    if (!has_choice_of_size(traced.job) || largest_size(traced.job, machine_size)) continue;
    throw InputError(
        fmt::format("{}: job {} runs with {} processes by its side file: expected one size at least of 1 to {}", trace,
                    number(traced.job.id), sizes_text(traced.job), machine_size));
  }
}

void fit_to_machine(Scenario& scenario, const CommonOptions& options, CoreCount machine_size, bool real) {
  expect_machine_of_training(scenario.learned, machine_size);
  TracedJobs& jobs = scenario.workload().jobs;
  if (!options.scale_sizes.empty()) {
    double from = scenario.loaded.machine_size;
    if (options.scale_sizes != "auto") {
      const auto number = parse_seconds(options.scale_sizes);
      if (!number || number->count() < 1'000'000)
        throw UsageError(
            fmt::format("--scale-sizes: expected auto or a count of cores >= 1, found '{}'", options.scale_sizes));
      from = seconds(*number);
    }
    std::size_t changed = 0;
    const auto scaled = [&](ProcessCount old) {
      return static_cast<ProcessCount>(
          std::clamp(std::round(old * machine_size / from), 1.0, static_cast<double>(machine_size)));
    };
    jobs.change_each([&](TracedJob& traced) {
      const ProcessCount size = scaled(traced.job.processes);
      changed += size != traced.job.processes ? 1 : 0;
      if (traced.job.declaration) {
        Declaration declaration = *traced.job.declaration;
        scale_sizes(declaration, traced.job.processes, {machine_size / from, scaled, scaled});
        traced.job.declaration = std::make_shared<const Declaration>(std::move(declaration));
      }
      traced.job.processes = size;
    });
    const bool is_seen = options.scale_sizes == "auto" && scenario.loaded.is_machine_seen;
    scenario.notes.push_back(fmt::format("sizes scaled from {:.0f}{} to {} cores: {} of {} jobs changed", from,
                                         is_seen ? fmt::format(" ({} in the log)", scenario.loaded.machine_source) : "",
                                         machine_size, changed, jobs.size()));
  }
  std::size_t widest = 0, too_wide = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs.processes(i) > jobs.processes(widest)) widest = i;
    too_wide += jobs.processes(i) > machine_size ? 1u : 0u;
  }
  if (too_wide == 0) return expect_sizes_that_fit(jobs, options.trace, machine_size);
  throw InputError(fmt::format(
      "{}: job {} needs {} processors, the machine has {} ({} of {} jobs are too wide); ways out: --scale-sizes auto "
      "scales the jobs to the machine, --oversize skip or clamp with --machine-size {} leaves them out or cuts them{}",
      options.trace, number(jobs.id(widest)), jobs.processes(widest), machine_size, too_wide, jobs.size(), machine_size,
      real ? ", --machine takes other cores, `replay simulate` needs none" : ", --machine takes a larger machine"));
}

void find_average_waits(Scenario& scenario, const Machine& machine) {
  SimulationOptions options;
  options.overrun = scenario.overrun;
  options.until = scenario.until;
  for (std::string& policy : scenario.policies) {
    const auto model = scenario.model();
    auto found = make_policy(policy).prepared(trial_run(machine, scenario.workload(), *model, options));
    if (!found) continue;
    scenario.notes.push_back(
        fmt::format("{} is {}: what the same jobs wait under conservative backfilling", policy, *found));
    policy = std::move(*found);
  }
}

std::optional<std::string> note_on_curves(const Scenario& scenario) {
  if (scenario.size_choosers.empty()) return std::nullopt;
  const TracedJobs& jobs = scenario.workload().jobs;
  if (jobs.declare_anything())
    for (const TracedJob& traced : jobs)
      if (traced.job.declaration && traced.job.declaration->speedup) return std::nullopt;
  return fmt::format(
      "no job declares a speedup curve, and no other model stands in for its run times at other sizes: {} starts "
      "every job with its submitted size, as a rigid one; `replay trace declare --speedup three-point` declares curves",
      fmt::join(scenario.size_choosers, " or "));
}

Assumptions assumptions_of(const Scenario& scenario, const CommonOptions& options) {
  return {options.errors, options.overrun, scenario.workload().jobs.size(), scenario.loaded.without_flexibility};
}

// Processes shared cores, or a job lost or gained some while it ran.
static bool made_use_of_malleability(const metrics::Summary& figures) {
  constexpr double kRounding = 1e-9;
  return figures.value("shrinks") > 0 || figures.value("expands") > 0 ||
         figures.value("mean_mpl") > figures.value("utilisation") * (1 + kRounding);
}

std::vector<std::string> notes_on_figures(const Assumptions& assumed, std::span<const FiguresOfPolicy> policies) {
  std::vector<std::string> notes;
  if (assumed.without_flexibility > 0 &&
      std::ranges::any_of(
          policies, made_use_of_malleability, [](const auto& one) -> const auto& { return *one.figures; }))
    notes.push_back(fmt::format(
        "malleability is assumed: {} of {} jobs do not say whether they are rigid, moldable or malleable, and "
        "count as malleable; the column flexibility of the side file says it",
        assumed.without_flexibility, assumed.jobs));
  if (assumed.overrun == "extend") return notes;
  std::vector<std::string> errors;
  for (const auto& [name, error] : {std::pair{"--curve-error", assumed.errors.curve_error},
                                    std::pair{"--slowdown-error", assumed.errors.slowdown_error}})
    if (error > 0) errors.push_back(fmt::format("{} {}", name, error));
  if (errors.empty()) return notes;
  std::vector<std::string> kills;
  for (const auto& [policy, figures] : policies)
    kills.push_back(
        fmt::format("{} {:.0f} of {:.0f}", policy, figures->value("jobs_overrun"), figures->value("jobs_counted")));
  notes.push_back(
      fmt::format("{} with --overrun {}: a job that takes longer than its estimate, which is by what it declares, is "
                  "killed there. Jobs killed at their estimates: {}; with --overrun extend they go on",
                  fmt::join(errors, " and "), assumed.overrun, fmt::join(kills, ", ")));
  return notes;
}

results::RunDescription describe_run(const Scenario& scenario, const CommonOptions& options,
                                     const NamedPolicy& policy) {
  results::RunDescription description;
  description.policy = policy.text;
  description.policy_full = policy.full_text;
  description.runtime_model = scenario.runtime_model;
  description.seed = options.seed;
  description.overrun = options.overrun;
  description.jobs = scenario.workload().jobs.size();
  description.notes = scenario.notes;
  for (std::string& line : scenario.loaded.report.to_lines()) description.notes.push_back(std::move(line));
  description.trace = options.trace;
  description.side_file = side_file_of(options);
  if (scenario.pairs) description.pairs = pairs_file_of(options);
  if (scenario.profile) description.profile = profile_path(options);
  description.policy_files = policy.files;
  description.outputs = options.outputs;
  return description;
}

}  // namespace replay::experiment
