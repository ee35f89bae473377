// The figures of one simulation of the SCOJO-P study, over all jobs and by class: times, sizes at start against N_opt,
// the histogram of responses. The first and last 5 % of the jobs, in the order of submission, do not count.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/study/scojo_p/workload.hpp"

namespace replay::study {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Means over the jobs of a group; NaN of none.
struct ScojoGroupFigures {
  double jobs = 0;
  double response_s = kUnknown, wait_s = kUnknown;
  double slowdown = kUnknown;  ///< bounded: max(1, response / max(T(N_opt), 30 s))
  double execution_s = kUnknown;
  double shrunk = 0, expanded = 0;                         ///< jobs started below and above N_opt
  double of_optimum = kUnknown;                            ///< size at start / N_opt, of the jobs that have a choice
  double of_submitted = kUnknown;                          ///< size at start / submitted size, of the same
  double of_optimum_shrunk = kUnknown;                     ///< as of_optimum, of those that were shrunk
  double modifier = kUnknown, modifier_shrunk = kUnknown;  ///< what N_opt was multiplied with at start, likewise
};

/// Upper limits of the bins of Figure 7, by class; a last bin has what is beyond.
inline constexpr std::size_t kResponseBins = 11;
struct ResponseBin {
  double most_s;
  std::string_view label;
};
[[nodiscard]] const std::array<ResponseBin, kResponseBins>& response_bins(std::size_t group);

struct ScojoFigures {
  std::array<ScojoGroupFigures, kScojoGroups> groups;
  std::array<std::array<double, kResponseBins>, kScojoGroups> responses{};  ///< jobs; nothing for all together
  double utilisation = kUnknown;  ///< from the first to the last submission of the jobs that count
};

/// Collects what the figures are made of from the log of a run.
class ScojoRecord {
 public:
  [[nodiscard]] history::Observers observers() { return {&jobs_, &series_, &sizes_}; }

  /// REQUIRES: the run of this workload has ended.
  [[nodiscard]] ScojoFigures figures(const ScojoWorkload& workload) const;

 private:
  metrics::JobTable jobs_;
  metrics::Series series_;
  metrics::ChosenSizes sizes_;
};

}  // namespace replay::study
