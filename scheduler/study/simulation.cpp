#include "scheduler/study/simulation.hpp"

#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::study {

metrics::Summary simulate_one(const Workload& workload, Policy& policy, std::string_view name, const Setting& setting,
                              const history::Observers& more) {
  results::Recorder recorder{{}, experiment::figures_only(setting.machine, name, setting.runtime_model)};
  experiment::SimBody body{setting.machine, workload};
  results::PolicyRun run =
      experiment::run(body, policy, *make_runtime_model(setting.runtime_model), recorder, {.observers = more});
  if (!run.fault.empty()) throw PolicyError(run.fault);
  return std::move(run.summary);
}

metrics::Summary simulate_one(const Workload& workload, std::string_view policy, const Setting& setting,
                              const history::Observers& more) {
  const NamedPolicy named = make_policy(policy);
  return simulate_one(workload, *named.policy, named.full_text, setting, more);
}

}  // namespace replay::study
