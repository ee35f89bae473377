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
#include "scheduler/sweep/engine/cells.hpp"
#include "traces/declare/declare_trace.hpp"
#include "traces/offered_load.hpp"
#include "traces/tools/cut.hpp"

namespace replay::sweep {
namespace fs = std::filesystem;
namespace {

using experiment::number_of;
using experiment::RunOption;

constexpr std::uint64_t kMostJobs = 1'000'000'000'000;
constexpr Choice<LoadBy> kLoadBys[] = {{"arrivals", LoadBy::kArrivals}, {"runtimes", LoadBy::kRuntimes}};
constexpr Choice<ArrivalProcess> kArrivals[] = {{"lublin", ArrivalProcess::kLublin},
                                                {"poisson", ArrivalProcess::kPoisson}};
constexpr std::string_view kModels[] = {"lublin"};

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
      {.name = "load",
       .set =
           [](CellWork& work, const std::string& text) {
             work.load = number_of<double>("--load", text, 0, std::numeric_limits<double>::max());
             expect_offered_load(*work.load);
           }},
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

bool is_of_model(std::string_view name) {
  constexpr std::string_view kOfModel[] = {"duration", "min-runtime", "max-runtime", "arrivals"};
  return std::ranges::find(kOfModel, name) != std::end(kOfModel) ||
         std::ranges::find(kLublinParameters, name, &LublinParameter::name) != std::end(kLublinParameters);
}

// Which words go together.
void check(const CellWork& work, const std::map<std::string, std::string>& parameters) {
  if (work.run.policies.empty()) refuse("--policy: is missing: expected a policy such as easy");
  if (work.model.empty() == work.run.trace.empty())
    refuse(work.model.empty() ? "--trace: is missing: expected a trace, or a model such as lublin"
                              : "--model: expected a model or a trace, found both");
  if (work.run.trace == "-") refuse("--trace: expected a file, found standard input");
  if (work.model.empty())
    for (const auto& [name, value] : parameters)
      if (is_of_model(name)) refuse(fmt::format("--{}: is of a model, and there is a trace", name));
  if (!work.model.empty() && work.run.machine.empty() && !work.run.cleaning.contains("machine-size"))
    refuse("--machine: is missing: a model makes jobs for a machine");
  if (parameters.contains("load-by") && !work.load) refuse("--load-by: expected with load");
  if (names_model(work.run.runtime_model, "calibrated") && work.run.profile.empty())
    refuse("--profile: is missing: the runtime model calibrated reads one, and each computer has its own");
  if (work.declares) (void)declarations_of(work.declare);
}

// Fills in what follows from other words.
void finish(CellWork& work) {
  work.declare.seed = work.run.seed;
  if (work.model.empty()) return;
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

void make_workload(CellWork& work, const fs::path& scratch) {
  Steps steps{work.run, scratch};
  if (!work.model.empty()) {
    const LublinPlan plan = plan_lublin(work.lublin);
    const LublinTotals totals = lublin_totals(work.lublin, plan);
    steps.add("model.swf", [&](TraceWriter& writer) { write_lublin(work.lublin, plan, totals, writer); });
  } else {
    if (work.jobs) {
      TraceReader reader = steps.last().open();
      steps.add("first.swf", [&](TraceWriter& writer) {
        (void)cut_trace(reader, writer, {.first = work.jobs}, fmt::format("replay trace cut --first {}", *work.jobs));
      });
    }
    if (work.load) {
      ScaleOptions scale{.load = work.load, .by = work.load_by};
      // Of the machine that is simulated, unless sizes are scaled to it.
      if (!work.run.machine.empty() && !work.run.scale_from) scale.machine_size = machine_of(work.run.machine).size();
      const RereadableTrace last = steps.last();
      steps.add("load.swf", [&](TraceWriter& writer) {
        (void)scale_trace(last, writer, scale, fmt::format("replay trace scale --load {}", *work.load));
      });
    }
  }
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

std::map<std::string, double> compute(const CellWork& work, const fs::path& scratch, const std::string& command_line,
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
  std::map<std::string, double> results;
  for (const metrics::Metric& metric : run.summary.metrics) results.emplace(metric.name, metric.value);
  return results;
}

}  // namespace replay::sweep
