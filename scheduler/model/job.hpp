// A job as it is declared, and apart from it what is true of it. Policies see only Job; bodies and runtime models see
// JobTruth. Declared equals true unless a study perturbs it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "scheduler/model/declaration.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// How a job can change its cores (Feitelson and Rudolph 1996): rigid: never; moldable: chosen at start; malleable:
/// while it runs too. A malleable job keeps its processes for life and shares cores among them (virtual malleability).
enum class Flexibility : std::uint8_t { kRigid, kMoldable, kMalleable };

/// What decides how a job runs on fewer cores than processes (FCFS-malleable paper, section 4).
struct Behaviour {
  double cpu_use = 1.0;           ///< CPUUtil of formula (3): share of time its processes compute when expanded, 0..1
  double network_overhead = 0.0;  ///< OV of formula (4): contention on the network, 0..1
  std::int32_t application = -1;  ///< entry of the profile that the model `calibrated` looks into; -1: none
  bool operator==(const Behaviour&) const = default;
};

/// What a job tells the scheduler.
struct Job {
  JobId id{};
  Instant submitted{};
  Duration estimate{};         ///< budget of work at `processes` cores, alone on them; > 0
  ProcessCount processes = 1;  ///< >= 1
  Flexibility flexibility = Flexibility::kMalleable;
  Behaviour declared{};
  double user_priority = 0;       ///< UP of the slack paper, 0..1
  double political_priority = 0;  ///< PP, 0..1, or -infinity for a job beyond its user's quota
  std::int32_t user = -1;         ///< SWF field 12, -1 unknown
  std::int32_t group = -1;        ///< SWF field 13
  std::int32_t queue = -1;        ///< SWF field 15
  /// When its log started it, for the policy `logged` alone; kNever: other policies must not know, or it never ran.
  Instant logged_start = kNever;
  /// Sizes, curve and slowdowns; null: it declares none. Jobs share it. model/job_sizes.hpp answers from it.
  std::shared_ptr<const Declaration> declaration{};

  /// Serial and rigid jobs are never shrunk.
  [[nodiscard]] bool can_shrink() const { return processes > 1 && flexibility == Flexibility::kMalleable; }
};

/// The cores that `job` needs with `size` processes, expanded: one for each. On fewer cores processes share them
/// (cores_at() of allocation.hpp). Where a count of processes becomes one of cores, or back, it is by these.
[[nodiscard]] constexpr CoreCount cores_needed(const Job& /*job*/, ProcessCount size) { return number(size); }
/// At its submitted size.
[[nodiscard]] constexpr CoreCount cores_needed(const Job& job) { return cores_needed(job, job.processes); }
/// The other way round: the most processes of `job` for which `cores` suffice, expanded.
[[nodiscard]] constexpr ProcessCount processes_on(const Job& /*job*/, CoreCount cores) { return number(cores); }

/// What is true of a job and reaches no policy.
struct JobTruth {
  Duration runtime{};  ///< expanded, alone on its cores; >= 0; already cut at the request where the reader cuts
  Behaviour behaviour{};
  bool cut_at_request = false;   ///< the log ran on past the request; here it ends there, as killed
  std::int32_t executable = -1;  ///< SWF field 14: what to run for real, -1: the default program
  float speedup_power =
      1;  ///< the true speed at another size is the declared one to this power (runtime_model/misjudgement.hpp)
  float slowdown_power = 1;  ///< the same of its slowdowns by how it lies and by its neighbours
};

/// One job of a workload. With `follows`, it is submitted `think_time` after that job has ended (SWF fields 17 and 18),
/// and `job.submitted` is only the earliest instant.
struct TracedJob {
  Job job;
  JobTruth truth;
  std::optional<JobId> follows;
  Duration think_time{};
  std::optional<Duration> cancelled_after;  ///< by its user, waiting or running; counted from its submission
  bool has_network_overhead = false;        ///< the trace states it, so it is not drawn
};

[[nodiscard]] std::string_view to_text(Flexibility flexibility);

}  // namespace replay
