// Runs in real time: the body whose jobs are processes, and what is made of it for a trace that has been prepared.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/experiment/kept_run.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/run.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/live/job_source.hpp"
#include "scheduler/policy/machine_part.hpp"

namespace replay::experiment {

/// Starts the jobs of a source by an executor. The references must stay valid for the run.
class LiveBody final : public Body {
 public:
  /// `measures_load`: that of other processes, before and after the run.
  LiveBody(const Machine& machine, std::unique_ptr<live::Executor> executor, live::JobSource& jobs,
           live::RunOptions options, bool measures_load)
      : machine_(machine),
        executor_(std::move(executor)),
        jobs_(jobs),
        options_(std::move(options)),
        measures_load_(measures_load) {}
  /// When it returns the executor is gone, and with it all processes of the jobs.
  BodyEnd run(Policy& policy, const RuntimeModel& model, results::Recorder& recorder, const Viewers& viewers) override;
  /// Three stop signals: the ends of the jobs were not waited for.
  [[nodiscard]] bool is_abandoned() const { return is_abandoned_; }

 private:
  const Machine& machine_;
  std::unique_ptr<live::Executor> executor_;
  live::JobSource& jobs_;
  live::RunOptions options_;
  bool measures_load_;
  bool is_abandoned_ = false;
};

/// A run whose jobs are not known before: those of users.
struct OpenRun {
  NamedPolicy policy;
  std::unique_ptr<RuntimeModel> model;
  std::optional<MachinePart> part{};  ///< of the machine; nothing: all of it
};
/// Throws UsageError, InputError for a policy or a model that has to know the jobs before, or cannot use the machine.
[[nodiscard]] OpenRun prepare_open(const RunSpec& spec, const Machine& machine);

/// A run of `spec` is described as one on this machine.
void describe_machine(results::RunDescription& description, const RealMachine& machine, const RunSpec& spec);

/// The programs of the run's jobs, of which those for other nodes are looked up there; notes those that do not follow
/// its time scale. Throws InputError if one is not there.
[[nodiscard]] Programs programs_of(Prepared& run, const RealMachine& machine);

/// Runs the policies for real, one after the other, into `folder`, or of several each into its own there, until one is
/// stopped or has lost its executor; `runs` gets what came of each. `watch` is called with a run's folder when its agent has
/// been started. `goes_on`: the run, whose last daemon has ended; null: it begins. REQUIRES: a single thread, as RealMachine::start(). Throws InputError.
void run_policies(const Prepared& run, const RealMachine& machine, const Programs& programs,
                  const std::filesystem::path& folder, const std::string& command_line,
                  const std::function<Viewers(const std::filesystem::path&)>& watch,
                  std::vector<results::PolicyRun>& runs, Keeping* goes_on = nullptr);

}  // namespace replay::experiment
