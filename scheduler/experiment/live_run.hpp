// Runs in real time: the body whose jobs are processes, and what is made of it for a trace that has been prepared.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/run.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/live/job_source.hpp"

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
};
/// Throws UsageError, InputError for a policy or a model that has to know the jobs before, or cannot use the machine.
[[nodiscard]] OpenRun prepare_open(const RunSpec& spec, const Machine& machine);

/// A run of `spec` is described as one on this machine.
void describe_machine(results::RunDescription& description, const RealMachine& machine, const RunSpec& spec);

/// Runs the run's policy number `policy` for real into `folder`. `watch` is called when the agent has been started.
/// REQUIRES: a single thread, as RealMachine::start(). Throws InputError.
[[nodiscard]] results::PolicyRun run_policy(const Prepared& run, std::size_t policy, const RealMachine& machine,
                                            const Programs& programs, const std::filesystem::path& folder,
                                            const std::string& command_line, const std::function<Viewers()>& watch);

}  // namespace replay::experiment
