// Work on an emulated core: vmlib sleeps for its length while the core's token is held (vmlib/vm_burst.h). Launching
// and ending a job take real time there, much longer than the work that is left out, so a program subtracts it from its
// own work: the job's time from getting its cores to its last process then is the requested run time.
#pragma once

#include <optional>

#include "benchmarks/mpi/common/timed_work.hpp"

namespace replay::bench {

/// The same on all ranks of a job.
struct Emulation {
  double start_up = 0;  // s, from the cores being given to all ranks being ready
  double end_cost = 0;  // s, expected, from the last work to the last process
  int mpl = 1;          // most ranks of the job on one core
  Nanoseconds quantum{};
  double slowdown = 1;  // by the jobs on its nodes, at that time
};

/// The slowdown by the jobs on this rank's nodes now; 1 where cores are real.
double slowdown_now();

/// Collective: waits until all ranks are there; what has passed until then counts as start-up. Nothing where the cores
/// are real, or vmlib is not there or switched off in some rank.
std::optional<Emulation> find_emulation();

/// Seconds of its run time that a job with CPU use `cpu_use` leaves out. With m ranks on a core work takes formula (3),
/// max(1, m u), times as long, and beside the jobs on its nodes by their slowdown, so that much less of it stands for the seconds that launching and ending have cost.
double deduction(const Emulation& emulation, double cpu_use);

class EmulatedWork final : public Work {
 private:
  Nanoseconds work_off(Nanoseconds owed) override;
};

}  // namespace replay::bench
