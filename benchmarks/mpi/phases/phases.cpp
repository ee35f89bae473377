// Phases: a job of a given length that alternates between computing and waiting. Each rank computes u = `--cpu-use` of
// each iteration, in CPU time, and waits for the rest; what is fixed is the amount of both, never an end on the clock,
// so a job that gets half its cores really takes longer. With m of its ranks on each core it follows formula (3),
// s(m) = max(1, m * u), once a waiting rank leaves the core to the others. The ranks form a ring and send checked
// messages to both neighbours in every iteration. Two patterns of waiting:
//   independent  each rank sleeps for its own reason (a disk, a licence), a millisecond or so at a time in between
//                computing; a message has one iteration to arrive, so no rank waits in MPI unless a neighbour lags.
//   bsp          supersteps: compute, exchange, Allreduce. One rank, in rotation, is late: it sleeps first and computes
//                then, while the others compute at once and then wait for it in MPI. A core shared by m ranks is busy
//                with the others while the late one sleeps: max((m - 1) * u, 1 - u) + u = max(1, m * u).
// On emulated cores (docs/emulation.md) the rank sleeps through the computing while the core is its own, and the cost
// of launching and ending is subtracted from the work.
// Source of formula (3): Utrera, Tabik, Corbalan, Labarta 2012 (the FCFS-malleable paper); the program is our own.
#include <mpi.h>
#include <sched.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "benchmarks/mpi/common/common.hpp"
#include "benchmarks/mpi/common/emulated_work.hpp"
#include "benchmarks/mpi/common/options.hpp"
#include "benchmarks/mpi/common/report.hpp"
#include "benchmarks/mpi/common/ring.hpp"
#include "benchmarks/mpi/common/timed_work.hpp"
#include "benchmarks/mpi/phases/phases_plan.hpp"
#include "vmlib/vm_burst.h"

extern "C" const int vm_fit_for_emulation = 1;

namespace replay::bench {
namespace {

/// Makes a rank that wakes up wait until the one that computes has finished its portion. Otherwise the ranks of a
/// core would fall into step, both computing at half speed and then both asleep: with 2 ranks and u = 0.5, s(2) was
/// 1.18 with the default scheduling policy and is 1.02 with this one (Linux 6.18). It needs no privilege; where it is
/// refused, only that accuracy is lost.
void take_turns_on_shared_core() {
  const sched_param no_priority{};
  ::sched_setscheduler(0, SCHED_BATCH, &no_priority);
}

/// One rank's part of the job. All patterns send the same messages; they differ in how they wait.
class Phases {
 public:
  Phases(const World& world, const PhasesPlan& plan, const PhasesParameters& given, Work& work)
      : world_(world), plan_(plan), work_(work), ring_(world, given.message_size, given.seed) {}

  void independent();
  void bsp();

  bool all_right() const { return all_right_ && ring_.all_right(); }

 private:
  void wait(Nanoseconds length);
  void fill_messages(std::uint64_t iteration);
  void fail_if_due(std::uint64_t iteration) const;
  void agree_on(std::uint64_t iteration);

  World world_;
  PhasesPlan plan_;
  Work& work_;
  FixedSleep sleep_;
  Ring ring_;
  bool all_right_ = true;
};

void Phases::independent() {
  for (std::uint64_t i = 0; i < plan_.iterations; ++i) {
    fail_if_due(i);
    fill_messages(i);
    ring_.start();
    for (std::int64_t k = 0; k < plan_.portions; ++k) {
      work_.compute(plan_.computing / plan_.portions);
      wait(plan_.waiting / plan_.portions);
      ring_.progress();
    }
    ring_.wait();
  }
  ring_.check();
}

void Phases::bsp() {
  const auto size = static_cast<std::uint64_t>(world_.size);
  for (std::uint64_t i = 0; i < plan_.iterations; ++i) {
    fail_if_due(i);
    const bool is_late = i % size == static_cast<std::uint64_t>(world_.rank);
    if (is_late) wait(plan_.waiting);
    fill_messages(i);
    work_.compute(plan_.computing);
    ring_.start();
    ring_.wait();
    agree_on(i);
  }
  ring_.check();
}

/// The jobs on its nodes slow down all of a job, as the runtime model has it, not only what it computes.
void Phases::wait(Nanoseconds length) {
  sleep_.sleep(Nanoseconds{std::llround(static_cast<double>(length.count()) * slowdown_now())});
}

/// Checks the messages of the previous exchange and writes those of this one, before the iteration computes: the time
/// they take then makes that computing shorter, and no other.
void Phases::fill_messages(std::uint64_t iteration) {
  work_.count([&] {
    ring_.check();
    ring_.fill(iteration);
  });
  if (iteration == plan_.corrupting && world_.is_root()) ring_.corrupt();
}

/// The end of a superstep: a sum to which every rank contributes, known beforehand.
void Phases::agree_on(std::uint64_t iteration) {
  const std::uint64_t mine = iteration + static_cast<std::uint64_t>(world_.rank);
  std::uint64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const auto size = static_cast<std::uint64_t>(world_.size);
  if (sum != size * iteration + size * (size - 1) / 2) all_right_ = false;
}

/// The last rank fails and takes the others down.
void Phases::fail_if_due(std::uint64_t iteration) const {
  if (iteration != plan_.failing || world_.rank != world_.size - 1) return;
  std::fprintf(stderr, "phases: rank %d fails on purpose (--fail-at)\n", world_.rank);
  MPI_Abort(MPI_COMM_WORLD, kFailedOnPurpose);
}

constexpr double kShortestIteration = 0.1;  // ms

void read_arguments(Options& options, PhasesParameters& given) {
  options.number("--runtime", given.runtime, 0, 1e7, "seconds of computing and waiting, alone on one core per rank");
  options.number("--cpu-use", given.cpu_use, 0, 1, "share of each iteration that computes");
  options.choice("--pattern", given.pattern, {"independent", "bsp"}, "how the rest is waited");
  options.number("--iteration", given.iteration, 0, 1e6,
                 "length of an iteration in milliseconds; 0: 20, and 100 on emulated cores");
  options.count("--message-size", given.message_size, 0, 1U << 30, "bytes to each neighbour in each iteration");
  options.count("--seed", given.seed, 0, ~std::uint64_t{0}, "of the bytes in the messages");
  options.number("--fail-at", given.fail_at, -1, 1e7, "fail after so many seconds of the run time; -1: never");
  options.number("--corrupt-at", given.corrupt_at, -1, 1e7, "spoil a byte after so many seconds; -1: never");
}

/// A job told to fail must not succeed because it ended first or had no byte to spoil.
void reject_failures_that_cannot_happen(const Options& options, const PhasesParameters& given) {
  const std::string expected = fmt::format("less than --runtime, {}", given.runtime);
  if (given.fail_at >= given.runtime) options.reject("--fail-at", expected, fmt::format("{}", given.fail_at));
  if (given.corrupt_at >= given.runtime) options.reject("--corrupt-at", expected, fmt::format("{}", given.corrupt_at));
  if (given.corrupt_at >= 0 && given.message_size == 0) options.reject("--message-size", "1 or more to spoil", "0");
}

void report_emulation(Report& report, const PhasesPlan& plan, const Emulation& emulation) {
  report.row("emulated", "yes");
  report.row("deducted_s", plan.deducted);
  report.row("start_up_s", emulation.start_up);
  report.row("end_cost_s", emulation.end_cost);
  report.row("slowdown_at_start", emulation.slowdown);
}

int phases(const World& world, int argc, char** argv) {
  PhasesParameters given;
  Options options{"phases", "a job of a given length, CPU use and message pattern"};
  read_arguments(options, given);
  if (!options.parse(argc, argv)) {
    if (world.is_root()) std::fputs(options.help().c_str(), stdout);
    return kVerified;
  }

  if (given.iteration > 0 && given.iteration < kShortestIteration)
    options.reject("--iteration", fmt::format("0, or {} or more", kShortestIteration),
                   fmt::format("{}", given.iteration));
  reject_failures_that_cannot_happen(options, given);
  const std::optional<Emulation> emulation = find_emulation();
  const PhasesPlan plan = make_plan(given, emulation);
  std::unique_ptr<Work> work;
  if (emulation) {
    work = std::make_unique<EmulatedWork>();
  } else {
    work = std::make_unique<CpuWork>();
    take_turns_on_shared_core();
  }
  Phases job{world, plan, given, *work};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  given.pattern == "bsp" ? job.bsp() : job.independent();
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;
  const double computed = sum_over_ranks(std::chrono::duration<double>(work->done()).count());

  Report report{world, "phases"};
  report.row("pattern", given.pattern);
  report.row("runtime_s", given.runtime);
  report.row("cpu_use", given.cpu_use);
  report.row("message_bytes", given.message_size);
  report.row("seed", given.seed);
  report.row("iterations", plan.iterations);
  report.row("computed_s", computed / world.size);
  report.row("time_s", seconds);
  report.row("iterations_per_s", static_cast<double>(plan.iterations) / seconds);
  if (emulation) report_emulation(report, plan, *emulation);
  return report.finish(holds_everywhere(job.all_right()));
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) { return replay::bench::run(argc, argv, replay::bench::phases); }
