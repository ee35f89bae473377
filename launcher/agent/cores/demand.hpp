// Whether jobs on the same cores need turns. A job that computes all the time does: in turns its ranks have all their cores at
// once. One that sleeps in between, in portions too short to switch jobs for, would sleep through its turns. So jobs run at the
// same time on a core that none of them wants for itself, or where all that they want fits. A demand is the share of its time that
// a process would compute if it had a core of its own: the time for which others kept it from its core is left out, so that
// two jobs that compute are not taken for two that need half a core.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "launcher/agent/cores/turns.hpp"

namespace replay::launcher {

/// What a process wants of a core.
class Demand {
 public:
  using Time = Turns::Time;

  /// Of a stretch of time in which the process was not stopped.
  struct Use {
    Time length{0};
    Time computed{0};  ///< by all its threads
    Time kept{0};      ///< could run, and others had its core
    Time blocked{0};   ///< in blocking calls of MPI: it answers at once only if it finds its core free then
  };
  void add(const Use& use);

  /// 0..1, of the last window of time that is known whole; 1 before the first one.
  [[nodiscard]] double share() const { return share_; }

 private:
  Use window_{};
  double share_ = 1;
};

/// The most that a job of processes with these demands can want of one of its cores, on which they are spread evenly; 0..1.
/// REQUIRES: cores > 0.
[[nodiscard]] double demand_of_job(std::vector<double> of_processes, std::size_t cores);

/// Takes from each job the cores that it has for itself, or on which all jobs run at the same time, and then the jobs that have
/// no other core: they need no turns.
void keep_contended(std::vector<Turns::Job>& jobs);

}  // namespace replay::launcher
