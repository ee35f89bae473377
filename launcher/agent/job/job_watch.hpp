// Checks for failures that mpiexec does not see or does not report: a proxy that died, a rank that left before MPI_Init
// while the others wait for it there, children of a rank that keep Hydra's pipes open after it. Without these checks
// such a job would hold its cores for ever. docs/failures.md has the whole table.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/job/job_ending.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

class JobWatch {
 public:
  JobWatch(JobContext& job, JobEnding& ending);

  void on_started(bool is_malleable);
  /// Once a second.
  void look_after();
  /// Watches Hydra's proxy from now on, if it is there.
  void find_proxy();
  /// Whether it ended the job. Hydra takes exit code 0 for a good end, and the other ranks would wait for ever.
  bool end_if_a_rank_left_early();
  /// Schedules a check for children that the last rank has left. Nothing happens while a rank runs.
  void expect_strays();
  /// mpiexec has exited.
  void stop();

 private:
  void on_proxy_exit();
  [[nodiscard]] std::optional<std::size_t> rank_that_left_early() const;
  [[nodiscard]] bool does_a_rank_wait_in_init() const;
  void end_strays();

  JobContext& job_;
  JobEnding& ending_;
  bool is_rigid_ = false;
  bool were_strays_seen_ = false;
  std::optional<Process> proxy_;
  std::unique_ptr<LoopEvent> proxy_event_;
  LoopEvent stray_timer_;
};

}  // namespace replay::launcher
