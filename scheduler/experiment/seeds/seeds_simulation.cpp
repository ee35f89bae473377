#include "scheduler/experiment/seeds/seeds_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/runtime_model/profile.hpp"
#include "scheduler/sweep/engine/cell_line.hpp"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kFewestToTrim = 4;  // two have to be left for an interval

constexpr const char* kHowToMakeTraces =
    "write {seed} where the trace's name has its number, and make the traces with `replay generate`: "
    "for s in 1 2 3; do replay generate lublin --jobs 1000 --seed $s -o t-$s.swf; done, then --trace 't-{seed}.swf'";

bool traces_depend_on_seeds(const RunSpec& run) {
  return mentions_seed(run.trace) || mentions_seed(run.jobs_from) || mentions_seed(run.nodes_from);
}

void check_options(const SeedsOptions& options, const std::vector<std::uint64_t>& seeds) {
  if (options.run.trace == "-")
    throw UsageError("--seeds: the trace is read once for each seed, and standard input cannot be: name a file");
  if (options.trim && seeds.size() < kFewestToTrim)
    throw UsageError(
        fmt::format("--trim: expected at least {} seeds, so that two are left, found {}", kFewestToTrim, seeds.size()));
  if (traces_depend_on_seeds(options.run) || options.run.errors != Misjudgement{}) return;
  const std::string model = runtime_model_of(options.run);
  const Profile none;  // a profile draws no random numbers either
  if (!make_runtime_model(model, {.profile = &none})->uses_network_overhead())
    throw UsageError(
        fmt::format("--seeds: nothing in this run depends on the seed: the trace is the same for each, and "
                    "runtime model {} draws nothing; {}",
                    model, kHowToMakeTraces));
}

// With that seed's files.
RunSpec of_seed(RunSpec run, std::uint64_t seed) {
  run.seed = seed;
  for (std::string* const file : {&run.trace, &run.jobs_from, &run.nodes_from}) *file = with_seed(*file, seed);
  return run;
}

std::vector<std::string> notes_of(const Prepared& prepared) {
  std::vector<std::string> notes = prepared.notes;
  const CleaningReport& report = prepared.loaded.report;
  if (report.broken == 0 && report.skipped == 0 && report.findings.empty()) return notes;
  for (const std::string& line : report.to_lines()) notes.push_back(line);
  return notes;
}

metrics::Summary summary_of(const sweep::Results& values) {
  metrics::Summary summary;
  for (const std::string_view name : metrics::metric_names())
    if (const auto found = values.find(name); found != values.end())
      summary.metrics.push_back({name, metrics::unit_of(name), {}, found->second});
  return summary;
}

ordered_json to_json(const Assumptions& assumed) {
  return {assumed.jobs, assumed.without_flexibility, assumed.cut_at_request, assumed.profile_without_nodes};
}

Assumptions assumptions_in(const ordered_json& json, const RunSpec& run) {
  return {run.errors,
          run.overrun,
          json.at(0).get<std::uint64_t>(),
          json.at(1).get<std::uint64_t>(),
          json.at(2).get<std::uint64_t>(),
          json.at(3).get<std::string>()};
}

}  // namespace

SeedsSimulation::SeedsSimulation(const SeedsOptions& options, std::string command_line)
    : options_(options), command_line_(std::move(command_line)), seeds_(parse_seeds(options.seeds)) {
  check_options(options, seeds_);
  for (const std::string& policy : policies_of(options.run)) (void)make_policy(policy);
  (void)results::parse_outputs(options.run.outputs);
  for (const std::uint64_t seed : seeds_)
    if (const std::string trace = with_seed(options.run.trace, seed); !trace.empty() && !fs::exists(trace))
      throw InputError(fmt::format("{}: is the trace of seed {}, and is not there", trace, seed));
  // An error in the first trace is reported before a folder is made.
  note_on_curves_ = experiment::note_on_curves(prepare(of_seed(options.run, seeds_.front())));
}

SeedsOutcome SeedsSimulation::run(const sweep::Show& show) {
  const std::string& outputs = options_.run.outputs;
  const bool writes_runs = !outputs.empty() && outputs != "none";
  if (writes_runs || !options_.out.empty())
    folder_ = results::make_run_folder(options_.out, options_.run.policies, options_.force);
  std::error_code ignored;
  std::vector<std::string> results;
  try {
    if (writes_runs) unfinished_.emplace(folder_);
    results = sweep::run_batch({.count = options_.run.policies.size() * seeds_.size(),
                                .compute = [this](std::size_t cell, const fs::path&) { return simulate(cell); },
                                .name = [this](std::size_t cell) { return name_of(cell); },
                                .jobs = options_.threads},
                               show);
    unfinished_.reset();
  } catch (const sweep::Interrupted&) {
    unfinished_.reset();
    if (!folder_.empty()) fs::remove(folder_, ignored);  // only if it is empty
    throw;
  }
  SeedsOutcome all = outcome(results);
  if (!all.traces_differ && std::ranges::all_of(all.results, all_seeds_agree)) {
    if (!folder_.empty() && !writes_runs) fs::remove(folder_, ignored);
    throw UsageError(
        fmt::format("--seeds: every seed gives the same result: the trace is the same for each, and none "
                    "of the policies shrinks jobs, which is all that the drawn network overheads change; {}",
                    kHowToMakeTraces));
  }
  if (!folder_.empty()) write_json(folder_ / "seeds.json", to_json(all));
  return all;
}

std::string SeedsSimulation::name_of(std::size_t cell) const {
  const auto& policies = options_.run.policies;
  return fmt::format("seed {}, {}", seeds_[cell / policies.size()], policies[cell % policies.size()]);
}

// All policies of a seed, then those of the next one.
std::string SeedsSimulation::simulate(std::size_t cell) const {
  const std::size_t policies = options_.run.policies.size(), policy = cell % policies;
  const std::uint64_t seed = seeds_[cell / policies];
  const Prepared prepared = prepare(of_seed(options_.run, seed));
  const fs::path unfinished = unfinished_ ? unfinished_->path() / fmt::format("{}", cell) : fs::path{};
  const results::PolicyRun run = simulate_policy(prepared, policy, unfinished, command_line_, {});
  if (!run.fault.empty()) throw PolicyError(fmt::format("{}: {}", name_of(cell), run.fault));
  if (!run.unwritten.empty()) throw InputError(run.unwritten.front());
  if (unfinished_) {
    const fs::path folder = folder_ / fmt::format("seed-{}", seed);
    fs::create_directories(folder);
    fs::rename(unfinished, folder / results::folder_name(options_.run.policies[policy]));
  }
  sweep::Results figures;
  for (const metrics::Metric& metric : run.summary.metrics) figures.emplace(metric.name, metric.value);
  return ordered_json{{"machine", prepared.machine.to_text()},
                      {"notes", notes_of(prepared)},
                      {"assumed", to_json(assumptions_of(prepared))},
                      {"metrics", sweep::to_json(figures)}}
      .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

SeedsOutcome SeedsSimulation::outcome(const std::vector<std::string>& results) const {
  SeedsOutcome all;
  all.command_line = command_line_;
  all.trace = options_.run.trace;
  all.runtime_model = runtime_model_of(options_.run);
  all.trimmed = options_.trim;
  all.traces_differ = traces_depend_on_seeds(options_.run);
  all.seeds = seeds_;
  all.folder = folder_;
  for (const std::string& policy : options_.run.policies) all.results.push_back({policy, {}});
  auto result = results.begin();
  for (std::size_t seed = 0; seed < seeds_.size(); ++seed) {
    ordered_json of_policy;
    std::vector<FiguresOfPolicy> figures;
    for (SeededResult& policy : all.results) {
      of_policy = parse_json<ordered_json>(*result++);
      policy.by_seed.push_back(summary_of(sweep::results_of(of_policy.at("metrics"))));
      figures.push_back({policy.policy, &policy.by_seed.back()});
    }
    std::vector<std::string>& notes = all.notes.emplace_back(of_policy.at("notes").get<std::vector<std::string>>());
    const Assumptions assumed = assumptions_in(of_policy.at("assumed"), options_.run);
    for (std::string& note : notes_on_figures(assumed, figures)) notes.push_back(std::move(note));
    const auto machine = of_policy.at("machine").get<std::string>();
    if (seed == 0) all.machine = machine;
    if (machine != all.machine) all.machine = "of each trace (they differ)";
  }
  return all;
}

ordered_json to_json(const SeedsOutcome& outcome) {
  ordered_json json = to_json(outcome.results, outcome.seeds, outcome.trimmed);
  json["trace"] = outcome.trace;
  json["machine"] = outcome.machine;
  json["runtime_model"] = outcome.runtime_model;
  json["command"] = outcome.command_line;
  for (std::size_t i = 0; i < outcome.seeds.size(); ++i)
    json["notes"][fmt::format("{}", outcome.seeds[i])] = outcome.notes[i];
  return json;
}

}  // namespace replay::experiment
