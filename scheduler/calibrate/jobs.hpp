// Runs MPI programs by an executor for measurements, several at once. They are started, moved and ended with the same
// orders as a trace's jobs, so that launch, end and resizes cost the same. Calls block. A stop signal (under
// HeedStops) makes the current call throw Interrupted. Jobs that still run end with this object.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/daemon/agent_executor.hpp"
#include "scheduler/base/file/scratch_folder.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/live/executor.hpp"
#include "scheduler/model/core_id.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::calibrate {

using Words = std::vector<std::string>;
using Cores = std::vector<CoreId>;

/// A job that has ended.
struct FinishedJob {
  double launch_s = -1;  ///< from the order until all ranks are registered; -1: it ended before
  double ran_s = 0;      ///< from then (or from the order) until the last process has exited
  bool malleable = false;
  std::string rigid_reason;
  JobEnd end;
  std::string output, errors;  ///< the last 64 KB of the job's stdout and stderr

  [[nodiscard]] bool is_good() const {
    return launch_s >= 0 && end.outcome == Outcome::kCompleted && end.verification != Verification::kFailed;
  }
  /// It completed, but ended before all its ranks had registered.
  [[nodiscard]] bool came_and_went() const { return launch_s < 0 && end.outcome == Outcome::kCompleted; }
};

/// Where jobs of a calibration run.
struct JobsPlace {
  std::filesystem::path folders{};            ///< theirs are in it, seen by all nodes; empty: in $TMPDIR, else /tmp
  std::filesystem::path working_directory{};  ///< empty: that of this process
  bool measures_load = true;                  ///< that of other processes on this machine, where the cores are
};

class CalibrateJobs final : live::ExecutorListener {
 public:
  /// Ends the executor at its own end.
  CalibrateJobs(std::unique_ptr<launcher::MeasuredExecutor> executor, JobsPlace place);
  CalibrateJobs(const CalibrateJobs&) = delete;
  CalibrateJobs& operator=(const CalibrateJobs&) = delete;
  ~CalibrateJobs() override;
  /// Call it after all agents have been forked.
  void connect();

  [[nodiscard]] JobId launch(const Words& command, const Cores& core_of_rank);
  /// Waits until all ranks are registered or the job has ended.
  void wait_until_started(JobId job);
  [[nodiscard]] bool is_over(JobId job) const { return jobs_.at(job).end.has_value(); }
  /// Moves the ranks. Returns seconds from the order until all have moved; nullopt if refused or if the job has ended.
  [[nodiscard]] std::optional<double> move(JobId job, const Cores& core_of_rank);
  /// Waits for the job's end. A job that takes longer than kLongest is killed, and so has not completed.
  [[nodiscard]] FinishedJob finish(JobId job);
  /// Kills the job and waits for its end.
  void end(JobId job);
  void pause(std::chrono::milliseconds length);

  /// Starts measuring the load of other processes.
  void watch_load();
  /// Share of the machine's CPU time used by processes other than our ranks since then; nullopt if that was too short, or
  /// is not measured.
  [[nodiscard]] std::optional<double> load() const;
  [[nodiscard]] bool measures_load() const { return place_.measures_load; }

  static constexpr std::chrono::minutes kLongest{20};

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    std::unique_ptr<ScratchFolder> folder;
    Clock::time_point ordered{}, started_at{}, ended_at{};
    bool is_started = false;
    bool malleable = false;
    std::string rigid_reason;
    std::optional<JobEnd> end;
    int answers = 0;  // to moves
    bool is_refused = false;
    double cpu_s = 0;  // of its ranks, from the last report
  };
  // The machine and our part of it at one instant.
  struct Mark {
    experiment::MachineTime machine;
    double own_s = 0;
  };

  template <typename Condition>
  bool wait_until(Condition condition, std::chrono::milliseconds limit);
  /// Throws if a stop was asked for or the connection to the agent is broken.
  void check() const;
  void ask_all();
  void on_statistics(const protocol::JobStatistics& report);
  void on_started(JobId job, bool malleable, const std::string& reason) override;
  void on_resized(JobId job) override { ++jobs_.at(job).answers; }
  void on_suspended(JobId /*job*/) override {}
  void on_resumed(JobId /*job*/) override {}
  void on_measured(JobId /*job*/, double /*cpu_use*/) override {}
  void on_ended(JobId job, const JobEnd& end) override;
  void on_not_started(JobId job, const std::string& reason) override;
  void on_action_failed(JobId job, const std::string& action, const std::string& reason) override;
  void on_node(const NodeChange& change, const std::string& host) override;
  void on_lost(const std::string& reason) override { broken_ = reason; }

  JobsPlace place_;
  EventBase loop_;
  std::map<JobId, Job> jobs_;
  std::int64_t last_job_ = 0;
  double ended_cpu_s_ = 0;
  std::optional<Mark> first_, last_;
  std::string broken_;  // why the connection broke; check() throws it, not the event loop's callback
  std::unique_ptr<LoopEvent> sample_event_;
  std::unique_ptr<launcher::MeasuredExecutor> executor_;  // last: it uses the others
};

}  // namespace replay::calibrate
