#include "scheduler/study/simulation.hpp"

#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "scheduler/metrics/row_stream.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay::study {
namespace {

struct SummedRows final : metrics::RowReader {
  metrics::JobSums sums;
  void row(const metrics::JobRow& row, const metrics::RowTexts& /*texts*/) override { sums.add(row); }
};

}  // namespace

metrics::Summary simulate_one(const Workload& workload, Policy& policy, std::string_view name, const Setting& setting,
                              const Surroundings& surroundings, std::span<log::Sink* const> more) {
  const Machine machine = Machine::pool(setting.cores);
  SummedRows rows;
  metrics::RowStream jobs(rows);
  metrics::Series series({.keep_points = false});
  std::vector<log::Sink*> sinks{&jobs, &series};
  sinks.insert(sinks.end(), more.begin(), more.end());
  log::Tee log(std::move(sinks));
  log::Header header;
  header.set("body", "sim");
  header.set("machine", machine.to_text());
  header.set("policy", std::string{name});
  header.set("runtime-model", setting.runtime_model);
  log.header(header);
  SimulationOptions options;
  options.interrupted = surroundings.interrupted;
  const auto model = make_runtime_model(setting.runtime_model);
  if (simulate(machine, workload, policy, *model, log, options).interrupted) throw Interrupted{};
  jobs.hand_over_rest();
  return metrics::summarise(rows.sums, series);
}

metrics::Summary simulate_one(const Workload& workload, std::string_view policy, const Setting& setting,
                              const Surroundings& surroundings, std::span<log::Sink* const> more) {
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
