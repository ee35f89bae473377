// A run of rigid jobs in virtual time, event by event: the part that all oracles for rigid jobs share around their
// passes. Section 1 of the readings: with pass=instant, one instant is terminations, submissions, estimates reached,
// planned starts, and one pass; with pass=event, submissions come first and a pass follows each single event, and a
// running job at its estimated end counts as free in planning. Jobs are taken back before all of that (docs/formats/swf.md),
// those that are submitted at that instant after the submissions and ends. Before all else comes what happens to nodes,
// as one event: with the ends of the jobs that are lost, and the jobs that are held back or wait again.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tests/oracle/nodes.hpp"
#include "tests/oracle/plan.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class PassRule : std::uint8_t { kEvent, kInstant };

struct Running {
  std::size_t job;
  Time start;
  Time estimated_end;
  Time end;  ///< no policy may use it
  bool is_killed;
  Time counted;  ///< the end that the last pass assumed
  OnNodes cores;
};

/// The input of a pass. With pass=event it is a single event.
struct Happened {
  struct End {
    std::size_t job;
    bool early;  ///< before the end that the last pass assumed
  };
  std::vector<End> ended;
  std::vector<std::size_t> left;       ///< taken back while they waited, or held back
  std::vector<std::size_t> submitted;  ///< or waiting again
  bool is_hidden = false;              ///< of a job that is held back: no policy sees it
  bool nodes_changed = false;
  bool is_longer = false;  ///< a running job or a closed node counts as ending later than at the last pass
  bool is_late = false;    ///< a running job is past its estimate, and counts as ending in the next tick
  std::vector<std::size_t> at_estimate;  ///< Overrun::kPolicy: in start order; the pass extends or kills each of them
};

class RigidRun {
 public:
  explicit RigidRun(const Workload& workload);

  /// Calls `pass(Happened)` as the rule says until no event is left. The pass starts jobs and returns when to call it
  /// again if nothing happens before: kNever, or an instant after now.
  [[nodiscard]] Schedule run(PassRule rule, const std::function<Time(const Happened&)>& pass);
  /// The next instant of run() with pass=instant, or the timer if that comes first; nothing is called.
  void go_to_next_instant(Time timer);

  // For use in a pass:
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] int cores() const { return workload_.cores(); }
  /// At the size that was chosen for it, if one was.
  [[nodiscard]] const Job& job(std::size_t index) const { return jobs_[index]; }
  [[nodiscard]] const Job& as_submitted(std::size_t index) const { return workload_.jobs[index]; }
  /// In the order of their submission: by (submit, number).
  [[nodiscard]] const std::vector<std::size_t>& waiting() const { return waiting_; }
  /// Running jobs with their estimated ends; without those that count as free in planning.
  [[nodiscard]] std::vector<Running> planned_running() const;
  /// What jobs and closed nodes have of the machine, as a plan.
  [[nodiscard]] Plan plan_of_running() const;
  /// Cores of open nodes that no job holds, whether its estimate is over or not.
  [[nodiscard]] int idle_cores() const;
  /// REQUIRES: the job waits, and fits what planned_running() leaves.
  void start(std::size_t index);
  /// REQUIRES: the job runs; also for kill().
  void extend(std::size_t index, Time by);
  void kill(std::size_t index);
  /// From now on the job is this one. REQUIRES: it waits.
  void replace(std::size_t index, const Job& job) { jobs_[index] = job; }

  /// How a policy expects this run to go on: all jobs take as long as they are estimated, none of `absent` waits, and no
  /// further job comes.
  [[nodiscard]] RigidRun as_estimated(const std::vector<std::size_t>& absent) const;

 private:
  [[nodiscard]] Time run_time(const Job& job) const;
  [[nodiscard]] Time counted_end(const Running& running) const;
  [[nodiscard]] Time next_instant(Time timer) const;
  void take_instant(Happened& happened);
  bool take_nodes(Happened& happened);
  void lose(Happened& happened, std::vector<std::size_t>& again, std::size_t node);
  void wait(Happened& happened, std::size_t index);
  bool take_back(Happened& happened, Time submitted_before);
  [[nodiscard]] Time taken_back_at(std::size_t index) const;
  bool take_end(Happened& happened, Time started_before);
  bool take_kill(Happened& happened);
  bool end(Happened& happened, std::vector<Running>::iterator found);
  bool take_submission(Happened& happened);
  bool take_extension();
  [[nodiscard]] std::vector<Running>::iterator running(std::size_t index);
  [[nodiscard]] std::vector<Use> uses(bool planned) const;

  const Workload& workload_;
  std::vector<Job> jobs_;
  Time now_ = 0;
  std::size_t submitted_ = 0;  // number of jobs so far
  Nodes nodes_;
  std::vector<std::size_t> waiting_;
  std::vector<std::size_t> held_;  // waiting for more nodes than will ever be there
  std::vector<Running> running_;   // in the order of their starts
  Schedule schedule_;
};

}  // namespace replay::oracle
