// The set-up of a run, simulated or real: the description that both share, the trace read and cleaned, the machine, the
// runtime model, the policies.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/core/controller.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/results/run_description.hpp"
#include "scheduler/runtime_model/misjudgement.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "traces/workload_reader.hpp"

namespace replay::experiment {

/// Options of `replay` and of `replay simulate`, as given.
struct CommonOptions {
  std::string trace;
  std::string jobs_from;
  std::string policies;
  std::string machine;
  std::string runtime_model;
  std::string profile;
  std::string pairs;
  Misjudgement errors{};
  std::string overrun = "kill";
  std::string until;
  std::string out;
  std::string outputs;
  std::string scale_sizes;
  std::map<std::string, std::string> cleaning;
  std::uint64_t seed = 1;
  bool strict = false;
  bool force = false;
  bool json = false;
};

/// The side file, with what jobs declare beyond SWF: the one that was given, else the one beside the trace if it
/// exists.
[[nodiscard]] std::optional<std::string> side_file_of(const CommonOptions& options);

/// The slowdowns of pairs of jobs, for the runtime model `pairs`: the file that was given, else NAME.pairs.csv beside the
/// trace if it exists.
[[nodiscard]] std::optional<std::string> pairs_file_of(const CommonOptions& options);

/// What a policy of a run has learned from before it.
struct LearnedFrom {
  std::string file;  ///< where it is stored
  Training training;
};

/// The inputs of a run, read and checked.
struct Scenario {
  LoadedWorkload loaded;
  std::vector<std::string> policies;  ///< as written, until find_average_waits(); each is valid
  /// Of each policy as written, and no two alike: for the runs of one command, side by side. find_average_waits() may make
  /// two policies one.
  std::vector<std::string> folders;
  std::vector<LearnedFrom> learned;        ///< of those policies that have learned
  std::vector<std::string> size_choosers;  ///< of those policies that choose the size of a job at its start
  std::string runtime_model;
  std::shared_ptr<const Profile> profile;  ///< of the model `calibrated`; others have none
  std::shared_ptr<const PairTable> pairs;  ///< of the model `pairs`, if there is a file
  Overrun overrun = Overrun::kKill;
  Instant until = kNever;
  std::vector<std::string> notes;  ///< what a reader of the results has to know, one line each

  [[nodiscard]] std::unique_ptr<RuntimeModel> model() const {
    return make_runtime_model(runtime_model, {.profile = profile.get(), .pairs = pairs.get()});
  }
  [[nodiscard]] Workload& workload() { return loaded.workload; }
  [[nodiscard]] const Workload& workload() const { return loaded.workload; }
};

[[nodiscard]] CleaningRules cleaning_rules(const std::map<std::string, std::string>& given);

/// Reads the trace and checks everything that can be checked before a machine is known: so a policy must not have learned
/// from this trace. Throws UsageError, InputError.
[[nodiscard]] Scenario load_scenario(const CommonOptions& options, const std::string& default_model,
                                     std::optional<CoreCount> machine_size);

/// For a simulation on the machine that the log is of: where its size is from, if nothing says it. Adds to the notes.
void note_machine_of_log(Scenario& scenario);

/// Makes jobs fit: `--scale-sizes` scales them by machine over the trace's own machine; without it a job that does not fit
/// is an error that names the ways out, and so is a policy that has learned on a machine of another size. Adds to the
/// notes.
void fit_to_machine(Scenario& scenario, const CommonOptions& options, CoreCount machine_size, bool real);

/// Replaces parameters that take a simulation before the run (`slack:awt=conservative`) by what it finds. Adds to the notes.
/// Throws PolicyError.
void find_average_waits(Scenario& scenario, const Machine& machine);

/// For policies that choose sizes, of a workload in which no job declares a curve: what stands in for run times at other
/// sizes, and how to declare curves.
[[nodiscard]] std::optional<std::string> note_on_curves(const Scenario& scenario);

/// What a run takes for granted that its inputs do not say, or say otherwise.
struct Assumptions {
  Misjudgement errors{};
  std::string overrun = "kill";           ///< as given
  std::uint64_t jobs = 0;                 ///< of the trace
  std::uint64_t without_flexibility = 0;  ///< of these: taken for malleable, as nothing says what they are
};
[[nodiscard]] Assumptions assumptions_of(const Scenario& scenario, const CommonOptions& options);

/// What a policy made of the jobs.
struct FiguresOfPolicy {
  std::string_view policy;
  const metrics::Summary* figures;  ///< not null
};

/// What a reader of the figures has to know of the assumptions behind them: malleability that was assumed, where a policy
/// made use of it, and what --curve-error and --slowdown-error did to jobs that are killed at their estimates. A line each.
[[nodiscard]] std::vector<std::string> notes_on_figures(const Assumptions& assumed,
                                                        std::span<const FiguresOfPolicy> policies);

/// Describes the scenario under one of its policies for the results. The body, the machine, the command line, and what
/// only a real run has, are the caller's to add.
[[nodiscard]] results::RunDescription describe_run(const Scenario& scenario, const CommonOptions& options,
                                                   const NamedPolicy& policy);

}  // namespace replay::experiment
