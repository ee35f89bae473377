#include "scheduler/validate/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/sha256.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/process/own_child.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/compare/decision_list.hpp"
#include "scheduler/compare/divergence.hpp"
#include "scheduler/experiment/profile_use.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/sweep/engine/run_cells.hpp"
#include "scheduler/validate/measured_trace.hpp"
#include "scheduler/validate/simulation.hpp"

namespace replay::validate {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

constexpr int kJobsFailed = 1;
constexpr std::size_t kLastWords = 2000;  // bytes

// ---- the same run, simulated and for real ----

experiment::RunSpec with_jobs(experiment::RunSpec run, const std::string& trace, const std::string& policy) {
  run.trace = trace;
  run.policies = {policy};
  return run;
}

experiment::Prepared prepare_simulation(const ValidationSetting& setting, const ValidationCell& cell) {
  return experiment::prepare(simulated(setting, cell.trace, cell.policy));
}

std::string joined(const std::vector<std::string>& words) { return "replay " + command_line_of(words); }

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
}

// Simulates into a run folder as `replay simulate` does, so that rerun, diff, why and audit work on it. With
// `measured`, run times are those of the real run, not those of the trace under a runtime model.
void simulate_into(const ValidationSetting& setting, const std::string& trace, const std::string& policy,
                   const fs::path& folder, const compare::MeasuredWork* measured = nullptr) {
  if (fs::exists(folder)) results::remove_run(folder);
  const experiment::RunSpec run = simulated(setting, trace, policy);
  experiment::Prepared prepared = experiment::prepare(run);
  if (measured != nullptr)
    prepared.workload().jobs.change_each([measured](TracedJob& traced) {
      if (const auto* found = measured->find(traced.job.id); found != nullptr && found->work) {
        traced.truth.runtime = time_at(*found->work, found->processes, traced.job.declaration.get(),
                                       traced.job.processes, traced.truth.speedup_power);
        // It was not killed in the real run either.
        traced.job.estimate = std::max(traced.job.estimate, traced.truth.runtime);
      }
    });
  std::vector<std::string> words = to_words(run);
  words.insert(words.end(), {"--out", folder.string()});
  (void)simulate_to_end(prepared, 0, folder, joined(words));
}

// s(m) of the run's model for its jobs.
class ModelledSlowdown {
 public:
  explicit ModelledSlowdown(const experiment::Prepared& run) : model_(run.model()), machine_(run.machine) {
    for (const TracedJob& traced : run.workload().jobs) jobs_[traced.job.id] = traced;
  }
  [[nodiscard]] double operator()(JobId job, const Allocation& on) const {
    const auto found = jobs_.find(job);
    return found == jobs_.end() ? 1 : model_->slowdown(as_true(found->second, on), on, alone_on(machine_));
  }

 private:
  std::shared_ptr<RuntimeModel> model_;
  Machine machine_;
  std::map<JobId, TracedJob> jobs_;
};

// ---- what came out ----

compare::DecisionList decisions_in(const fs::path& run) {
  compare::DecisionList list;
  results::read_event_log(results::event_log_of(run.string()), list.observers());
  return list;
}

ValidatedRun summary_of(const metrics::JobTable& run, const metrics::JobTable& expanded) {
  ValidatedRun result;
  result.figures = compare::mean_figures(run, expanded);
  Instant first = kNever, last = Instant::min();
  for (const metrics::JobRow& row : run.rows()) {
    result.jobs += row.ran() ? 1u : 0u;
    const bool is_good =
        row.has_ended() && row.outcome == Outcome::kCompleted && row.verification != Verification::kFailed;
    result.failed += is_good ? 0u : 1u;
    result.shrinks += row.shrinks;
    result.expands += row.expands;
    first = std::min(first, row.submitted);
    if (row.has_ended()) last = std::max(last, row.finished);
  }
  result.makespan = last < first ? std::nan("") : seconds(last - first);
  return result;
}

std::optional<std::string> divergence_text(const compare::DecisionList& simulated, const compare::DecisionList& real,
                                           Duration tolerance) {
  const auto divergence = compare::first_divergence(simulated, real, tolerance);
  return divergence ? std::optional{compare::explain(*divergence)} : std::nullopt;
}

// Adds the load of others and the times of the real run, from its run.json.
void add_surroundings(CellResult& result, const fs::path& run) {
  const fs::path file = run / "run.json";
  const auto json = read_json<ordered_json>(file);
  try {
    for (const char* why : {"lost", "fault"})
      if (!json.at(why).is_null())
        throw InputError(fmt::format("cell {}: the real run ended early: {}", result.cell, json.at(why).dump()));
    const ordered_json& disturbed = json.at("disturbed");
    result.disturbed = disturbed.is_null() ? std::nullopt : std::optional{disturbed.get<bool>()};
    result.started = json.at("started").get<std::string>();
    result.ended = json.at("ended").get<std::string>();
    const auto load = [&json](const char* when) {
      const ordered_json& value = json.at("load_of_others").at(when);
      return value.is_null() ? std::nullopt : std::optional{value.get<double>()};
    };
    result.load_before = load("before");
    result.load_after = load("after");
  } catch (const ordered_json::exception& error) {
    throw InputError(fmt::format("{}: expected the run.json of a real run: {}", file.string(), error.what()));
  }
}

// Adds the simulation with the real run's submit instants and work.
void add_measured(CellResult& result, const ValidationSetting& setting, const ValidationCell& cell,
                  const fs::path& folder, const compare::DecisionList& simulated, const compare::DecisionList& real) {
  const experiment::Prepared prepared = prepare_simulation(setting, cell);
  compare::MeasuredWork measured{ModelledSlowdown{prepared}};
  results::read_event_log(results::event_log_of((folder / "real").string()), {&measured});
  if (measured.has_shared_cores()) {
    result.why_not_measured = "jobs shared cores: what each did of its work cannot be told apart";
    return;
  }
  const fs::path trace = folder / "measured.swf";
  write_measured_trace(trace, prepared.spec, prepared.workload(), measured);
  ValidationSetting of_file = setting;
  of_file.run.jobs_from.clear();  // the new trace has a side file of its own
  try {
    simulate_into(of_file, trace.string(), cell.policy, folder / "measured", &measured);
  } catch (const sweep::Interrupted&) {  // the real run has ended; its result is kept
    result.why_not_measured = "interrupted before it was simulated again; --force runs the cell again";
    return;
  }
  const compare::DecisionList again = decisions_in(folder / "measured");
  result.measured = summary_of(again.jobs(), simulated.jobs());
  result.measured_errors = compare::job_errors(again.jobs(), real.jobs());
  result.measured_divergence = divergence_text(again, real, setting.tolerance);
}

// The end of a real run's standard error.
std::string last_words(const fs::path& err) {
  std::ifstream in(err, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "it said nothing" : std::string{end_of_text(text, kLastWords)};
}

void run_for_real(const ValidationSetting& setting, const ValidationCell& cell, const fs::path& folder) {
  const fs::path err = folder / "real.err";
  const ChildEnd end = run_child(real_run_words(setting, cell, folder / "real"), folder / "real.out", err);
  if (end.interrupted || is_exit_status_after_stop(end.status)) throw sweep::Interrupted{};
  if (end.status != 0 && end.status != kJobsFailed)
    throw InputError(
        fmt::format("cell {}: the real run ended with status {}: {}", cell.name, end.status, last_words(err)));
  std::error_code error;
  if (!fs::exists(folder / "real" / "events.log", error) || !fs::exists(folder / "real" / "metrics.json", error))
    throw InputError(fmt::format("cell {}: the real run did not come to its end: {}", cell.name, last_words(err)));
}

experiment::Programs programs_of(const experiment::RunSpec& spec, const experiment::Prepared& run) {
  using Place = experiment::Programs::Place;
  return {spec.program, run.loaded.programs, spec.time_scale, spec.seed,
          experiment::is_elsewhere(spec.machine) ? Place::kElsewhere : Place::kHere};
}

// SHA-256 of the programs that the real run starts, by name: rebuilt ones may be faster. Of those that only other hosts
// have it is not known.
ordered_json program_hashes(const ValidationSetting& setting, const ValidationCell& cell) {
  const experiment::Prepared run = prepare_simulation(setting, cell);
  const experiment::Programs programs = programs_of(setting.run, run);
  ordered_json hashes = ordered_json::object();
  for (const TracedJob& traced : run.workload().jobs) {
    const fs::path program = programs.command(traced).front();
    const bool is_there = !experiment::is_elsewhere(setting.run.machine) || fs::exists(program);
    if (const std::string name = program.filename().string(); is_there && !hashes.contains(name))
      hashes[name] = digest_of(program.string()).sha256;
  }
  return hashes;
}

}  // namespace

std::string cell_name(const std::optional<double>& load_percent, const std::string& arrivals,
                      const std::string& policy) {
  std::string name;
  if (load_percent) name += fmt::format("{:g}/", *load_percent);
  if (!arrivals.empty()) name += arrivals + "/";
  return name + results::folder_name(policy);
}

experiment::RunSpec simulated(const ValidationSetting& setting, const std::string& trace, const std::string& policy) {
  experiment::RunSpec run = with_jobs(setting.run, trace, policy);
  run.world = experiment::World::kSimulated;
  run.machine = setting.machine_text;
  run.outputs = "all";
  if (run.nodes_from.empty()) run.nodes_from = "none";  // those of the trace are not those of the real run
  run.node = {};
  run.time_scale = 1;
  run.pairing = Pairing::kBlock;
  run.program.clear();
  run.programs_from_trace = false;
  return run;
}

std::vector<std::string> real_run_words(const ValidationSetting& setting, const ValidationCell& cell,
                                        const fs::path& out) {
  std::vector<std::string> words = to_words(with_jobs(setting.run, cell.trace, cell.policy));
  words.insert(words.end(), {"--out", out.string(), "--force", "--plain", "--yes"});
  return words;
}

ordered_json cell_inputs(const ValidationSetting& setting, const ValidationCell& cell) {
  const experiment::RunSpec run = with_jobs(setting.run, cell.trace, cell.policy);
  const NamedPolicy policy = make_policy(cell.policy);
  const auto word = [&run](const char* option) { return option_text(run, option); };
  ordered_json inputs = {{"policy", policy.full_text},
                         {"machine", run.machine.empty() ? "local" : run.machine},
                         {"time_scale", run.time_scale},
                         {"runtime_model", run.runtime_model},
                         {"seed", run.seed},
                         {"overrun", word("--overrun")},
                         {"until", word("--until")},
                         {"scale_sizes", word("--scale-sizes")},
                         {"cleaning", run.cleaning},
                         {"pairing", word("--pairing")},
                         {"back_end", word("--back-end")},
                         {"quantum", word("--quantum")},
                         {"smt", run.node.smt},
                         {"program", run.program},
                         {"trace_sha256", digest_of(cell.trace).sha256}};
  if (const auto hosts = experiment::hosts_file_of(run.machine)) inputs["hosts_sha256"] = digest_of(*hosts).sha256;
  if (run.requeues_lost) inputs["requeue_lost"] = true;
  if (run.node.turn != experiment::NodeUse{}.turn) inputs["turn"] = word("--turn");
  if (const auto side_file = experiment::side_file_of(run.trace, run.jobs_from))
    inputs["side_file_sha256"] = digest_of(*side_file).sha256;
  inputs["tolerance_s"] = seconds(setting.tolerance);
  inputs["programs_sha256"] = program_hashes(setting, cell);
  if (names_model(run.runtime_model, "pairs"))
    if (const auto pairs = experiment::pairs_file_of(run)) inputs["pairs_sha256"] = digest_of(*pairs).sha256;
  if (names_model(run.runtime_model, kCalibrated))
    inputs["profile_sha256"] = digest_of(experiment::profile_path(run)).sha256;
  for (const std::string& file : policy.files) inputs["policy_sha256"].push_back(digest_of(file).sha256);
  return inputs;
}

std::vector<std::string> named_by_trace(const ValidationSetting& setting, const ValidationCell& cell) {
  const experiment::Prepared run = prepare_simulation(setting, cell);
  return programs_of(setting.run, run).named_by_trace(run.workload());
}

double foresee_cell(const ValidationSetting& setting, const ValidationCell& cell) {
  return simulate_to_end(prepare_simulation(setting, cell), 0).summary.value("makespan");
}

CellResult run_cell(const ValidationSetting& of_all, const ValidationCell& cell, const fs::path& folder,
                    const ordered_json& inputs) {
  make_folder(folder);
  remove_cell_result(folder);
  simulate_into(of_all, cell.trace, cell.policy, folder / "sim");
  run_for_real(of_all, cell, folder);
  ValidationSetting setting = of_all;
  if (const fs::path nodes = folder / "real" / results::file_of("nodes"); fs::exists(nodes)) {
    setting.run.nodes_from = nodes.string();
    simulate_into(setting, cell.trace, cell.policy, folder / "sim");  // again, with what happened to the nodes
  }
  const compare::DecisionList simulated = decisions_in(folder / "sim");
  const compare::DecisionList real = decisions_in(folder / "real");
  CellResult result;
  result.cell = cell.name;
  result.arrivals = cell.arrivals;
  result.policy = cell.policy;
  result.load_percent = cell.load_percent;
  result.inputs = inputs;
  result.version = REPLAY_VERSION;
  result.tolerance_s = seconds(setting.tolerance);
  result.simulated = summary_of(simulated.jobs(), simulated.jobs());
  result.real = summary_of(real.jobs(), simulated.jobs());
  result.simulated_errors = compare::job_errors(simulated.jobs(), real.jobs());
  result.divergence = divergence_text(simulated, real, setting.tolerance);
  add_surroundings(result, folder / "real");
  add_measured(result, setting, cell, folder, simulated, real);
  write_cell_result(folder, result);
  return result;
}

}  // namespace replay::validate
