// The sizes at which a job can be started, and what it takes there by its declared curve: T(n) = T(N) S(N) / S(n), N the
// submitted size. A rigid job has one size, and so has a job without a curve, as nothing is known of its other sizes.
// Malleable jobs count as moldable. Source: SCOJO-P paper, section 4; Downey 1997.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// Short below a minute, long from an hour, medium between, by the run time at the optimum size. SCOJO-P paper, Table 1.
enum class JobClass : std::uint8_t { kShort, kMedium, kLong };
inline constexpr std::size_t kJobClasses = 3;
inline constexpr Duration kShortBelow = std::chrono::minutes{1}, kLongFrom = std::chrono::hours{1};
[[nodiscard]] constexpr JobClass class_of(Duration at_optimum) {
  if (at_optimum < kShortBelow) return JobClass::kShort;
  return at_optimum < kLongFrom ? JobClass::kMedium : JobClass::kLong;
}

/// "short", "medium", "long".
[[nodiscard]] std::string_view to_text(JobClass job_class);

/// Whether its size can be chosen when it starts.
[[nodiscard]] inline bool has_choice_of_size(const Job& job) {
  return job.declaration && job.declaration->speedup && job.flexibility != Flexibility::kRigid;
}
/// The smallest and the largest size that it offers; both the submitted size if there is no choice, which need not be
/// one of them otherwise. A largest size that is not stated is the largest ProcessCount. O(1).
[[nodiscard]] ProcessCount least_size(const Job& job);
[[nodiscard]] ProcessCount most_size(const Job& job);
/// The largest size that it offers of at most `most`; nothing if there is none. O(log sizes).
[[nodiscard]] std::optional<ProcessCount> largest_size(const Job& job, ProcessCount most);
/// Whether it may be started with `size` processes: the submitted size, or one that it offers. O(log sizes).
[[nodiscard]] inline bool can_start_with(const Job& job, ProcessCount size) {
  return size == job.processes || (size >= 1 && largest_size(job, size) == size);
}
/// The processes that it is to start with on `allocation`, which a policy has chosen: as it says; else those on its cores
/// where they have names; else, expanded, as many as cores; else the submitted ones.
[[nodiscard]] inline ProcessCount processes_of(const Job& job, const Allocation& allocation) {
  if (allocation.processes != 0) return allocation.processes;
  if (!allocation.named.empty()) return processes_on_cores(allocation);
  return allocation.mpl == 1 && has_choice_of_size(job) ? processes_on(job, allocation.cores) : job.processes;
}
/// The sizes that it offers: "4|8|16", "2..8", "2 or more", or the submitted one if there is no choice.
[[nodiscard]] std::string sizes_text(const Job& job);
/// The size of at most `most` with the least estimate_at(), the smallest one of several; nothing if it offers none. About
/// O(log sizes), O(most) with a curve that falls.
[[nodiscard]] std::optional<ProcessCount> fastest_size(const Job& job, ProcessCount most);
/// N_opt, its optimum size, on a machine of `machine` cores: the N of three points; of Downey's curve the processor
/// working set on 1..machine, brought to a size that it offers; else the submitted size. It need not be a size that the
/// job offers. O(1) without a list of sizes.
[[nodiscard]] ProcessCount optimum_size(const Job& job, CoreCount machine);
/// The size for a wish that is a real number: rounded, halves up, then the largest that it offers of at most that and
/// `most`, or else the least that it offers. The submitted size if there is no choice, or none of at most `most`.
/// REQUIRES: wish >= 0. O(log sizes).
[[nodiscard]] ProcessCount size_near(const Job& job, double wish, ProcessCount most);

/// S(size) / S(submitted): progress per second with `size` processes over progress with the submitted ones, to the power
/// `power`, but never beyond a linear speedup. 1 at the submitted size, and without a curve. REQUIRES: size >= 1.
[[nodiscard]] double speed_at(ProcessCount submitted, const Declaration* declaration, ProcessCount size,
                              double power = 1);
/// What takes `time` with the submitted processes, with `size` of them: rounded up to a microsecond, and the longest
/// Duration if it takes longer.
[[nodiscard]] Duration time_at(Duration time, ProcessCount submitted, const Declaration* declaration, ProcessCount size,
                               double power = 1);
/// Its estimate with `size` processes.
[[nodiscard]] inline Duration estimate_at(const Job& job, ProcessCount size) {
  return size == job.processes ? job.estimate : time_at(job.estimate, job.processes, job.declaration.get(), size);
}
/// Its true run time there, which no policy sees.
[[nodiscard]] inline Duration runtime_at(const TracedJob& traced, ProcessCount size) {
  return size == traced.job.processes ? traced.truth.runtime
                                      : time_at(traced.truth.runtime, traced.job.processes,
                                                traced.job.declaration.get(), size, traced.truth.speedup_power);
}

/// Why a policy started a job with the size that it got, for the readers of the event log. All zero: it says nothing.
/// Terms: SCOJO-P paper, sections 3 and 4.
struct SizeChoice {
  ProcessCount optimal = 0;  ///< the job's optimum size; 0: not stated
  double modifier = 0;       ///< the factor on the optimum from which the size was rounded; 0: there was none
  double load = 0;           ///< the predicted load at that factor, as a share of the machine; if `horizon` is not 0
  double ideal = 0;          ///< the load aimed at, as a share of the machine; if `horizon` is not 0
  Duration horizon{};        ///< the time over which the load was predicted; 0: none was

  bool operator==(const SizeChoice&) const = default;
  [[nodiscard]] bool is_stated() const { return *this != SizeChoice{}; }
};

/// What every policy can say of a job with a choice: its optimum size. Nothing of other jobs.
[[nodiscard]] inline SizeChoice optimum_of(const Job& job, CoreCount machine) {
  return has_choice_of_size(job) ? SizeChoice{.optimal = optimum_size(job, machine)} : SizeChoice{};
}

}  // namespace replay
