// The simulations of a study: one of them makes the summary of a workload under a policy.
#pragma once

#include <string>
#include <string_view>

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "scheduler/sweep/engine/run_cells.hpp"

namespace replay::study {

/// What the caller of a study provides. What is found does not depend on it.
struct Surroundings {
  int jobs = 1;  ///< simulations at the same time; 0: as many as this process may use cores
  sweep::Show show = [](std::string_view) {};
};

struct Setting {
  Machine machine = Machine::pool(1);
  std::string runtime_model = "rigid";
};

/// Runs the workload to its end; `more` observe it. Throws UsageError for an unknown policy or model, PolicyError.
metrics::Summary simulate_one(const Workload& workload, std::string_view policy, const Setting& setting,
                              const history::Observers& more = {});
/// The same with an existing policy object, called `name` in the log.
metrics::Summary simulate_one(const Workload& workload, Policy& policy, std::string_view name, const Setting& setting,
                              const history::Observers& more = {});

}  // namespace replay::study
