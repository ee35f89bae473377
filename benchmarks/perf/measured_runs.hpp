// Timed runs of MPI programs: by the node agent with vmlib preloaded, or by a bare mpiexec with nothing between. One
// call is one run, from its start to the last process's end; the calls block. A call throws for a program that fails or
// does not verify its result, so that no figure is made of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_session.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::bench {

using Words = std::vector<std::string>;
using Cores = std::vector<std::int32_t>;

struct MeasuredRun {
  double seconds = 0;  ///< from the start to its end
  double ran = 0;      ///< of that, under an agent, from when all its ranks had registered
  std::string output;
};

/// mpiexec with ranks bound to cores, and nothing else.
[[nodiscard]] MeasuredRun run_bare(const std::filesystem::path& mpiexec, const Words& command,
                                   const Cores& core_of_rank);

/// Runs under an agent that uses one back end for all ranks.
class AgentRuns {
 public:
  /// Forks the agent. REQUIRES: a single thread, and no connect() before: fork all agents first.
  AgentRuns(const std::filesystem::path& mpiexec, const std::filesystem::path& vmlib, launcher::BackEnd back_end,
            std::chrono::microseconds turn = std::chrono::microseconds{0});
  ~AgentRuns();
  void connect();

  [[nodiscard]] MeasuredRun run(const Words& command, const Cores& core_of_rank);

  /// The back end that ranks on shared cores are told to use: "yield" or "token".
  [[nodiscard]] std::string back_end(const Words& command, const Cores& core_of_rank);

  /// Moves a running program from `expanded` to `shrunk` and back `cycles` times, a pause between moves: seconds from each
  /// order to its acknowledgement. Fewer than that: the program was too short.
  [[nodiscard]] std::vector<double> move(const Words& command, const Cores& expanded, const Cores& shrunk, int cycles);

  struct Together {
    double seconds = 0;          ///< until the last one has ended
    std::vector<double> each;    ///< of each program, from when its ranks had registered to its end
    std::uint64_t handoffs = 0;  ///< of all ranks, as last seen
  };
  /// Starts all programs at once, each on these cores.
  [[nodiscard]] Together run_together(const std::vector<Words>& commands, const Cores& core_of_rank);

 private:
  struct Job {
    std::filesystem::path folder;
    bool has_started = false;
    std::chrono::steady_clock::time_point started_at;
    int moved = 0;
    std::optional<protocol::JobStatistics> statistics;
    std::optional<JobEnd> end;
    std::chrono::steady_clock::time_point ended_at;
  };

  JobId launch(const Words& command, const Cores& core_of_rank);
  Job& job(JobId id) { return jobs_.at(id); }
  /// The output of a job that has ended; it is forgotten. Throws unless it completed and verified.
  std::string finish(JobId id);
  template <typename Condition>
  void wait_until(Condition condition);
  void pump_for(std::chrono::milliseconds length);

  template <typename Report>
  void on(const Report& /*report*/) {}
  void on(const protocol::JobStarted& report);
  void on(const protocol::RanksMoved& report);
  void on(const protocol::JobStatistics& report);
  void on(const protocol::JobEnded& report);

  TemporaryFolder folder_;
  launcher::AgentHandle agent_;
  EventBase loop_;
  std::map<JobId, Job> jobs_;
  std::int64_t last_job_ = 0;
  std::string broken_;                              // an error to be thrown outside of the event loop
  std::unique_ptr<launcher::AgentSession> client_;  // last: it uses the others
};

}  // namespace replay::bench
