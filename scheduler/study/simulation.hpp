// One simulation of a study, and many of them: a workload under a policy becomes a summary. Studies are lists of those,
// run on as many cores as the caller has; what comes out depends on neither their number nor their order.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/log/record.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay::study {

/// What the caller of a study brings.
struct Surroundings {
  /// Calls its argument with 0 .. count-1, each once, perhaps on several threads; throws what one of them threw.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)> for_each;
  std::function<void(std::string_view)> show_progress{};  ///< a line that says how far it is; any thread calls it
  std::function<bool()> interrupted{};                    ///< true: end the study; any thread calls it
};

/// Thrown out of a study when `interrupted` was true.
struct Interrupted {};

struct Setting {
  CoreCount cores = 1;  ///< a pool
  std::string runtime_model = "rigid";
};

/// Runs the workload to its end; `more` sees the log too. Throws UsageError for a policy or model that there is not,
/// PolicyError, Interrupted.
metrics::Summary simulate_one(const Workload& workload, std::string_view policy, const Setting& setting,
                              const Surroundings& surroundings, std::span<log::Sink* const> more = {});
/// The same under a policy that is there already, called `name`.
metrics::Summary simulate_one(const Workload& workload, Policy& policy, std::string_view name, const Setting& setting,
                              const Surroundings& surroundings, std::span<log::Sink* const> more = {});

/// work(0) ... work(count - 1), with "slack: 12 of 300 simulations". Throws Interrupted.
void run_all(const Surroundings& surroundings, std::string_view study, std::size_t count,
             const std::function<void(std::size_t)>& work);

}  // namespace replay::study
