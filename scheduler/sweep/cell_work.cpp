#include "scheduler/sweep/cell_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/placeholders.hpp"
#include "scheduler/experiment/hardware.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/profile.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "traces/declare/declare_trace.hpp"
#include "traces/offered_load.hpp"
#include "traces/tools/cut.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

using experiment::number_of;
using experiment::RunOption;

constexpr std::uint64_t kMostJobs = 100'000'000;  // 140 bytes each in memory
constexpr Choice<LoadBy> kLoadBys[] = {{"arrivals", LoadBy::kArrivals}, {"runtimes", LoadBy::kRuntimes}};
constexpr Choice<ArrivalProcess> kArrivals[] = {{"lublin", ArrivalProcess::kLublin},
                                                {"poisson", ArrivalProcess::kPoisson}};
constexpr std::string_view kLublin = "lublin", kFromLog = "from-log";
constexpr std::string_view kModels[] = {kLublin, kFromLog};

// Of real runs, and of what a run leaves.
constexpr std::string_view kOtherOptions[] = {
    "smt",       "back-end",   "quantum", "turn",  "job-network", "agent-key",           "bootstrap", "lease",
    "keep-jobs", "time-scale", "pairing", "label", "program",     "programs-from-trace", "outputs"};
constexpr std::string_view kFiles[] = {"trace", "jobs-from", "nodes-from", "profile", "pairs"};

std::int64_t seconds_of(const std::string& option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration || *duration < std::chrono::seconds{1} || *duration % std::chrono::seconds{1} != Duration::zero())
    throw UsageError(
        fmt::format("{}: expected a duration in whole seconds, such as 90s, 2h or 1d, found '{}'", option, text));
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
}

// Machines of this computer differ from one to the next, and a sweep may be computed on several.
Machine machine_of(const std::string& text) {
  if (text.starts_with("local"))
    throw UsageError(fmt::format(
        "--machine: expected a machine that is the same on every computer, such as 16x2x8, found '{}'", text));
  return Machine::is_for_parse(text) ? Machine::parse(text) : experiment::machine_by_hardware(text);
}

void check_model_of_run(const std::string& text) {
  const Profile none;
  (void)make_runtime_model(text, {.profile = &none});
}

std::vector<CellWord> words_of_workloads() {
  std::vector<CellWord> words = {
      {.name = "model",
       .words = {std::begin(kModels), std::end(kModels)},
       .set = [](CellWork& work, const std::string& text) { work.model = text; }},
      {.name = "jobs",
       .set = [](CellWork& work,
                 const std::string& text) { work.jobs = number_of<std::uint64_t>("--jobs", text, 1, kMostJobs); }},
      {.name = "tolerance",
       .set =
           [](CellWork& work, const std::string& text) {
             work.tolerance = number_of<double>("--tolerance", text, kLeastTolerance, kMostTolerance);
           }},
      {.name = "load", .set = [](CellWork& work, const std::string& text) { work.load = offered_load_of(text); }},
      {.name = "load-by",
       .words = words_of(kLoadBys),
       .set = [](CellWork& work, const std::string& text) { work.load_by = value_of("--load-by", kLoadBys, text); }},
      {.name = "duration",
       .set = [](CellWork& work, const std::string& text) { work.lublin.duration = seconds_of("--duration", text); }},
      {.name = "min-runtime",
       .set = [](CellWork& work,
                 const std::string& text) { work.lublin.min_runtime = seconds_of("--min-runtime", text); }},
      {.name = "max-runtime",
       .set = [](CellWork& work,
                 const std::string& text) { work.lublin.max_runtime = seconds_of("--max-runtime", text); }},
      {.name = "arrivals", .words = words_of(kArrivals), .set = [](CellWork& work, const std::string& text) {
         work.lublin.model.arrivals = value_of("--arrivals", kArrivals, text);
       }}};
  for (std::size_t i = 0; i < std::size(kLublinParameters); ++i) {
    const LublinParameter& parameter = kLublinParameters[i];
    words.push_back(
        {.name = std::string{parameter.name}, .set = [i, &parameter](CellWork& work, const std::string& text) {
           work.parameters[i] =
               number_of<double>(fmt::format("--{}", parameter.name), text, parameter.least, parameter.most);
         }});
  }
  return words;
}

std::vector<CellWord> words_of_declarations() {
  static constexpr std::pair<const char*, std::string DeclareOptions::*> kWords[] = {
      {"malleable", &DeclareOptions::malleable},
      {"moldable", &DeclareOptions::moldable},
      {"speedup", &DeclareOptions::speedup},
      {"constraint", &DeclareOptions::constraint},
      {"sigma-factor", &DeclareOptions::sigma_factor},
      {"estimates", &DeclareOptions::estimates},
      {"cpu-util", &DeclareOptions::cpu_util},
      {"serial-cpu-util", &DeclareOptions::serial_cpu_util},
      {"ov", &DeclareOptions::ov},
      {"contention", &DeclareOptions::contention},
      {"size-rule", &DeclareOptions::size_rule},
      {"priority", &DeclareOptions::priority}};
  std::vector<CellWord> words;
  for (const auto& [name, member] : kWords)
    words.push_back({.name = name, .set = [member = member](CellWork& work, const std::string& text) {
                       work.declare.*member = text;
                       work.declares = work.declares || !text.empty();
                     }});
  return words;
}

CellWord word_of_run(const RunOption& option) {
  CellWord word{.name = option.name.substr(2),
                .is_flag = option.kind == RunOption::Kind::kFlag,
                .words = option.words,
                .set = [&option](CellWork& work, const std::string& text) { option.set(work.run, text); }};
  word.is_file = std::ranges::find(kFiles, word.name) != std::end(kFiles);
  if (word.name == "policy")
    word.set = [](CellWork& work, const std::string& text) {
      (void)make_policy(text);
      work.run.policies = {text};
    };
  if (word.name == "machine")
    word.set = [](CellWork& work, const std::string& text) {
      (void)machine_of(text);
      work.run.machine = text;
    };
  if (word.name == "runtime-model")
    word.set = [](CellWork& work, const std::string& text) {
      check_model_of_run(text);
      work.run.runtime_model = text;
    };
  if (const auto rules = cleaning_options(); std::ranges::find(rules, word.name, &CleaningOption::name) != rules.end())
    word.set = [set = word.set](CellWork& work, const std::string& text) {
      set(work, text);
      (void)experiment::cleaning_rules(work.run.cleaning);
    };
  return word;
}

std::vector<CellWord> all_words() {
  std::vector<CellWord> words;
  for (const RunOption& option : experiment::run_options())
    if (std::ranges::find(kOtherOptions, option.name.substr(2)) == std::end(kOtherOptions))
      words.push_back(word_of_run(option));
  for (auto more : {words_of_workloads(), words_of_declarations()})
    words.insert(words.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return words;
}

[[noreturn]] void refuse(const std::string& what) { throw UsageError(what); }

// The model to which a word belongs; empty: to none.
std::string_view model_of(std::string_view word) {
  constexpr std::string_view kOfLublin[] = {"duration", "min-runtime", "max-runtime", "arrivals"};
  const bool is_of_lublin =
      std::ranges::find(kOfLublin, word) != std::end(kOfLublin) ||
      std::ranges::find(kLublinParameters, word, &LublinParameter::name) != std::end(kLublinParameters);
  return is_of_lublin ? kLublin : word == "tolerance" ? kFromLog : "";
}

// Where the jobs come from.
void check_source(const CellWork& work, const std::map<std::string, std::string>& parameters) {
  const bool has_trace = !work.run.trace.empty();
  if (work.model.empty() && !has_trace) refuse("--trace: is missing: expected a trace, or a model such as lublin");
  if (work.model == kLublin && has_trace)
    refuse("--model: expected a model or a trace, found both; the model from-log makes jobs of a trace");
  if (work.model == kFromLog && !has_trace) refuse("--trace: is missing: the model from-log makes jobs of a log");
  if (work.run.trace == "-") refuse("--trace: expected a file, found standard input");
  if (work.model == kFromLog && work.jobs && *work.jobs < 2) refuse("--jobs: expected 2 or more of from-log, found 1");
  for (const auto& [name, value] : parameters)
    if (const std::string_view model = model_of(name); !model.empty() && model != work.model)
      refuse(fmt::format("--{}: is of the model {}, and there is {}", name, model,
                         work.model.empty() ? "a trace" : work.model));
  if (work.model == kLublin && work.run.machine.empty() && !work.run.cleaning.contains("machine-size"))
    refuse("--machine: is missing: a model makes jobs for a machine");
}

// Which words go together.
void check(const CellWork& work, const std::map<std::string, std::string>& parameters) {
  if (work.run.policies.empty()) refuse("--policy: is missing: expected a policy such as easy");
  check_source(work, parameters);
  if (parameters.contains("load-by") && !work.load) refuse("--load-by: expected with load");
  if (names_model(work.run.runtime_model, "calibrated") && work.run.profile.empty())
    refuse("--profile: is missing: the runtime model calibrated reads one, and each computer has its own");
  if (!work.model.empty() || work.load)
    experiment::expect_policy_that_decides(make_policy(work.run.policies.front()),
                                           work.load ? "a workload of another load" : "a workload of a model");
  if (work.declares) (void)declarations_of(work.declare);
}

// Fills in what follows from other words.
void finish(CellWork& work) {
  work.declare.seed = work.run.seed;
  // Node events beside a log are of its own time, and not of that of sets.
  if (work.model == kFromLog && work.run.nodes_from.empty()) work.run.nodes_from = "none";
  if (work.model != kLublin) return;
  const auto size = work.run.cleaning.find("machine-size");
  LublinModel& model = work.lublin.model;
  model.machine_size = size == work.run.cleaning.end() ? machine_of(work.run.machine).size()
                                                       : number_of<CoreCount>("--machine-size", size->second, 1,
                                                                              std::numeric_limits<CoreCount>::max());
  model.typeless = lublin_parameters(LublinKind::kTypeless, model.machine_size, work.parameters);
  check_lublin_parameters(model.typeless, model.machine_size, "--");
  model.seed = Seed{work.run.seed};
  work.lublin.jobs = work.jobs;
  work.lublin.load = work.load;
  work.lublin.solve = work.load_by == LoadBy::kArrivals ? SolveFor::kArrivals : SolveFor::kRuntimes;
}

std::optional<std::string> side_file(const experiment::RunSpec& run) {
  return experiment::side_file_of(run.trace, run.jobs_from);
}

// The trace of the next step, which is made of that of the last one.
class Steps {
 public:
  Steps(experiment::RunSpec& run, const fs::path& scratch) : run_(run), scratch_(scratch) {
    if (run.trace.empty()) return;
    if (run.nodes_from.empty()) run.nodes_from = experiment::nodes_file_of(run).value_or("none");
    if (const auto pairs = experiment::pairs_file_of(run)) pairs_ = *pairs;
  }
  [[nodiscard]] RereadableTrace last() const {
    return RereadableTrace{run_.trace, {.swf = {.strict = run_.strict}, .job_table = side_file(run_)}};
  }
  template <class Write>
  void add(const char* name, const Write& write) {
    const std::string file = (scratch_ / name).string();
    TraceWriter writer{file, {.job_table = {}, .force = true}};
    write(writer);
    writer.close();
    run_.trace = file;
    run_.jobs_from.clear();
    if (run_.runtime_model.empty() || !names_model(run_.runtime_model, "pairs")) return;
    run_.pairs = pairs_;
  }

 private:
  experiment::RunSpec& run_;
  fs::path scratch_;
  std::string pairs_;
};

void make_by_lublin(const CellWork& work, Steps& steps) {
  const LublinPlan plan = plan_lublin(work.lublin);
  const LublinTotals totals = lublin_totals(work.lublin, plan);
  steps.add("model.swf", [&](TraceWriter& writer) { write_lublin(work.lublin, plan, totals, writer); });
}

void make_from_log(const CellWork& work, Steps& steps) {
  const LoggedDays log = read_logged_days(steps.last().open());
  const std::uint64_t jobs = work.jobs.value_or(kUsualSetJobs);
  const ResampledSet set = log.resampler.make_set(Seed{work.run.seed}, 1, jobs, work.tolerance / 100);
  const std::string command =
      fmt::format("replay generate from-log --set 1 --jobs {} --factors 1 --tolerance {} --seed {}", jobs,
                  work.tolerance, work.run.seed);
  steps.add("set.swf", [&](TraceWriter& writer) { write_set(log, set, 1, command, writer); });
}

// The machine of which a trace is, as its reader takes it to be.
CoreCount machine_of_log(const RereadableTrace& trace) {
  WorkloadReader reader(trace.open(), {});
  if (const auto size = reader.header().machine_size()) return *size;
  for (TracedJob job; reader.next(job);) continue;
  return reader.machine_size();
}

void change_load(CellWork& work, Steps& steps) {
  ScaleOptions scale{.load = work.load, .by = work.load_by};
  const RereadableTrace last = steps.last();
  // Of the machine that is simulated, unless sizes are scaled to it.
  if (!work.run.machine.empty() && !work.run.scale_from) {
    scale.machine_size = machine_of(work.run.machine).size();
    if (experiment::cleaning_rules(work.run.cleaning).oversize == Oversize::kClamp) scale.oversize = Oversize::kClamp;
    // The new header has that machine, but which jobs are cleaned away does not depend on the load.
    work.run.cleaning.try_emplace("machine-size", fmt::format("{}", machine_of_log(last)));
  }
  steps.add("load.swf", [&](TraceWriter& writer) {
    (void)scale_trace(last, writer, scale, fmt::format("replay trace scale --load {}", *work.load));
  });
}

void make_workload(CellWork& work, const fs::path& scratch) {
  Steps steps{work.run, scratch};
  if (work.model == kLublin) make_by_lublin(work, steps);
  if (work.model == kFromLog) make_from_log(work, steps);
  if (work.model.empty() && work.jobs) {
    TraceReader reader = steps.last().open();
    steps.add("first.swf", [&](TraceWriter& writer) {
      (void)cut_trace(reader, writer, {.first = work.jobs}, fmt::format("replay trace cut --first {}", *work.jobs));
    });
  }
  if (work.load && work.model != kLublin) change_load(work, steps);
  if (!work.declares) return;
  const Declarations declarations = declarations_of(work.declare);
  const RereadableTrace last = steps.last();
  TraceReader reader = last.open();
  Declarer declarer{declarations, reader.header()};
  if (auto assigned = assigned_estimates(declarations, last)) declarer.use_estimates(std::move(assigned->estimates));
  steps.add("declared.swf", [&](TraceWriter& writer) {
    SwfHeader header = reader.header();
    declarer.declare(header);
    declare_trace(reader, declarer, header, writer);
  });
}

void add_cleaning(Results& results, const CleaningReport& report) {
  const Finding* const wide = report.find("oversize");
  const bool is_skipped = wide != nullptr && wide->action == "skipped";
  if (report.skipped > 0) results[kLeftOut] = static_cast<double>(report.skipped);
  if (wide != nullptr) results[is_skipped ? kTooWide : kNarrowed] = static_cast<double>(wide->count);
}

// Reasons are compared and counted: they must not have the name of a folder that is another one each time. A workload in it is
// named by the file that it was made of.
std::string with_lasting_names(std::string text, const fs::path& folder, const std::string& trace) {
  const std::string prefix = folder.string() + "/", instead = trace.empty() ? "" : trace + ", ";
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos; at += instead.size())
    text.replace(at, prefix.size(), instead);
  return text;
}

Results make_and_simulate(const CellWork& work, const fs::path& scratch, const std::string& command_line,
                          const std::optional<KeptRun>& keep) {
  CellWork own = work;
  if (keep) fs::create_directories(keep->workload);
  make_workload(own, keep ? keep->workload : scratch);
  own.run.outputs = keep ? "" : "none";
  const experiment::Prepared prepared = experiment::prepare(own.run);
  const results::PolicyRun run =
      experiment::simulate_policy(prepared, 0, keep ? keep->run : fs::path{}, command_line, [](std::size_t) {});
  if (!run.fault.empty()) throw PolicyError(run.fault);
  if (!run.broken_off.empty()) throw PolicyError(run.broken_off);
  if (!run.unwritten.empty()) throw TryAgain(run.unwritten.front());
  Results results;
  for (const metrics::Metric& metric : run.summary.metrics) results.emplace(metric.name, metric.value);
  add_cleaning(results, prepared.loaded.report);
  return results;
}

}  // namespace

std::span<const CellWord> cell_words() {
  static const std::vector<CellWord> kAll = all_words();
  return kAll;
}

const CellWord* find_cell_word(std::string_view name) {
  const auto words = cell_words();
  const auto found = std::ranges::find(words, name, &CellWord::name);
  return found == words.end() ? nullptr : &*found;
}

std::optional<std::string> why_no_word(std::string_view name) {
  if (std::ranges::find(kOtherOptions, name) == std::end(kOtherOptions)) return std::nullopt;
  return name == "outputs" ? "a sweep keeps metrics only" : "is of real runs, and a sweep simulates";
}

CellWork work_of(const std::map<std::string, std::string>& parameters) {
  CellWork work;
  work.run.world = experiment::World::kSimulated;
  for (const auto& [name, value] : parameters)
    if (const CellWord* const word = find_cell_word(name); word != nullptr) word->set(work, value);
  if (mentions_seed(work.run.trace)) work.run.trace = with_seed(work.run.trace, work.run.seed);
  for (std::string* const file : {&work.run.jobs_from, &work.run.nodes_from, &work.run.pairs})
    *file = with_seed(*file, work.run.seed);
  check(work, parameters);
  finish(work);
  return work;
}

Results compute(const CellWork& work, const fs::path& scratch, const std::string& command_line,
                const std::optional<KeptRun>& keep) try {
  return make_and_simulate(work, scratch, command_line, keep);
} catch (const TryAgain&) {
  throw;
} catch (const InputError& error) {
  throw InputError(with_lasting_names(error.what(), keep ? keep->workload : scratch, work.run.trace));
} catch (const UsageError& error) {
  throw UsageError(with_lasting_names(error.what(), keep ? keep->workload : scratch, work.run.trace));
}

}  // namespace replay::sweep
