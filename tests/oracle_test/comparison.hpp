// The program's schedule beside an oracle's, on many small workloads. At the first difference the workload is made as
// small as it gets and printed as the files and the command that show it, with both schedules.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "tests/oracle/workload.hpp"
#include "tests/oracle_test/drawn_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

/// A policy as the command line names it, and what it should do.
struct Variant {
  std::string policy;
  std::function<oracle::Schedule(const oracle::Workload&)> oracle;
  Draw draw{};
  std::string model = "rigid";
  bool with_cores = false;  ///< the oracle says what cores a job has on each node, from when to when
};

/// Seeds of a run: REPLAY_ORACLE_FIRST (default 1) and on, REPLAY_ORACLE_RUNS of them (default 300).
[[nodiscard]] std::uint64_t first_seed();
[[nodiscard]] std::uint64_t runs();

/// Fails, with all that is needed to see it again, at the first workload on which the two differ.
void expect_same_schedules(const Variant& variant);

/// For each drawn workload: fails with the smallest one that breaks a promise, which `broken` puts into words; empty: it is
/// kept.
void expect_promise(const Variant& variant,
                    const std::function<std::string(const oracle::Workload&, const oracle::Schedule&)>& broken);

/// One workload through the program, as an oracle would answer; jobs that never started or ended at kNever.
[[nodiscard]] oracle::Schedule program_schedule(const oracle::Workload& workload, const Variant& variant);

/// A schedule as a table: job, start, end.
[[nodiscard]] std::string as_text(const oracle::Workload& workload, const oracle::Schedule& schedule);

/// One workload through the program. Throws what the simulator throws; an abort prints the workload before it ends the
/// test.
[[nodiscard]] MemoryLog simulated(const oracle::Workload& workload, const std::string& policy,
                                  const std::string& model);
/// The files and the command that simulate it.
[[nodiscard]] std::string as_command(const oracle::Workload& workload, const std::string& policy,
                                     const std::string& model);

/// As small as it gets while `is_wrong` holds of it: jobs are left out, times and sizes lowered. REQUIRES: it holds now.
[[nodiscard]] oracle::Workload minimised(oracle::Workload workload,
                                         const std::function<bool(const oracle::Workload&)>& is_wrong);

/// For the names of tests: letters, digits and underscores.
[[nodiscard]] std::string test_name(const std::string& policy);
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.policy << " with " << variant.model; }

}  // namespace replay::test
