// One job on this node, from mpiexec's start until nothing of it is left. Its state follows from three sources:
// mpiexec's exit, the pidfds of the ranks that registered, and the segment in which each rank reports its progress;
// mpiexec's exit code alone is unreliable. Its end is reported once, when /proc shows no process of it any more. One
// source file per question: agent_job_start.cpp, _orders.cpp, _watch.cpp, _end.cpp, and agent_job.cpp for its ranks and
// what they have used.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "launcher/agent/cores/job_segment.hpp"
#include "launcher/agent/cores/node_cores.hpp"
#include "launcher/agent/cores/rank_move.hpp"
#include "launcher/agent/job/cpu_use_meter.hpp"
#include "launcher/agent/job/end_cost.hpp"
#include "launcher/agent/registrar.hpp"
#include "launcher/loop/loop_event.hpp"
#include "launcher/mpich/job_network.hpp"
#include "launcher/os/control_group.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

/// What all jobs of an agent share; outlives them.
struct AgentSite {
  event_base* loop = nullptr;
  const Topology* topology = nullptr;
  NodeCores* cores = nullptr;
  EndCost* end_cost = nullptr;
  JobNetwork network = JobNetwork::kHost;
  bool is_emulated = false;  ///< cores are virtual: ranks are not bound, and only programs fit for emulation run
  std::chrono::microseconds quantum{0};
  std::chrono::milliseconds registration_limit{0};
  std::chrono::milliseconds registration_limit_per_rank{0};
  std::filesystem::path mpiexec;    ///< empty: looked up on PATH
  std::filesystem::path vmlib;      ///< empty: every job is rigid
  std::filesystem::path directory;  ///< private
  std::filesystem::path socket;
  std::function<void(const protocol::AgentReport&)> report;
  /// Called once, when the job has reported its end; it may be destroyed soon after, not during the call.
  std::function<void(JobId)> retire;
  const ControlGroup* group = nullptr;  ///< of this agent's jobs; null: no control group can be made here
  /// Processes that belong to the job with this key, and to no living mpiexec, as far as one can see without a group.
  std::function<std::vector<pid_t>(const std::string& key)> orphans_of;
};

/// How long a killed job's processes have until SIGKILL.
enum class Patience : std::uint8_t {
  kNormal,   ///< SIGTERM, 1.5 s, SIGKILL: two seconds after the order nothing is left
  kHurried,  ///< SIGTERM, 0.5 s, SIGKILL: the daemon is gone, or the program has hardly begun
  kNone      ///< SIGKILL
};

/// The end of a reason why a job cannot run on emulated cores.
inline constexpr std::string_view kOnlyFitPrograms =
    "on emulated cores only programs that do their work through vm_burst() run, such as phases";

class AgentJob {
 public:
  AgentJob(const AgentSite& site, protocol::LaunchJob order);

  /// Starts mpiexec. A failure is reported as the job's end.
  void launch();

  [[nodiscard]] JobId id() const { return order_.job; }
  [[nodiscard]] const JobKey& key() const { return key_; }
  /// 0: none, or reaped already.
  [[nodiscard]] pid_t mpiexec_pid() const { return phase_ == Phase::kRunning ? mpiexec_ : 0; }

  /// The slot and the segments, or a refusal. A program that is not fit for emulated cores is refused, and its job
  /// ends.
  [[nodiscard]] Admission admit(const replay_vm_hello& hello);
  void add_rank(const replay_vm_hello& hello, UniqueFd stream);

  /// Carried out once the job has started, in the order given.
  using LaterOrder = std::variant<protocol::MoveRanks, protocol::SuspendJob, protocol::ResumeJob>;
  void carry_out(const LaterOrder& order);
  void end(Outcome outcome, Patience patience);
  [[nodiscard]] bool is_to_end() const { return asked_outcome_ || found_broken_; }

  /// `status` as waitpid gives it.
  void on_mpiexec_exit(int status);
  /// Once a second.
  void measure();
  [[nodiscard]] protocol::JobStatistics statistics() const;

 private:
  enum class Phase : std::uint8_t { kRunning, kLeaving, kOver };
  enum class Form : std::uint8_t { kUnknown, kMalleable, kRigid };
  /// What the current order waits for; later orders are queued.
  enum class Busy : std::uint8_t { kNo, kMoving, kStopping };

  struct Rank {
    std::optional<Process> process;  ///< none: has not registered
    UniqueFd stream;
    std::unique_ptr<LoopEvent> exit_event;
    CpuUseMeter meter;
    bool is_gone = false;
    bool is_finalized = false;
    [[nodiscard]] bool is_running() const { return process.has_value() && !is_gone; }
  };

  /// The slot, or a refusal.
  [[nodiscard]] int slot_for(const replay_vm_hello& hello);

  // Start.
  [[nodiscard]] std::optional<std::string> why_it_cannot_start();
  [[nodiscard]] std::string why_no_vmlib() const;
  [[nodiscard]] JobFacts facts() const;
  void take_cores();
  [[nodiscard]] std::string preload_text() const;
  [[nodiscard]] std::chrono::milliseconds registration_limit() const;
  void start_processes();
  void write_description(const std::filesystem::path& mpiexec, const std::vector<std::string>& arguments) const;
  void put_into_a_group();
  void on_registration_timeout();
  void look_whether_running();
  void declare_started();
  void declare_rigid(const std::string& reason);
  void declare(Form form, const std::string& reason);
  [[nodiscard]] std::vector<std::pair<std::size_t, Process>> ranks_below_hydra() const;
  void read_masks_back();
  void put_on_its_core(std::size_t rank, pid_t pid) const;
  [[nodiscard]] std::string describe_unregistered() const;

  // Orders.
  void apply(const protocol::MoveRanks& order);
  void apply(const protocol::SuspendJob& order);
  void apply(const protocol::ResumeJob& order);
  void apply_waiting();
  void refuse(std::string_view action, const std::string& reason);
  [[nodiscard]] std::optional<std::string> why_not_move(const std::vector<std::int32_t>& core_of_rank) const;
  void bind_ranks(const std::vector<std::int32_t>& core_of_rank) const;
  void bind_or_go_back(const std::vector<std::int32_t>& core_of_rank) const;
  void finish_move();
  void stop_processes() const;
  [[nodiscard]] bool has_stopped() const;
  void finish_suspend();
  void wait_for(Busy what, std::chrono::milliseconds limit);
  void look_again();
  [[nodiscard]] std::vector<Process> program_processes() const;

  // Watch.
  void look_after();
  void watch_proxy();
  void on_proxy_exit();
  void fail_unless_noticed(const std::string& reason);
  void fail_unless_noticed(const std::string& reason, std::chrono::milliseconds within);
  void on_nobody_noticing();
  [[nodiscard]] std::string who_is_stopped() const;
  [[nodiscard]] std::optional<std::size_t> rank_that_left_early() const;
  bool end_if_a_rank_left_early();
  [[nodiscard]] std::vector<Process> strays() const;
  void end_strays();
  void expect_strays();

  // End.
  void break_off(const std::string& reason);
  void ask_to_leave(Patience patience);
  void on_sigterm_in_vain();
  void on_rank_exit(std::size_t rank);
  void kill_everything();
  void leave();
  void finish();
  void learn_end_cost(const JobEnd& end) const;
  [[nodiscard]] JobEnd judge() const;
  [[nodiscard]] JobEnd failure(std::string_view output) const;
  [[nodiscard]] std::string last_error_line() const;

  /// Whether each rank has its core to itself, among the ranks of all jobs.
  [[nodiscard]] bool is_expanded() const;
  void advance_meters();
  [[nodiscard]] double cpu_use() const;
  [[nodiscard]] std::size_t registered() const;
  void note(const std::string& text) const;

  const AgentSite& site_;
  protocol::LaunchJob order_;
  std::vector<std::int32_t> core_of_rank_;
  JobKey key_;
  std::string key_text_;
  std::unique_ptr<JobSegment> segment_;  // none: vmlib is not preloaded
  std::string no_vmlib_reason_;
  std::optional<ControlGroup> group_;  // none: strays are recognised by parent and environment
  std::vector<Rank> ranks_;
  std::deque<LaterOrder> waiting_;
  std::optional<RankMove> move_;  // the current one

  Phase phase_ = Phase::kRunning;
  Form form_ = Form::kUnknown;
  bool is_suspended_ = false;
  std::chrono::milliseconds next_look_at_masks_{100};
  Busy busy_ = Busy::kNo;
  std::chrono::steady_clock::time_point busy_until_;
  pid_t mpiexec_ = 0;
  UniqueFd out_, err_;  // the job's, opened before it could rename them
  int exit_status_ = 0;
  std::optional<Outcome> asked_outcome_;     // ended by end(), with this outcome
  std::optional<std::string> found_broken_;  // ended by this class, for this reason
  std::string stopped_;                      // the processes that were stopped from outside when it was to end
  bool were_strays_seen_ = false;
  std::optional<Process> proxy_;
  std::unique_ptr<LoopEvent> proxy_event_;
  LoopEvent registration_timer_;
  LoopEvent init_timer_;
  LoopEvent mask_timer_;
  LoopEvent order_timer_;
  LoopEvent unnoticed_timer_;
  LoopEvent stray_timer_;
  LoopEvent kill_timer_;
  LoopEvent leave_timer_;
  std::string unnoticed_;  // a failure that we have seen and mpiexec perhaps has not
};

}  // namespace replay::launcher
