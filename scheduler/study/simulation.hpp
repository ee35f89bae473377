// Runs the simulations of a study: one of them makes the summary of a workload under a policy. A study runs many, on as
// many cores as the caller has; the results depend on neither the number of cores nor the order.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay::study {

/// What the caller of a study provides.
struct Surroundings {
  /// Calls its argument with 0 .. count-1, each once, perhaps on several threads; throws what one of them threw.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)> for_each;
  std::function<void(std::string_view)> show_progress{};  ///< shows a line of progress; any thread calls it
  std::function<bool()> interrupted{};                    ///< true: end the study; any thread calls it
};

/// Thrown out of a study when `interrupted` was true.
struct Interrupted {};

struct Setting {
  Machine machine = Machine::pool(1);
  std::string runtime_model = "rigid";
};

/// Runs the workload to its end; `more` observe it. Throws UsageError for an unknown policy or model,
/// PolicyError, Interrupted.
metrics::Summary simulate_one(const Workload& workload, std::string_view policy, const Setting& setting,
                              const Surroundings& surroundings, const history::Observers& more = {});
/// The same with an existing policy object, called `name` in the log.
metrics::Summary simulate_one(const Workload& workload, Policy& policy, std::string_view name, const Setting& setting,
                              const Surroundings& surroundings, const history::Observers& more = {});

/// work(0) ... work(count - 1), with "slack: 12 of 300 simulations". Throws Interrupted.
void run_all(const Surroundings& surroundings, std::string_view study, std::size_t count,
             const std::function<void(std::size_t)>& work);

}  // namespace replay::study
