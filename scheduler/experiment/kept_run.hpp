// A run whose jobs outlive its daemon (--keep-jobs): what the first record of its turn log says, so that the next daemon finds
// the jobs and the time again (docs/formats/turn-log.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/daemon/agent_link.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/live/turn_log.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/results/recorder.hpp"

namespace replay::experiment {

/// The agents of a run, and the sessions with them.
struct KeptAgents {
  struct Node {
    std::string host;     ///< empty: of a machine without names of hosts
    std::string address;  ///< "127.0.0.1:40123"
    protocol::SessionId session{};
    protocol::Hello hello{};  ///< its cores
  };
  protocol::LinkKey key{};  ///< all zero: that of --agent-key, which is not kept
  std::vector<Node> nodes;
  bool are_gone = false;  ///< not kept: all have ended, and their jobs with them
};

/// A lock that the agents of this computer have as long as a process of them lives, and their daemon: of a file, which is made, or
/// of a folder. They inherit it, and each may have it beside others.
class AgentsLock {
 public:
  /// Throws InputError.
  explicit AgentsLock(const std::filesystem::path& file);
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  UniqueFd file_;
};

/// Whether it is certain that no process has this lock.
[[nodiscard]] bool is_free_of_agents(const std::filesystem::path& file);

struct KeptRun {
  std::string boot;            ///< of the kernel that the daemon ran on
  std::int64_t steady_us = 0;  ///< the run's begin by that kernel's CLOCK_MONOTONIC
  std::int64_t unix_us = 0;    ///< and by the wall clock
  Instant begin{};             ///< of the run: zero of a trace, of a service when its period began
  std::uint64_t folder = 0;    ///< of the run: its inode. A copy is another one
  KeptAgents agents;

  /// A run that begins now.
  [[nodiscard]] static KeptRun now(KeptAgents agents, Instant begin = {});
  /// Throws InputError naming `file` and the member that is missing or wrong.
  [[nodiscard]] static KeptRun parse(const std::string& text, const std::string& file);
  [[nodiscard]] std::string to_text() const;

  /// By the clock of this process; after a restart of the computer, by the wall clock.
  [[nodiscard]] std::chrono::steady_clock::time_point started() const;
};

/// Of a run in this folder. Throws InputError: it cannot be read, is damaged, or that of a copy.
[[nodiscard]] KeptRun read_kept_run(const std::filesystem::path& folder);
/// If the run in this folder began in another one, of which this is a copy: its agents. Nothing, too, if that cannot be read.
[[nodiscard]] std::optional<KeptAgents> agents_of_copy(const std::filesystem::path& folder);

/// The turn log in a run's folder, and the event log beside it. Of a run that goes on the event log is written again by what is
/// played back, and has to come out the same.
class Keeping {
 public:
  /// A run that begins; `before`: with the jobs of another one (live::TurnLog). Throws InputError.
  Keeping(const std::filesystem::path& folder, const KeptRun& run, std::vector<live::TurnLog::Input> before = {});
  /// One that goes on. Throws InputError: there is no turn log, it is damaged, another process has it, or the folder is a copy.
  explicit Keeping(const std::filesystem::path& folder);
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;
  /// Puts the event log back, if it has not come out the same.
  ~Keeping();

  [[nodiscard]] const KeptRun& run() const { return run_; }
  [[nodiscard]] bool goes_on() const { return turns_.goes_on(); }
  /// It has begun with jobs of another run.
  [[nodiscard]] bool has_adopted() const;
  /// Before the recorder is made.
  void put_log_aside();
  /// `recorder` outlives the run. `then` is called when all has been played back, and the event log has come out the same.
  void tell(live::RunOptions& options, results::Recorder& recorder, std::function<void()> then = {});

 private:
  void compare_logs();

  std::filesystem::path log_, before_;
  live::TurnLog turns_;
  KeptRun run_;
  bool is_aside_ = false;
};

}  // namespace replay::experiment
