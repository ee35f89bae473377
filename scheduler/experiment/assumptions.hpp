// What figures of a run rest on, and its inputs do not say: for those who read the figures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/experiment/prepared.hpp"
#include "scheduler/metrics/summary.hpp"

namespace replay::experiment {

/// For policies that choose sizes, of a workload in which no job declares a curve: what stands in for run times at other
/// sizes, and how to declare curves.
[[nodiscard]] std::optional<std::string> note_on_curves(const Prepared& run);

/// What a run takes for granted that its inputs do not say, or say otherwise.
struct Assumptions {
  Misjudgement errors{};
  Overrun overrun = Overrun::kKill;
  std::uint64_t jobs = 0;                 ///< of the trace
  std::uint64_t without_flexibility = 0;  ///< of these: taken for malleable, as nothing says what they are
  std::uint64_t cut_at_request = 0;       ///< of these: end as killed at their estimates, as in the log they ran on
  std::string profile_without_nodes{};    ///< file: jobs over several nodes count as on one; empty: they do not
};
[[nodiscard]] Assumptions assumptions_of(const Prepared& run);

/// What a policy made of the jobs.
struct FiguresOfPolicy {
  std::string_view policy;
  const metrics::Summary* figures;  ///< not null
};

/// What a reader of the figures has to know of the assumptions behind them: malleability that was assumed, where a policy
/// made use of it, jobs over nodes of which nothing was measured, and how many jobs are killed at their estimates because
/// of --curve-error and --slowdown-error. A line each.
[[nodiscard]] std::vector<std::string> notes_on_figures(const Assumptions& assumed,
                                                        std::span<const FiguresOfPolicy> policies);

}  // namespace replay::experiment
