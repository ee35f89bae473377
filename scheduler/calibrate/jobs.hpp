// MPI programs under a node agent, several at once, in order to be measured: started, moved and ended with the same orders
// as a trace's jobs, so that their launch, end and resizes are those of trace jobs. Calls block. A stop signal that is heeded ends
// the present one by calibrate::Interrupted; what still runs is ended with this object.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_client.hpp"
#include "launcher/loop/loop_event.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/program/output.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::calibrate {

using Words = std::vector<std::string>;
using Cores = std::vector<std::int32_t>;

/// A job that is over.
struct FinishedJob {
  double launch_s = -1;  ///< from the order to all ranks being registered; -1: it ended before
  double ran_s = 0;      ///< from then (or from the order) to the last process being gone
  bool malleable = false;
  std::string rigid_reason;
  JobEnd end;
  std::string output, errors;  ///< what rank 0 and its like have written

  [[nodiscard]] bool is_good() const {
    return launch_s >= 0 && end.outcome == Outcome::kCompleted && end.verification != Verification::kFailed;
  }
  /// It was right, and over before all its ranks had been seen.
  [[nodiscard]] bool came_and_went() const { return launch_s < 0 && end.outcome == Outcome::kCompleted; }
};

class CalibrateJobs {
 public:
  /// Forks the agent. REQUIRES: a single thread.
  explicit CalibrateJobs(const launcher::AgentOptions& options);
  ~CalibrateJobs();
  /// After all agents have been forked.
  void connect();

  [[nodiscard]] JobId launch(const Words& command, const Cores& core_of_rank);
  /// Until all ranks are registered, or the job is over.
  void wait_until_started(JobId job);
  [[nodiscard]] bool is_over(JobId job) const { return jobs_.at(job).end.has_value(); }
  /// Seconds from the order to all ranks being there; nothing if that was refused, or the job is over.
  [[nodiscard]] std::optional<double> move(JobId job, const Cores& core_of_rank);
  /// Waits for its end. A job that takes longer than kLongest is ended, and then has not completed.
  [[nodiscard]] FinishedJob finish(JobId job);
  /// Ends it.
  void end(JobId job);
  void pause(std::chrono::milliseconds length);

  /// From here on the load of others is measured.
  void watch_load();
  /// Share of the machine's CPU time that others than our ranks have used since; nothing if that was too short to say.
  [[nodiscard]] std::optional<double> load() const;

  static constexpr std::chrono::minutes kLongest{20};

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    std::unique_ptr<TemporaryFolder> folder;
    Clock::time_point ordered{}, started_at{}, ended_at{};
    std::optional<protocol::JobStarted> started;
    std::optional<JobEnd> end;
    int answers = 0;  // to moves
    bool is_refused = false;
    double cpu_s = 0;  // of its ranks, as last heard
  };
  // The machine and our part of it at one instant.
  struct Mark {
    experiment::MachineTime machine;
    double own_s = 0;
  };

  template <typename Condition>
  bool wait_until(Condition condition, std::chrono::milliseconds limit);
  /// Throws what has happened meanwhile.
  void check() const;
  void ask_all();
  template <typename Report>
  void on(const Report& /*report*/) {}
  void on(const protocol::JobStarted& report);
  void on(const protocol::RanksMoved& report);
  void on(const protocol::OrderFailed& report);
  void on(const protocol::JobStatistics& report);
  void on(const protocol::JobEnded& report);

  launcher::AgentHandle agent_;
  launcher::EventBase loop_;
  std::map<JobId, Job> jobs_;
  std::int64_t last_job_ = 0;
  double ended_cpu_s_ = 0;
  std::optional<Mark> first_, last_;
  std::string broken_;  // what must not be thrown through the event loop
  std::unique_ptr<launcher::LoopEvent> sample_event_;
  std::unique_ptr<launcher::AgentClient> client_;  // last: it uses the others
};

}  // namespace replay::calibrate
