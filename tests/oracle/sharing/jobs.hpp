// What G-LOMARC-TS knows about one job and about a pair of jobs: class, sizes, slowdowns. Reading 9.1, 9.2, formula (8).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/oracle/workload.hpp"

namespace replay::oracle::sharing {

enum class Way : std::uint8_t { kGlts, kSsp, kCst, kCstws, kFbo, kNs, kNh };

/// Table 6 and the parameters of Scojo-PECT.
struct Rules {
  Way variant = Way::kGlts;
  double max_slowdown = 1.25;         // MAX_SL
  double self_slowdown_2 = 1.12;      // SELF_SL_2
  double least_gain = 0.45;           // MIN_UTILGAIN
  std::size_t block = 16;             // BLOCK_SIZE
  double larger = 0.125;              // MATCHED_LARGER
  std::size_t running_primaries = 8;  // RUNNING_PRIM_NUM
  Time longer = 3000 * kSecond;       // MATCHED_LONGER
  double slack = 1.5;                 // F_slack
  double estimate_factor = 0.75;

  bool sliced = false;  // Scojo-PECT above it
  Time interval = 3600 * kSecond;
  Time short_slice = 600 * kSecond;
  double medium_share = 0.3;  // of what the short slice leaves; the rest is for long jobs
  Time overhead = 60 * kSecond;
};

inline constexpr int kShort = 0;
inline constexpr int kMedium = 1;
inline constexpr int kLong = 2;

/// By the request: up to 600 s, up to 10,800 s, longer.
[[nodiscard]] int job_class(const Job& job);

/// ceil(S / PPN).
[[nodiscard]] int nodes_at(const Job& job, int ppn);
/// Formula (8), raised until the nodes fit the machine.
[[nodiscard]] int ppn_alone(const Workload& workload, const Job& job, const Rules& rules);
/// N_core / 2 if SL_sno <= SELF_SL_2, else 1.
[[nodiscard]] int ppn_in_group(const Workload& workload, const Job& job, const Rules& rules);
/// 1, SL_sno, or SL_scr * SL_sno: by the number of processes that there are on a node, which go to different CPUs first.
[[nodiscard]] double self_slowdown(const Workload& workload, const Job& job, int ppn);

/// SL(a, b): how much slower a runs beside b.
[[nodiscard]] double slowdown_beside(const Workload& workload, const Job& a, const Job& b);
/// The same as plans see it: never below 1.
[[nodiscard]] double planned_slowdown(const Workload& workload, const Job& a, const Job& b);

}  // namespace replay::oracle::sharing
