// An executor without processes, for tests of the live engine: jobs are timers on the engine's loop. Ranks compute all
// the time, so the speed of a job follows from the fullest of its cores, counting the ranks of all jobs that are not
// suspended. It answers orders after a short delay, and can make a job fail.
#pragma once

#include <event2/event.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/live/executor.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/progress.hpp"

namespace replay::test {

class FakeExecutor final : public live::Executor {
 public:
  /// Real run time of each job, expanded.
  explicit FakeExecutor(std::map<JobId, Duration> runtimes);
  ~FakeExecutor() override;

  void attach(event_base* loop, live::ExecutorListener* listener) override;
  void detach() override;
  void launch(const live::LaunchOrder& order) override;
  void resize(JobId job, const std::vector<CoreId>& core_of_rank) override;
  void suspend(JobId job) override;
  void resume(JobId job) override;
  void end(JobId job, Outcome reason) override;
  void slow_down(JobId job, double slowdown) override;

  /// Reports the executor as lost at once, as if the agent had died.
  void lose(const std::string& reason) { listener_->on_lost(reason); }
  /// Reports at once what has happened to a node of `machine`. With one that is down its jobs are lost.
  void change(const Machine& machine, const NodeChange& change);
  /// Reports at once that the site cannot start the job.
  void refuse(JobId job, const std::string& reason) { listener_->on_not_started(job, reason); }
  void note(JobId job, const std::string& text) { listener_->on_noted(job, text); }

  std::set<JobId> fails;                     ///< these exit with status 3
  std::map<JobId, std::string> not_started;  ///< these the site cannot start; taken out with the report
  std::map<JobId, Duration> begins_after;    ///< real time until their ranks have been started; of others none
  std::string last_words = "exit status 3";  ///< the reason reported for those
  int most_jobs_on_core = 1;                 ///< the limit that the policy has to keep
  bool refuses_suspension = false;           ///< such an order fails
  bool refuses_resize = false;               ///< the same
  std::string misuse;  ///< the first invalid order: too many jobs on a core, a job before its launch
  /// The cores of each job's ranks, order by order.
  std::map<JobId, std::vector<std::vector<CoreId>>> placements;
  /// As they were told, in order; they do not slow down its jobs.
  std::vector<std::pair<JobId, double>> slowdowns;
  Duration answer_after{std::chrono::milliseconds{5}};
  int orders_to_end = 1;  ///< a job ends with this many orders to end it

 private:
  struct Running {
    std::vector<CoreId> core_of_rank;
    Progress progress;
    bool asleep = false;
    int orders_to_end = 0;
  };
  struct Timer;
  void after(Duration wait, std::function<void()> what);
  void populations_changed();
  void plan_end(JobId job);
  Instant now() const;

  std::map<JobId, Duration> runtimes_;
  event_base* loop_ = nullptr;
  live::ExecutorListener* listener_ = nullptr;
  std::set<JobId> launched_;
  std::map<JobId, Running> running_;
  std::vector<std::unique_ptr<Timer>> timers_;
};

}  // namespace replay::test
