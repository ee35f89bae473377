// One job on this node, from mpiexec's start until nothing of it is left. It believes three witnesses: mpiexec's exit,
// the pidfds of the ranks that registered, and the segment in which each rank says how far it got; mpiexec's exit code
// alone lies. Its end is reported once, when /proc shows no process of it any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "launcher/cpu_use_meter.hpp"
#include "launcher/job_segment.hpp"
#include "launcher/loop_event.hpp"
#include "launcher/process.hpp"
#include "launcher/topology.hpp"
#include "launcher/unique_fd.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

/// What all jobs of an agent share; outlives them.
struct AgentSite {
  event_base* loop = nullptr;
  const Topology* topology = nullptr;
  std::filesystem::path mpiexec;    ///< empty: looked up on PATH
  std::filesystem::path vmlib;      ///< empty: every job is rigid
  std::filesystem::path directory;  ///< private
  std::filesystem::path socket;
  std::function<void(const protocol::AgentReport&)> report;
  /// Called once, when the job has reported its end; it may be destroyed soon after, not during the call.
  std::function<void(JobId)> retire;
  /// Processes that belong to the job with this key, and to no living mpiexec.
  std::function<std::vector<pid_t>(const std::string& key)> orphans_of;
};

/// How a killed job's processes are asked to go.
enum class Patience : std::uint8_t {
  kNormal,  ///< SIGTERM, 2 s, SIGKILL
  kHurried  ///< SIGTERM, 0.5 s, SIGKILL: the daemon is gone
};

class AgentJob {
 public:
  AgentJob(const AgentSite& site, protocol::LaunchJob order);

  /// Starts mpiexec. What goes wrong is reported as the job's end.
  void launch();

  [[nodiscard]] JobId id() const { return order_.job; }
  [[nodiscard]] const JobKey& key() const { return key_; }
  /// 0: none, or reaped already.
  [[nodiscard]] pid_t mpiexec_pid() const { return phase_ == Phase::kRunning ? mpiexec_ : 0; }

  /// The slot, or a refusal.
  [[nodiscard]] int admit(const replay_vm_hello& hello) const;
  void add_rank(const replay_vm_hello& hello, UniqueFd stream);

  /// Carried out once the job has started, in the order given.
  using LaterOrder = std::variant<protocol::MoveRanks, protocol::SuspendJob, protocol::ResumeJob>;
  void carry_out(const LaterOrder& order);
  void end(Outcome outcome, Patience patience);

  /// `status` as waitpid gives it.
  void on_mpiexec_exit(int status);
  /// Once a second.
  void measure();
  [[nodiscard]] protocol::JobStatistics statistics() const;

 private:
  enum class Phase : std::uint8_t { kRunning, kLeaving, kOver };
  enum class Form : std::uint8_t { kUnknown, kMalleable, kRigid };

  struct Rank {
    std::optional<Process> process;  ///< none: has not registered
    UniqueFd stream;
    std::unique_ptr<LoopEvent> exit_event;
    CpuUseMeter meter;
    bool is_gone = false;
    bool is_finalized = false;
    [[nodiscard]] bool is_running() const { return process.has_value() && !is_gone; }
  };

  // Start.
  [[nodiscard]] std::optional<std::string> why_it_cannot_start();
  void prepare_segment();
  [[nodiscard]] std::string preload_text() const;
  void start_processes();
  void on_registration_timeout();
  void look_whether_running();
  void declare_started();
  void declare_rigid(const std::string& reason);
  void declare(Form form, const std::string& reason);
  void watch_proxy();
  [[nodiscard]] std::string describe_unregistered() const;

  // Orders.
  void apply(const protocol::MoveRanks& order);
  void apply(const protocol::SuspendJob& order);
  void apply(const protocol::ResumeJob& order);
  void apply_waiting();
  void move(const std::vector<std::int32_t>& pu_of_rank);
  void refuse(std::string_view action, const std::string& reason);
  [[nodiscard]] bool is_shared(std::size_t rank) const;
  [[nodiscard]] bool is_expanded() const;
  [[nodiscard]] std::vector<Process> program_processes() const;

  // End.
  void on_rank_exit(std::size_t rank);
  void fail_unless_noticed(const std::string& reason);
  void kill_everything();
  void leave();
  void finish();
  [[nodiscard]] JobEnd judge() const;
  [[nodiscard]] JobEnd failure(std::string_view output) const;
  [[nodiscard]] std::string last_error_line() const;

  void advance_meters();
  [[nodiscard]] double cpu_use() const;
  [[nodiscard]] std::size_t registered() const;
  void note(const std::string& text) const;

  const AgentSite& site_;
  protocol::LaunchJob order_;
  std::vector<std::int32_t> pu_of_rank_;
  JobKey key_;
  std::string key_text_;
  std::unique_ptr<JobSegment> segment_;  // none: vmlib is not preloaded
  std::string no_vmlib_reason_;
  std::vector<Rank> ranks_;
  std::deque<LaterOrder> waiting_;

  Phase phase_ = Phase::kRunning;
  Form form_ = Form::kUnknown;
  bool is_suspended_ = false;
  pid_t mpiexec_ = 0;
  int exit_status_ = 0;
  std::optional<Outcome> asked_outcome_;     // somebody ended it
  std::optional<std::string> found_broken_;  // we ended it, because of this
  std::optional<Process> proxy_;
  std::unique_ptr<LoopEvent> proxy_event_;
  LoopEvent registration_timer_;
  LoopEvent init_timer_;
  LoopEvent unnoticed_timer_;
  LoopEvent kill_timer_;
  LoopEvent leave_timer_;
  std::string unnoticed_;
};

}  // namespace replay::launcher
