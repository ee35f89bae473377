// The jobs of a run in real time that the controller has launched: those that the executor has, those that the site refused to
// start, which keep their cores, and those that cannot be started alone, which wait without any. Orders of the controller and
// reports of the executor go through it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/live/adoption.hpp"
#include "scheduler/live/emulated_slowdowns.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/live/run_inputs.hpp"
#include "scheduler/model/order.hpp"

namespace replay::live {

/// Real time in which agents that wait for a daemon tell it what they have to tell, from the first one that is found.
inline constexpr std::chrono::milliseconds kHeardWithin{500};

/// What the parts of a run share.
struct RunState {
  std::vector<Event> events{};  ///< that the controller has not got
  std::string stop_reason{};    ///< of jobs that wait
  bool is_stopping = false;     ///< no job is taken from the source any more
  bool is_killing = false;      ///< the jobs that ran have been ended, too
  RunResult result{};
};

class StartedJobs {
 public:
  /// All references outlive this.
  StartedJobs(const Machine& machine, JobSource& source, Executor& executor, log::Sink& log, const RunOptions& options,
              RunInputs& inputs, RunState& run);

  void carry_out(Instant now, Orders orders);
  /// Another run has launched it.
  void adopt(JobId job, const Adopted& event, const LeftJob& left);
  /// No daemon was there from `since` on (Instant::min(): not known). Of those that run, ends that are heard as the agents are found
  /// again may have come meanwhile, and say so.
  void note_absence(Instant since);
  /// When turn() would change something; kNever: not before something happens.
  [[nodiscard]] Instant next() const;
  /// Starts again what can be.
  void turn(Instant now);

  // Reports of the executor, with clean texts.
  void on_begun(JobId job);
  void on_site_noted() { is_heard_ = true; }
  void on_started(bool malleable);
  void on_resized(JobId job);
  void on_suspended(JobId job);
  void on_resumed(JobId job);
  void on_ended(JobId job, JobEnd end);
  void on_not_started(JobId job, const std::string& reason);
  void on_action_failed(JobId job);
  /// Those that have not been started on the node wait again.
  void on_node_down(NodeId node, const std::string& reason);

  /// The executor has some.
  [[nodiscard]] bool any() const { return !launched_.empty(); }
  [[nodiscard]] bool any_put_off() const { return !put_off_.empty(); }
  /// Its user has taken it back. Nothing happens if its end follows from an order to end it.
  void cancel(JobId job, Instant now);
  /// SIGKILL for all that the executor has.
  void kill();
  /// Those that the executor has have this end, whatever it says later.
  void end_all(const JobEnd& end);
  /// Those that the site has refused leave the queue.
  void drop_refused();
  /// The run is to stop: of jobs that were to wait again nothing would come any more.
  void begin_to_stop();

 private:
  // One that the site refused to start keeps its cores until it can be started.
  struct Placed {
    Allocation on;
    Instant paid_until;  // its estimated end allows for a start then
    bool has_begun = false;
    bool is_asleep = false;
    bool was_left = false;            // note_absence()
    std::optional<Outcome> ending{};  // it has been told to end
    std::string told{};               // why it was refused, in the event log
  };

  void apply(const order::Launch& order);
  void apply(const order::Resize& order);
  void apply(const order::Suspend& order);
  void apply(const order::Resume& order);
  void apply(const order::End& order);
  void launch(JobId job, Placed placed);
  void refuse(Instant now, JobId job, Placed placed, const std::string& reason);
  void put_off(JobId job, Placed placed);
  void put_off_alone(JobId job, std::string why);
  void look_again(Instant now);
  void try_again(Instant now);
  void note_site_works(Instant now);
  void wait_again(JobId job, const std::string& reason);
  void leave_queue(JobId job);
  void add_end(JobId job, JobEnd end);
  void forget(JobId job);
  [[nodiscard]] Duration scaled(Duration real) const;
  [[nodiscard]] Instant soon() const { return now_ + scaled(options_.between_tries); }

  const Machine& machine_;
  JobSource& source_;
  Executor& executor_;
  log::Sink& log_;
  const RunOptions& options_;
  RunInputs& inputs_;
  RunState& run_;
  std::optional<EmulatedSlowdowns> slowdowns_;
  Instant now_{};  // of the orders that are carried out
  std::map<JobId, Placed> launched_;
  std::map<JobId, Placed> refused_;  // by the site; not at the executor
  std::string site_fault_;           // the site's last refusal; empty: jobs can be started, as far as is known
  Instant next_try_ = kNever;        // of refused_
  std::set<JobId> put_off_;          // jobs that cannot be started, and hold no cores
  Instant next_look_ = kNever;       // at put_off_
  Instant absent_since_ = Instant::min(), heard_until_ = Instant::min();  // note_absence()
  bool is_heard_ = false;        // what agents note about themselves, since then
  Instant trusted_at_ = kNever;  // when the site works, if it refuses nothing until then
};

}  // namespace replay::live
