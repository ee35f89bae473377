// Turns of jobs on the same cores: which of them may run now. On a set of cores one job is on turn, with all its ranks,
// so that its messages need not wait for a neighbour's time slices. Jobs that share cores do so transitively: of a chain
// A-B-C, A and C are on turn together. A turn ends when the job is half a turn ahead, in time used on its cores, of a
// job that waits for them. A job on turn whose ranks all wait lends its cores: others run beside it until it goes on, and
// what it did not use it may use later, as much as one turn.
// A job that spans hosts has to be on turn on all of them at once, and they do not ask each other: as long as one is here,
// turns follow a clock that the hosts have in common. Pure bookkeeping; the caller stops and continues processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::launcher {

class Turns {
 public:
  using Time = std::chrono::nanoseconds;  ///< of a clock that never goes back

  struct Job {
    JobId id{};
    std::set<std::uint32_t> cores{};
    bool waits = false;  ///< none of its ranks computes; ignored for a job that may not run
    double demand = 1;   ///< 0..1, of each of its cores (demand.hpp); turns are taken whatever it is
  };

  /// REQUIRES: turn > 0.
  explicit Turns(std::chrono::microseconds turn);

  /// The jobs that may run from now on; the others are to be stopped. A job with cores of its own always may. Jobs that
  /// were here before and are not given are forgotten. `common`: the time of all hosts, if one of the jobs spans some; which
  /// job comes first then follows from the number of the turn, so that of two jobs that meet each has every other turn, on each
  /// host the same one, whatever others are there. O(jobs^2 cores).
  [[nodiscard]] std::set<JobId> decide(const std::vector<Job>& jobs, Time now,
                                       std::optional<Time> common = std::nullopt);

  /// How long from the last decision until a turn ends, if no job waits meanwhile. Nothing: no turn is to end.
  [[nodiscard]] std::optional<Time> until_next() const { return until_next_; }

 private:
  struct Account {
    Time used{0};  // on its cores, computing; comparable among rivals only
    bool is_on_turn = false;
    bool runs = false;  // on turn, or on cores that another job lends
  };

  [[nodiscard]] static bool are_rivals(const Job& a, const Job& b);
  void forget_others(const std::vector<Job>& jobs);
  void admit(const std::vector<Job>& jobs);
  void charge(const std::vector<Job>& jobs, Time elapsed);
  void limit_credit(const std::vector<Job>& jobs);
  /// How much longer its turn lasts. Nothing: it is not on turn, or no job is stopped for it.
  [[nodiscard]] std::optional<Time> rest_of_turn(const Job& job, const std::vector<Job>& jobs) const;
  [[nodiscard]] std::int64_t place_in_turn(JobId job, Time common) const;

  Time turn_;
  Time last_{0};
  std::optional<Time> until_next_;
  std::map<JobId, Account> accounts_;
};

}  // namespace replay::launcher
