// Compares the program's schedule with an oracle's, on many small workloads. At the first difference the workload is
// minimised and printed as the files and the command that reproduce it, with both schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "scheduler/policy/view/policy.hpp"
#include "tests/oracle/workload.hpp"
#include "tests/oracle_test/drawn_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

/// A policy as named on the command line, and its oracle.
struct Variant {
  std::string policy;
  std::function<oracle::Schedule(const oracle::Workload&)> oracle;
  Draw draw{};
  std::string model = "rigid";
  bool with_cores = false;  ///< the oracle also gives each job's cores on each node over time
  bool with_sizes = false;  ///< the oracle also gives the processes that each job starts with
};

/// Seeds of a run: REPLAY_ORACLE_FIRST (default 1) and on, REPLAY_ORACLE_RUNS of them (default 300).
[[nodiscard]] std::uint64_t first_seed();
[[nodiscard]] std::uint64_t runs();

/// Fails at the first workload on which the two differ, and prints how to reproduce it.
void expect_same_schedules(const Variant& variant);

/// Fails with the smallest drawn workload that breaks a promise. `broken` describes the breach; it returns an empty
/// text if the promise is kept.
void expect_promise(const Variant& variant,
                    const std::function<std::string(const oracle::Workload&, const oracle::Schedule&)>& broken);

/// Fails with the smallest drawn workload that has an error; an exception is one.
void expect_no_error(const Variant& variant, const std::function<std::string(const oracle::Workload&)>& error);

/// Runs one workload through the program and returns an oracle's answer; kNever for jobs that never started or ended.
[[nodiscard]] oracle::Schedule program_schedule(const oracle::Workload& workload, const Variant& variant);

/// A schedule as a table: job, start, end.
[[nodiscard]] std::string as_text(const oracle::Workload& workload, const oracle::Schedule& schedule);

/// Runs one workload through the program. Throws what the simulator throws; an abort prints the workload before it ends
/// the test.
[[nodiscard]] MemoryLog simulated(const oracle::Workload& workload, const std::string& policy,
                                  const std::string& model);
/// The same under `policy`, which is called `name`.
[[nodiscard]] MemoryLog simulated(const oracle::Workload& workload, Policy& policy, const std::string& name,
                                  const std::string& model);
/// The files and the command that simulate it.
[[nodiscard]] std::string as_command(const oracle::Workload& workload, const std::string& policy,
                                     const std::string& model);

/// The smallest workload found for which `is_wrong` still holds: jobs are left out, times and sizes lowered. REQUIRES:
/// it holds for `workload`.
[[nodiscard]] oracle::Workload minimised(oracle::Workload workload,
                                         const std::function<bool(const oracle::Workload&)>& is_wrong);

/// The policy as part of a test's name: letters, digits and underscores.
[[nodiscard]] std::string test_name(const std::string& policy);
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.policy << " with " << variant.model; }

}  // namespace replay::test
