#include "scheduler/experiment/seeds/seeds_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/process/parallel.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay::experiment {
namespace fs = std::filesystem;
namespace {

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

}  // namespace

// One seed's trace: the first policy of the seed reads it, the last one frees it.
class SeedsSimulation::Inputs {
 public:
  Inputs(const RunSpec& run, std::uint64_t seed, std::size_t uses) : spec_(run), uses_left_(uses) {
    spec_.seed = seed;
    spec_.trace = with_seed(spec_.trace, seed);
    spec_.jobs_from = with_seed(spec_.jobs_from, seed);
    spec_.nodes_from = with_seed(spec_.nodes_from, seed);
  }

  const Prepared& prepared() {
    std::call_once(once_, [this] {
      prepared_.emplace(prepare(spec_));
      machine_ = prepared_->machine.to_text();
      notes_ = prepared_->notes;
      assumed_ = assumptions_of(*prepared_);
      const CleaningReport& report = prepared_->loaded.report;
      if (report.broken == 0 && report.skipped == 0 && report.findings.empty()) return;
      for (const std::string& line : report.to_lines()) notes_.push_back(line);
    });
    return *prepared_;
  }
  void release() {
    if (--uses_left_ == 0) prepared_.reset();
  }
  [[nodiscard]] const std::string& machine() const { return machine_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const Assumptions& assumed() const { return assumed_; }

 private:
  RunSpec spec_;
  std::atomic<std::size_t> uses_left_;
  std::once_flag once_;
  std::optional<Prepared> prepared_;
  std::string machine_;
  std::vector<std::string> notes_;
  Assumptions assumed_;
};

SeedsSimulation::SeedsSimulation(const SeedsOptions& options, std::string command_line)
    : options_(options), command_line_(std::move(command_line)), seeds_(parse_seeds(options.seeds)) {
  check_options(options, seeds_);
  for (const std::string& policy : policies_of(options.run)) {
    (void)make_policy(policy);
    results_.push_back({policy, std::vector<metrics::Summary>(seeds_.size())});
  }
  (void)results::parse_outputs(options.run.outputs);
  for (const std::uint64_t seed : seeds_)
    inputs_.push_back(std::make_unique<Inputs>(options.run, seed, results_.size()));
  for (const std::uint64_t seed : seeds_)
    if (const std::string trace = with_seed(options.run.trace, seed); !trace.empty() && !fs::exists(trace))
      throw InputError(fmt::format("{}: is the trace of seed {}, and is not there", trace, seed));
  // An error in the first trace is reported before a folder is made.
  note_on_curves_ = experiment::note_on_curves(inputs_.front()->prepared());
}

SeedsSimulation::~SeedsSimulation() = default;

std::optional<SeedsOutcome> SeedsSimulation::run(const std::function<void(std::string_view)>& show) {
  const std::string& outputs = options_.run.outputs;
  writes_runs_ = !outputs.empty() && outputs != "none";
  if (writes_runs_ || !options_.out.empty()) folder_ = make_folder();
  const std::size_t policies = results_.size(), count = policies * seeds_.size();
  for_each_in_parallel(count, options_.threads, [&](std::size_t i) { simulate(i / policies, i % policies, show); });
  std::error_code ignored;
  if (stops_asked() > 0) {
    if (!folder_.empty()) fs::remove(folder_, ignored);  // only if it is empty
    return std::nullopt;
  }
  if (!traces_depend_on_seeds(options_.run) && std::ranges::all_of(results_, all_seeds_agree)) {
    if (!folder_.empty() && !writes_runs_) fs::remove(folder_, ignored);
    throw UsageError(
        fmt::format("--seeds: every seed gives the same result: the trace is the same for each, and none "
                    "of the policies shrinks jobs, which is all that the drawn network overheads change; {}",
                    kHowToMakeTraces));
  }
  SeedsOutcome all = outcome();
  if (!folder_.empty()) write_json(folder_ / "seeds.json", to_json(all));
  return all;
}

fs::path SeedsSimulation::make_folder() const {
  std::vector<std::string> policies;
  for (const SeededResult& result : results_) policies.push_back(result.policy);
  return results::make_run_folder(options_.out, policies, options_.force);
}

void SeedsSimulation::simulate(std::size_t seed, std::size_t policy,
                               const std::function<void(std::string_view)>& show) {
  if (stops_asked() > 0) return;
  Inputs& inputs = *inputs_[seed];
  const std::string& name = results_[policy].policy;
  const fs::path where =
      writes_runs_ ? folder_ / fmt::format("seed-{}", seeds_[seed]) / results::folder_name(name) : fs::path{};
  const results::PolicyRun run =
      simulate_policy(inputs.prepared(), policy, where, command_line_, [&](std::size_t jobs) {
        show(fmt::format("{} of {} runs; seed {}, {}: {} jobs", done_.load(), results_.size() * seeds_.size(),
                         seeds_[seed], name, jobs));
      });
  if (!run.fault.empty()) throw PolicyError(fmt::format("seed {}, {}: {}", seeds_[seed], name, run.fault));
  results_[policy].by_seed[seed] = run.summary;
  inputs.release();
  ++done_;
}

// The machine of all seeds, or a note that they differ.
std::string SeedsSimulation::machine_text() const {
  const std::string& first = inputs_.front()->machine();
  const bool same = std::ranges::all_of(inputs_, [&](const auto& inputs) { return inputs->machine() == first; });
  return same ? first : "of each trace (they differ)";
}

SeedsOutcome SeedsSimulation::outcome() {
  SeedsOutcome all;
  all.command_line = command_line_;
  all.trace = options_.run.trace;
  all.machine = machine_text();
  all.runtime_model = runtime_model_of(options_.run);
  all.trimmed = options_.trim;
  all.traces_differ = traces_depend_on_seeds(options_.run);
  all.seeds = seeds_;
  for (std::size_t seed = 0; seed < seeds_.size(); ++seed) {
    std::vector<std::string>& notes = all.notes.emplace_back(inputs_[seed]->notes());
    std::vector<FiguresOfPolicy> figures;
    for (const SeededResult& result : results_) figures.push_back({result.policy, &result.by_seed[seed]});
    for (std::string& note : notes_on_figures(inputs_[seed]->assumed(), figures)) notes.push_back(std::move(note));
  }
  all.results = std::move(results_);
  all.folder = folder_;
  return all;
}

nlohmann::ordered_json to_json(const SeedsOutcome& outcome) {
  nlohmann::ordered_json json = to_json(outcome.results, outcome.seeds, outcome.trimmed);
  json["trace"] = outcome.trace;
  json["machine"] = outcome.machine;
  json["runtime_model"] = outcome.runtime_model;
  json["command"] = outcome.command_line;
  for (std::size_t i = 0; i < outcome.seeds.size(); ++i)
    json["notes"][fmt::format("{}", outcome.seeds[i])] = outcome.notes[i];
  return json;
}

}  // namespace replay::experiment
