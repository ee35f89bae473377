// How much all jobs that adapt are shrunk or expanded against their optimum sizes: by one factor, so that all of them fit
// under high load and use the whole machine under low load.
// Source: SCOJO-P paper, section 4.1, on SCOJO (Sodan and Huang 2004).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// The sizes that a job can take while the factor changes.
struct AdaptableSizes {
  ProcessCount optimum = 1;                 ///< N_opt, >= 1
  ProcessCount least = 1, most = 1;         ///< within the machine
  std::span<const ProcessCount> only = {};  ///< ascending, from least to most; empty: all of them

  /// factor * optimum, rounded, halves up, and clamped; with a list the largest not above, else the least. Never falls
  /// with the factor.
  [[nodiscard]] ProcessCount at(double factor) const;
};

/// Of a job whose size can be chosen; nothing if it offers none on the machine, or has no choice.
[[nodiscard]] std::optional<AdaptableSizes> adaptable_sizes(const Job& job, ProcessCount optimum, CoreCount machine);

struct MachineLoad {
  CoreCount machine = 0;
  std::int64_t needed = 0;                ///< sum of the optimum sizes of all running and waiting jobs
  std::int64_t fixed = 0;                 ///< what the jobs get that do not follow the factor
  std::vector<AdaptableSizes> adaptable;  ///< those that follow it
};

/// 1 under a normal load, needed from 0.9 to 1 times the machine; else the largest factor with which all jobs fit, of
/// those from min N_min / N_opt to 1 (high load) or from 1 to max N_max / N_opt (low load), the least one if they do not
/// fit with that either. By 40 halvings.
[[nodiscard]] double load_factor(const MachineLoad& load);

}  // namespace replay
