// The simulator, body no. 1: it runs in virtual time. Carrying out an order means computing when the job will end.
// Cores change hands at the instant of the decision, or when a resize is over, where the model says how long it takes. One workload, one policy, one seed: one event log, byte for byte.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/core/controller.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay {

struct SimulationOptions {
  Overrun overrun = Overrun::kKill;
  Instant until = kNever;  ///< what runs then is killed, what waits is cancelled
  /// What happens to the nodes of the machine, by time. REQUIRES: it names its cores, if there is one.
  std::vector<NodeEvent> nodes{};
  bool requeues_lost = false;  ///< jobs of a node that goes down wait again
  /// Called now and then; true ends the run as `until` does (Ctrl-C).
  std::function<bool()> interrupted{};
  /// Called now and then with the number of jobs that have ended.
  std::function<void(std::size_t)> progress{};
};

struct SimulationResult {
  std::size_t ended = 0;     ///< jobs, with any outcome
  bool interrupted = false;  ///< by `interrupted`
  std::string broken_off{};  ///< why no further job was started; empty: all were
};

/// Runs `workload` to its end. The references must stay valid for the call. Throws PolicyError when the policy asks for
/// the impossible, breaks an invariant of its own, or leaves jobs waiting on an idle machine for ever; in the first two
/// cases the log has the end of each job that came. Throws InputError when the schedule does not end before
/// kEndOfPlans.
SimulationResult simulate(const Machine& machine, const Workload& workload, Policy& policy, const RuntimeModel& model,
                          log::Sink& log, const SimulationOptions& options = {});

}  // namespace replay
