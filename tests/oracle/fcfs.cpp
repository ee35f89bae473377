#include "tests/oracle/fcfs.hpp"

#include "tests/oracle/rigid_run.hpp"

namespace replay::oracle {

Schedule fcfs(const Workload& workload) {
  RigidRun run{workload};
  return run.run(PassRule::kInstant, [&](const Happened&) {
    while (!run.waiting().empty()) {
      const std::size_t head = run.waiting().front();
      if (run.plan_of_running().free_at(run.now()) < run.job(head).processes) break;
      run.start(head);
    }
    return kNever;
  });
}

}  // namespace replay::oracle
