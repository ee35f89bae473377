// The controller, the one brain of both bodies. It turns events into orders: it asks the policy for decisions, enters
// them in the plan, and orders the body to carry them out as soon as that is possible. Cores change hands in two steps:
// a shrink, suspend or kill is ordered, and only when the body reports that the processes have left do the cores go to
// the job that was started on them (core_ledger.hpp). In `sim` that is the same instant. Jobs that share cores because
// their policy wants it are together on them both by the plan and physically.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/base/pool.hpp"
#include "scheduler/core/core_ledger.hpp"
#include "scheduler/core/job_life.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/order.hpp"
#include "scheduler/policy/view/decision.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "scheduler/policy/view/view.hpp"
#include "scheduler/runtime_model/declared_rate.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/runtime_model/shared_rates.hpp"

namespace replay {

enum class Overrun : std::uint8_t {
  kKill,    ///< at the end of its budget a job is killed
  kExtend,  ///< the estimate grows by 10 % of the request, at least 60 s
  kPolicy,  ///< as Policy::more_time() says
  kNone     ///< nothing: it runs on
};

struct ControllerOptions {
  Overrun overrun = Overrun::kKill;
  /// Real runs: how long after its estimated end a job may still run before it has overrun. Empty: not at all.
  std::function<Duration(const Job&)> grace;
  Duration zero_time_of_day{};     ///< ClusterView
  Instant machine_until = kNever;  ///< the same
  /// Real runs: the body reports Begun, and time limits count from then. False: from the launch.
  bool reports_begin = false;
};

/// Why a run ends early in which so many jobs were cancelled by Controller::cancel_held_back().
[[nodiscard]] std::string held_back_text(std::size_t jobs);

class Controller {
 public:
  /// All references must outlive the controller. Jobs of Submit events must outlive their Finish.
  Controller(const Machine& machine, Policy& policy, const RuntimeModel& model, log::Sink& log,
             ControllerOptions options);

  /// Takes what happened at `now`, plus the timers that are due, and returns what the body has to do, in order; each
  /// allocation is complete. The result is valid until the next call. REQUIRES: `now` never goes back.
  Orders handle(Instant now, std::span<const Event> events);

  /// The policy's failure that ends the run: a PolicyError; nullptr if there is none. The policy has asked for
  /// something impossible, or one of its invariants is broken. From then on it is not called any more and nothing new
  /// is decided, but handle() takes events as before, so that the body can bring the run to an orderly end with
  /// interrupt().
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

  /// handle() must be called at this instant even if nothing happens; kNever if there is no such instant.
  [[nodiscard]] Instant next_timer() const;

  /// Nothing waits, is held back or runs.
  [[nodiscard]] bool idle() const { return jobs_.empty(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::size_t running() const { return running_.size(); }

  /// Jobs that need more cores than there will ever be (docs/formats/nodes-csv.md), or were put off: the policy does not see
  /// them.
  [[nodiscard]] std::size_t held_back() const { return held_back_.size(); }
  /// Cancels them, and returns which.
  std::vector<JobId> cancel_held_back(Instant now);
  /// Jobs with processes on the node, or that would come back to it, in start order.
  [[nodiscard]] std::vector<JobId> jobs_on(NodeId node) const;

  /// Ends the run early: cancels what waits, for `reason`, and returns the kills of what runs.
  Orders interrupt(Instant now, const std::string& reason = "the run was interrupted");
  /// Cancels what waits, for `reason`; what runs goes on.
  void cancel_waiting(Instant now, const std::string& reason);

 private:
  // A job that was started.
  struct Managed {
    RunningJob* running = nullptr;
    Holding holding;         // physically
    Instant suspended_at{};  // when it left its cores, the last time
    Instant may_begin{};     // its limit counts from here, plus RunningJob::begun_after

    [[nodiscard]] JobId id() const { return running->job->id; }
    [[nodiscard]] JobState state() const { return running->state; }
    [[nodiscard]] bool is_being_killed() const { return state().planned == Planned::kEnds; }
    [[nodiscard]] std::optional<JobStep> next_order() const {
      return replay::next_order(state(), holding.cores(), running->allocation);
    }
  };
  struct Known {
    const Job* declared = nullptr;
    Managed* started = nullptr;  // null: it waits
  };

  void end_all(Instant now, const std::string& reason, bool with_running);
  void take(const Event& event);
  bool heed(const Event& event);
  // What an event changes. Each returns whether it asks for a pass.
  bool apply(const Adopted& event);
  bool apply(const Submit& event);
  bool apply(const Finish& event);
  bool apply(const Begun& event);
  bool apply(const Started& event);
  bool apply(const Resized& event);
  bool apply(const Suspended& event);
  bool apply(const Resumed& event);
  bool apply(const Measured& event);
  bool apply(const Cancel& event);
  bool apply(const ActionFailed& event);
  bool apply(const StartDelayed& event);
  bool apply(const NodeChange& event);
  bool apply(const Requeue& event);
  bool apply(const PutOff& event);
  bool apply(const PutBack& event);

  void forget_start(Managed& job);
  /// The job that was started is not any more. To the policy it has left.
  const Job& take_back(Managed& job);
  /// It waits again.
  void put_back(Managed& job) { enter_queue(take_back(job)); }
  void hold_back(const Job& job);
  /// False: it is held back.
  bool enter_queue(const Job& job);
  [[nodiscard]] CoreCount needed(const Job& job) const;
  void take_in_nodes();
  void follow_capacity();
  void pin_or_release();

  void resume_asleep(Managed& job);
  void move_on(Managed& job, const Allocation& to);
  Managed& start(Known& known, Allocation on, ProcessCount processes);
  [[nodiscard]] Instant limit_of(const RunningJob& job) const;
  void note_estimates_that_are_over();
  void handle_overruns();
  void overrun(Managed& job);
  bool wakes_are_due();
  void pass();
  template <class Question>
  void ask(Question question);
  [[nodiscard]] ClusterView view() const {
    return {now_,
            machine_,
            cores_.planned(),
            waiting_,
            running_,
            triggers_,
            &rate_,
            resizes_to_any_size_,
            options_.zero_time_of_day,
            options_.machine_until};
  }

  // What a decision of the policy changes in the plan.
  void adopt(Start& decision);
  void adopt(Resize& decision);
  void adopt(Suspend& decision);
  void adopt(Resume& decision);
  void adopt(Kill& decision);
  void adopt(Extend& decision);
  void adopt(WakeAt& decision);
  void adopt(Note& decision);
  void adopt(Told& decision);

  /// False, and nothing is changed, if the step is out of turn.
  bool take_step(Managed& job, JobStep step);
  void follow_plan(RunningJob& job, Planned before);
  void extend(Managed& job, Duration by);
  /// Ends it here if it is not launched.
  void kill(Managed& job, KillReason reason);
  void order_end(const Managed& job, KillReason reason);
  /// If the plan and the job's processes differ: its next order goes out as soon as that is possible.
  void want_order(Managed& job);
  void issue_what_is_possible();
  bool issue(Managed& job, JobStep order);
  void begin_to_run(Managed& job);

  // Processes have come to cores, or are about to leave them: both set the neighbours' rates, on_cores() also the
  // job's.
  void on_cores(Managed& job);
  void off_cores(Managed& job);
  void ask_rate_again(JobId id, const Allocation& on, const Surroundings& around);
  void set_rate(Managed& job, double rate);
  /// nullptr if it was not started, or has ended.
  [[nodiscard]] Managed* started(JobId id) {
    const Known* const job = jobs_.find(id);
    return job == nullptr ? nullptr : job->started;
  }
  Managed& running_job(JobId id, const char* action);
  template <class What, class... Parts>
  void write(Parts&&... parts) {
    if (!wanted_.test(log::kKind<What>)) return;
    log_.record({now_, log::What{std::in_place_type<What>, std::forward<Parts>(parts)...}});
  }

  const Machine& machine_;
  Policy& policy_;
  DeclaredRate rate_;
  log::Sink& log_;
  log::Kinds wanted_;  // the kinds that log_ uses
  ControllerOptions options_;
  PassRule pass_rule_;
  bool chooses_sizes_;
  bool resizes_to_any_size_;  // ClusterView

  Instant now_ = Instant::min();
  CoreLedger cores_;
  SharedRates shared_;  // of the jobs as they declare themselves, by where their processes really are
  WaitingQueue waiting_;
  RunningSet running_;
  std::vector<const Job*> held_back_;  // by arrival
  JobMap<Known> jobs_;                 // submitted and not ended: those of waiting_, running_ and held_back_
  Pool<Managed> managed_;
  std::vector<Managed*>
      pending_;  // to get an order, or one after the answer to the last; in the order of the decisions
  std::vector<Managed*> past_estimate_;
  std::vector<RunningJob*> over_;  // of note_estimates_that_are_over()
  std::vector<Instant> wakes_;     // descending, none twice: the next one is the last
  std::uint64_t starts_ = 0;
  std::exception_ptr failure_;

  std::vector<Trigger> triggers_;
  Decisions decisions_;
  std::vector<Order> orders_;
};

}  // namespace replay
