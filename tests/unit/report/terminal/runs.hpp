// Runs at one instant, as records, for tests of their pictures.
#pragma once

#include <algorithm>
#include <vector>

#include "scheduler/report/terminal/run_frame.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::report {

using metrics::Records;

[[nodiscard]] inline WatchedRun watched(const Records& records) {
  RunWatcher watcher;
  records.feed(watcher);
  return watcher.run();
}

[[nodiscard]] inline std::string picture(const Records& records, const FrameChoice& choice) {
  return run_frame(watched(records), choice).frame.to_text();
}

[[nodiscard]] inline FrameChoice screen(int columns, int rows, bool utf8 = false) {
  FrameChoice choice;
  choice.columns = columns;
  choice.rows = rows;
  choice.utf8 = utf8;
  choice.has_keys = true;
  choice.all_jobs = 10;
  return choice;
}

/// `processes` of a job on cores from `first` on, `mpl` on each.
[[nodiscard]] inline std::vector<test::OnCore> on_cores(int first, int processes, int mpl = 1) {
  std::vector<test::OnCore> on;
  for (; processes > 0; processes -= mpl) on.push_back({first++, std::min(processes, mpl)});
  return on;
}

/// Job 7 was shrunk to make room for job 8; job 9 waits.
[[nodiscard]] inline Records two_cores() {
  return Records("1x1x2")
      .header("policy", "fcfs-malleable")
      .submit(0, 7, 2, 10)
      .launch_on(0, 7, on_cores(0, 2))
      .submit(1, 8, 1, 5)
      .resized_on(1, 7, on_cores(0, 2, 2), 2)
      .launch_on(1, 8, on_cores(1, 1))
      .submit(2, 9, 2, 5);
}

/// Jobs that are shrunk, share cores, are suspended, have failed; a queue.
[[nodiscard]] inline Records sixty_four_cores() {
  Records run("emulated:16x2x2");
  run.header("policy", "scojo-pect");
  for (int job = 1; job <= 6; ++job) run.submit(0, job, 4 * job, 60);
  run.launch_on(0, 1, on_cores(0, 4))
      .launch_on(1, 2, on_cores(4, 8, 2), 2)
      .launch_shared(2, 3, on_cores(16, 12))
      .launch_shared(2, 4, on_cores(24, 16, 2), 2)
      .launch_on(3, 5, on_cores(40, 20))
      .suspended(10, 5)
      .submit(11, 12, 1, 5)
      .launch_on(11, 12, on_cores(63, 1))
      .finish(12, 12, {Outcome::kFailed, 3, Verification::kNone, -1, "rank 0: no such file"});
  for (int job = 20; job < 29; ++job) run.submit(13, job, job - 19, 60);
  return run;
}

/// Jobs of `processes` processes side by side on all cores but the last `idle` ones.
[[nodiscard]] inline Records full(const std::string& machine, int cores, int processes, int idle) {
  Records run(machine);
  run.header("policy", "easy");
  for (int first = 0, job = 1; first + processes <= cores - idle; first += processes, ++job)
    run.submit(job, job, processes, 60).launch_on(job, job, on_cores(first, processes));
  return run;
}

}  // namespace replay::report
