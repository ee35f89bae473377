// Rigid jobs in virtual time, event by event: what every oracle of a policy for rigid jobs needs around its pass.
// Section 1 of the readings: one instant is terminations, submissions, estimates reached, planned starts, and one
// pass (pass=instant); or submissions first, and a pass after each single event (pass=event), for which a running job
// whose estimated end has come is free already in planning.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tests/oracle/plan.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class PassRule : std::uint8_t { kEvent, kInstant };

struct Running {
  std::size_t job;
  Time start;
  Time estimated_end;
  Time end;  ///< which no policy may look at
  bool is_killed;
  Time counted;  ///< the end that the last pass counted on
};

/// What a pass is told. With pass=event it is one of these things.
struct Happened {
  struct End {
    std::size_t job;
    bool early;  ///< before the end that the last pass counted on
  };
  std::vector<End> ended;
  std::vector<std::size_t> submitted;
  bool is_longer = false;                ///< a running job counts as ending later than at the last pass
  bool is_late = false;                  ///< a running job is past its estimate, and counts as ending in the next tick
  std::vector<std::size_t> at_estimate;  ///< Overrun::kPolicy: by their starts; the pass extends or kills each of them
};

class RigidRun {
 public:
  explicit RigidRun(const Workload& workload);

  /// Calls `pass(Happened)` as the rule says until nothing is left to happen. It starts jobs, and answers when it wants
  /// to be called again even if nothing happens then: kNever, or an instant after now.
  [[nodiscard]] Schedule run(PassRule rule, const std::function<Time(const Happened&)>& pass);

  // For a pass.
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] int cores() const { return workload_.cores(); }
  [[nodiscard]] const Job& job(std::size_t index) const { return workload_.jobs[index]; }
  /// In the order of their submission: by (submit, number).
  [[nodiscard]] const std::vector<std::size_t>& waiting() const { return waiting_; }
  /// Running jobs with their estimated ends; those that are free already in planning are left out.
  [[nodiscard]] std::vector<Running> planned_running() const;
  /// The same as a plan.
  [[nodiscard]] Plan plan_of_running() const;
  /// That no job has, whether its estimate is over or not.
  [[nodiscard]] int idle_cores() const;
  /// REQUIRES: it waits, and fits what planned_running() leaves.
  void start(std::size_t index);
  /// REQUIRES: they run.
  void extend(std::size_t index, Time by);
  void kill(std::size_t index);

 private:
  [[nodiscard]] Time run_time(const Job& job) const;
  [[nodiscard]] Time counted_end(const Running& running) const;
  [[nodiscard]] Time next_instant(Time timer) const;
  bool take_end(Happened& happened);
  bool take_submission(Happened& happened);
  bool take_extension();
  [[nodiscard]] std::vector<Running>::iterator running(std::size_t index);

  const Workload& workload_;
  Time now_ = 0;
  std::size_t submitted_ = 0;  // jobs so far
  std::vector<std::size_t> waiting_;
  std::vector<Running> running_;  // in the order of their starts
  Schedule schedule_;
};

}  // namespace replay::oracle
