#include "scheduler/sim/trial_run.hpp"

#include <utility>
#include <variant>

#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/registry.hpp"

namespace replay {
namespace {

class Starts final : public log::Sink {
 public:
  explicit Starts(const StartOfTrial& started) : started_(started) {}
  void header(const log::Header& /*header*/) override {}
  void record(const log::Record& record) override {
    if (const auto* arrived = std::get_if<log::Submitted>(&record.what)) {
      waiting_.add(arrived->job.id) = {arrived->job.submitted, arrived->job.processes};
    } else if (const auto* launched = std::get_if<log::Launched>(&record.what)) {
      const auto [submitted, processes] = waiting_.at(launched->job);
      started_(processes, record.at - submitted);
      waiting_.erase(launched->job);
    }
  }

 private:
  const StartOfTrial& started_;
  JobMap<std::pair<Instant, ProcessCount>> waiting_;
};

}  // namespace

TrialRun trial_run(const Machine& machine, const Workload& workload, const RuntimeModel& model,
                   const SimulationOptions& options) {
  return [&machine, &workload, &model, options](std::string_view policy, const StartOfTrial& started) {
    Starts starts{started};
    simulate(machine, workload, *make_policy(policy).policy, model, starts, options);
  };
}

}  // namespace replay
