// How much jobs on emulated cores are slowed down by those on their nodes, and by their own processes there: told to the
// executor when it changes, for each job as it truly is. On virtual cores nothing else would slow them down: they share no
// memory and no caches. What jobs cost each other on the same cores is not counted here, for that comes about by itself.
#pragma once

#include <optional>
#include <unordered_map>

#include "scheduler/live/executor.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/runtime_model/shared_rates.hpp"

namespace replay::live {

class EmulatedSlowdowns {
 public:
  /// All three must outlive this. `model` answers for neighbours only (ModelPart::kNeighbours).
  EmulatedSlowdowns(const Machine& machine, const RuntimeModel& model, Executor& executor)
      : model_(model), executor_(executor), rates_(machine, true) {}

  /// The job has been launched on these cores. `traced` must stay until forget().
  void come(const TracedJob& traced, const Allocation& on);
  /// It is to go to other cores of its nodes; it is there, or stays where it is, as the order has failed. Nothing happens for a
  /// job that has not come.
  void order_move(JobId job, const Allocation& to);
  void move(JobId job);
  void stay(JobId job);
  /// It leaves its cores for a while.
  void leave(JobId job);
  void come_back(JobId job);
  /// It has ended. Nothing happens for a job that has not come.
  void forget(JobId job);

 private:
  struct Known {
    const TracedJob* traced;
    Allocation on;
    std::optional<Allocation> moves_to{};  // ordered, not answered
    double told = 1;
  };
  void enter(Known& known);
  void ask(JobId job, const Allocation& on, const Surroundings& around);

  const RuntimeModel& model_;
  Executor& executor_;
  SharedRates rates_;
  std::unordered_map<JobId, Known> jobs_;
};

}  // namespace replay::live
