// Whether a started job is malleable. It is when every rank has registered and reports at the end of MPI_Init that it
// can give its core away, whenever that is. When it has not happened within a limit the job counts as rigid until then,
// with a reason that names the program found instead. On emulated cores a rank that does not register computes for
// real, without a core of its own: such a job ends.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/job/job_ending.hpp"
#include "launcher/agent/job/job_watch.hpp"
#include "launcher/agent/registrar.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

class JobRegistration {
 public:
  /// Called once, unless the job ends before: `reason` says why it is rigid. Called once more when the ranks of a job
  /// that was rigid for want of them have registered.
  using OnStarted = std::function<void(bool is_malleable, const std::string& reason)>;

  JobRegistration(JobContext& job, JobEnding& ending, JobWatch& watch, OnStarted on_started);

  /// mpiexec has been started. `no_vmlib_reason` is empty when the ranks register.
  void begin(std::string no_vmlib_reason);
  void stop();

  /// The slot and the segments, or a refusal. A program that is not fit for emulated cores is refused, and its job
  /// ends.
  [[nodiscard]] Admission admit(const replay_vm_hello& hello);
  /// A rank of a job without a segment, which does not register, enters MPI_Init or has left it.
  void note_init(const replay_vm_hello& hello);
  /// A rank that was admitted.
  void add(const replay_vm_hello& hello, UniqueFd stream);

 private:
  /// The slot, or a refusal.
  [[nodiscard]] int slot_for(const replay_vm_hello& hello);
  void bind_at_start(const replay_vm_hello& hello) const;
  void on_timeout();
  void look_whether_running();
  [[nodiscard]] bool is_running_without_vmlib() const;
  [[nodiscard]] bool is_running_with_vmlib() const;
  void declare_started();
  void declare_not_yet(const std::string& reason);
  void declare_rigid(const std::string& reason);
  void declare(bool is_malleable, const std::string& reason);
  [[nodiscard]] std::string describe_unregistered() const;

  JobContext& job_;
  JobEnding& ending_;
  JobWatch& watch_;
  OnStarted on_started_;
  std::string no_vmlib_reason_;
  bool is_declared_ = false;
  bool may_register_ = true;  // some ranks have not, and could still
  LoopEvent limit_timer_;
  LoopEvent look_timer_;
};

}  // namespace replay::launcher
