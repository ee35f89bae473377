// The runtime model: how fast a job runs on its allocation, relative to running expanded and alone: progress per
// second. A job's end moves when its allocation changes, and when another job comes to its cores or leaves them. The
// controller asks with what jobs declare, the simulator with what is true.
// Source: FCFS-malleable paper, section 4, formulas (3) and (4). The paper has only processes of one job on a core;
// there m*u, MPL x CPUUtil, is how much of it they want. We count a neighbour's processes like the job's own: m*u +
// demand, where `demand` is the sum of the CPU utilisations of the other jobs' processes on the job's busiest core.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/workload.hpp"

namespace replay {

struct Profile;

/// The model that reads a profile of `replay calibrate`.
inline constexpr const char* kCalibrated = "calibrated";

class RuntimeModel {
 public:
  virtual ~RuntimeModel() = default;
  /// s: run time at multiprogramming level `mpl` beside others' `demand` (SharedCores::demand) over run time expanded
  /// and alone. >= 1, and 1 at mpl 1 without demand. REQUIRES: demand >= 0.
  [[nodiscard]] virtual double slowdown(const Behaviour& behaviour, int mpl, double demand) const = 0;
  /// False: jobs cannot share cores at all, so policies must be told that every job is rigid; with demand slowdown()
  /// throws UsageError.
  [[nodiscard]] virtual bool allows_sharing() const { return true; }
  /// True if the model reads Behaviour::network_overhead, which a workload then needs to have drawn.
  [[nodiscard]] virtual bool uses_network_overhead() const { return false; }

  [[nodiscard]] double rate(const Behaviour& behaviour, const Allocation& allocation, double demand) const {
    return 1.0 / slowdown(behaviour, allocation.mpl, demand);
  }
};

struct RuntimeModelEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::unique_ptr<RuntimeModel> (*make)(const Profile* profile);  ///< nullptr: none; only `calibrated` reads it
};

/// All models; `replay models` prints them.
[[nodiscard]] std::span<const RuntimeModelEntry> runtime_models();

/// Throws UsageError with the nearest name when there is no such model, and when it needs a profile that is not given.
[[nodiscard]] std::unique_ptr<RuntimeModel> make_runtime_model(std::string_view name, const Profile* profile = nullptr);

/// Gives each job its OV of formula (4): uniform in [0,1), a hash of (seed, job), the same under every policy. Trace
/// files do not have it (paper, section 4); a job with a value in its side file keeps that. Declared and true values
/// are set alike.
void draw_network_overheads(Workload& workload, std::uint64_t seed);

}  // namespace replay
