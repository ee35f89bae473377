#include "scheduler/study/simulation.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::study {

metrics::Summary simulate_one(const Workload& workload, Policy& policy, std::string_view name, const Setting& setting,
                              const Surroundings& surroundings, const history::Observers& more) {
  results::Recorder recorder{{}, experiment::figures_only(setting.machine, name, setting.runtime_model)};
  experiment::SimBody body{setting.machine, workload, {.interrupted = surroundings.interrupted}};
  results::PolicyRun run =
      experiment::run(body, policy, *make_runtime_model(setting.runtime_model), recorder, {.observers = more});
  if (!run.fault.empty()) throw PolicyError(run.fault);
  if (run.interrupted) throw Interrupted{};
  return std::move(run.summary);
}

metrics::Summary simulate_one(const Workload& workload, std::string_view policy, const Setting& setting,
                              const Surroundings& surroundings, const history::Observers& more) {
  const NamedPolicy named = make_policy(policy);
  return simulate_one(workload, *named.policy, named.full_text, setting, surroundings, more);
}

void run_all(const Surroundings& surroundings, std::string_view study, std::size_t count,
             const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> done{0};
  surroundings.for_each(count, [&](std::size_t i) {
    if (surroundings.interrupted && surroundings.interrupted()) throw Interrupted{};
    work(i);
    const std::size_t so_far = ++done;
    if (surroundings.show_progress)
      surroundings.show_progress(fmt::format("{}: {} of {} simulations", study, so_far, count));
  });
}

}  // namespace replay::study
