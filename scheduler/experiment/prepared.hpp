// A run that can begin: everything that its spec names is read and checked. prepare() goes down five steps, each of which
// knows only what the steps above it have found: machine, model, policies, jobs, trial runs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/experiment/logged/logged_schedule.hpp"
#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/machine_part.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/results/run_description.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/sim/simulator.hpp"
#include "traces/workload_reader.hpp"

namespace replay::experiment {

/// The side file, with what jobs declare beyond SWF: the one that was given, else the one beside the trace if it
/// exists.
[[nodiscard]] std::optional<std::string> side_file_of(const std::string& trace, const std::string& jobs_from);

/// The slowdowns of pairs of jobs, for the runtime model `pairs`: the file that was given, else NAME.pairs.csv beside the
/// trace if it exists.
[[nodiscard]] std::optional<std::string> pairs_file_of(const RunSpec& spec);

/// The node events of a simulation: the file that was given, else NAME.nodes.csv beside the trace if it exists. Nothing for
/// "none", and for real runs.
[[nodiscard]] std::optional<std::string> nodes_file_of(const RunSpec& spec);

/// Where the jobs run.
struct JobsCores {
  enum class Kind {
    kHere,       ///< cores of this computer
    kElsewhere,  ///< those of an agent, which does not tell its CPU, kernel and MPI
    kVirtual,    ///< emulated, or simulated only
  };
  Kind kind = Kind::kHere;
  const Machine& machine;
  std::vector<std::string> hosts{};  ///< the names of its nodes; empty: they have none
};

/// The machine of a real run.
struct RealCores {
  Machine machine;
  JobsCores::Kind kind;
  std::optional<Duration> turn{};    ///< jobs that share cores take turns of that length; nothing: they do not
  std::vector<std::string> hosts{};  ///< the names of its nodes; empty: they have none
};

/// One policy of a run.
struct PreparedPolicy {
  std::string text;    ///< as written, with what trial runs have found in place of parameters that ask for them
  std::string folder;  ///< of the policy as written; those of one run differ
  Traits traits{};
  std::optional<MachinePart> part{};  ///< of the run's machine; nothing: it has all of it
};

[[nodiscard]] std::vector<std::string> texts_of(std::span<const PreparedPolicy> policies);

struct Prepared {
  RunSpec spec;                              ///< as given, with the name of the runtime model
  bool adds_overheads = false;               ///< BenchmarkSetting::adds_overheads
  Machine machine = Machine::pool(1);        ///< of which a policy may have a part
  std::shared_ptr<const Profile> profile{};  ///< of the model `calibrated`; others have none
  std::shared_ptr<const PairTable> pairs{};  ///< of the model `pairs`, if there is a file
  std::vector<PreparedPolicy> policies{};
  LoadedWorkload loaded{};
  Instant until = kNever;
  LoggedSchedule logged{};               ///< if a policy follows the log
  std::vector<NodeEvent> node_events{};  ///< of a simulation
  std::vector<std::string> notes{};      ///< what a reader of the results has to know, one line each

  [[nodiscard]] std::unique_ptr<RuntimeModel> model() const { return model_named(spec.runtime_model); }
  [[nodiscard]] std::unique_ptr<RuntimeModel> model_named(const std::string& name) const {
    return make_runtime_model(name, {.profile = profile.get(), .pairs = pairs.get(), .adds_overheads = adds_overheads});
  }
  /// Under policies that follow the log each job runs for as long as the log says.
  [[nodiscard]] std::string runtime_model_of(const PreparedPolicy& policy) const {
    return policy.traits.follows_log ? "isolated" : spec.runtime_model;
  }
  [[nodiscard]] const Machine& machine_of(const PreparedPolicy& policy) const {
    return policy.traits.follows_log ? logged.machine : policy.part ? policy.part->machine : machine;
  }
  [[nodiscard]] const Workload& workload_of(const PreparedPolicy& policy) const {
    return policy.traits.follows_log ? logged.workload : workload();
  }
  [[nodiscard]] SimulationOptions simulation_options() const;
  [[nodiscard]] SimulationOptions simulation_options_of(const PreparedPolicy& policy) const;
  [[nodiscard]] Workload& workload() { return loaded.workload; }
  [[nodiscard]] const Workload& workload() const { return loaded.workload; }
};

/// For a simulation, or with `cores` for a real run on them. Throws UsageError, InputError, PolicyError.
[[nodiscard]] Prepared prepare(RunSpec spec, const std::optional<RealCores>& cores = {});

/// Throws UsageError if the policy follows a log, as only simulations of logs do; `here` is where it is to run: "a real run".
void expect_policy_that_decides(const NamedPolicy& policy, std::string_view here);

/// The name of the spec's runtime model.
[[nodiscard]] std::string runtime_model_of(const RunSpec& spec);
/// Its policies. Throws UsageError if there are none.
[[nodiscard]] const std::vector<std::string>& policies_of(const RunSpec& spec);

/// Describes the run under one of its policies, made as `named`, for the results, as a simulation. What only a real run has
/// is the caller's to add.
[[nodiscard]] results::RunDescription describe_run(const Prepared& run, const PreparedPolicy& policy,
                                                   const NamedPolicy& named, const std::string& command_line);

}  // namespace replay::experiment
