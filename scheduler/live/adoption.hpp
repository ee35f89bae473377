// A run that begins with the jobs of another one, whose decisions it cannot repeat: another policy or version has made them
// (docs/adr/0035-adopted-jobs.md). The executor comes to the state of the one before by what that was told and has told; which
// jobs run, and where, follows from that alone. In the turn log of the new run both stand before its own inputs.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/live/executor.hpp"
#include "scheduler/live/turn_log.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::live {

/// One that was launched.
struct LeftJob {
  std::vector<CoreId> core_of_rank;
  std::vector<CoreId> moving_to{};  ///< it was told to move there, and has not answered; empty: it was not
  bool has_begun = false;
  bool is_asleep = false;           ///< it was told to stop, and not to go on
  std::optional<Outcome> ending{};  ///< it was told to end so
  std::optional<JobEnd> end{};      ///< that was heard, and nothing may have followed from it
};

/// A job that a run begins with, or one of which it has to tell the end.
struct AdoptedJob {
  JobId job{};
  LeftJob left{};
  Instant started{};
  Duration estimate{};     ///< of its work, as extended
  Duration rest{};         ///< of it, when the run begins; below zero: so much of its grace is over
  bool is_shared = false;  ///< another one is on some of its cores

  [[nodiscard]] std::string to_text() const;
  /// Throws InputError.
  [[nodiscard]] static AdoptedJob parse(const std::string& text);
};

struct LeftRun {
  std::vector<TurnLog::Input> inputs;  ///< that make its executor
  std::map<JobId, LeftJob> jobs;       ///< without those that the site could not start
  std::vector<AdoptedJob> adopted;     ///< the run has begun with
  std::string lost;                    ///< why its executor was lost; empty: it was not
};

/// What the run of this turn log has left. `executor` is one for its agents, which has not gone on, and is of no use afterwards.
/// Throws InputError.
[[nodiscard]] LeftRun read_left_run(const std::filesystem::path& turns, Executor& executor);

/// Gives the executor an input of LeftRun::inputs. `order`: to start a job again, should the order not have arrived.
void give_again(Executor& executor, const TurnLog::Input& input, const std::function<LaunchOrder(JobId)>& order);

/// Where these ranks are. Throws InputError if that is no allocation of the machine.
[[nodiscard]] Allocation allocation_of(const std::vector<CoreId>& core_of_rank, bool is_shared, const Machine& machine);

/// `traced`: as the source has it. Throws InputError: it has it not, or as allocation_of().
[[nodiscard]] Adopted event_of(const AdoptedJob& job, const TracedJob* traced, Instant now, const Machine& machine);

}  // namespace replay::live
