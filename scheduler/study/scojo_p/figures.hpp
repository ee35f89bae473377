// The figures of one simulation of the SCOJO-P study, over all jobs and by class: times, sizes at start against N_opt,
// the histogram of responses. The first and last 5 % of the jobs, in the order of submission, do not count.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/study/scojo_p/workload.hpp"
#include "scheduler/study/seeded.hpp"

namespace replay::study {

/// Means over the jobs of a group; NaN of none.
struct ScojoGroupFigures {
  double jobs = 0;
  double response_s = kNoValue, wait_s = kNoValue;
  double slowdown = kNoValue;  ///< bounded: max(1, response / max(T(N_opt), 30 s))
  double execution_s = kNoValue;
  double shrunk = 0, expanded = 0;                         ///< jobs started below and above N_opt
  double of_optimum = kNoValue;                            ///< size at start / N_opt, of the jobs that have a choice
  double of_submitted = kNoValue;                          ///< size at start / submitted size, of the same
  double of_optimum_shrunk = kNoValue;                     ///< as of_optimum, of those that were shrunk
  double modifier = kNoValue, modifier_shrunk = kNoValue;  ///< what N_opt was multiplied with at start, likewise
};

/// Upper limits of the bins of Figure 7, by class; a last bin has what is beyond.
inline constexpr std::size_t kResponseBins = 11;
struct ResponseBin {
  double most_s;
  std::string label;
};
[[nodiscard]] std::array<ResponseBin, kResponseBins> response_bins(std::size_t group);

struct ScojoFigures {
  std::array<ScojoGroupFigures, kScojoGroups> groups;
  std::array<std::array<double, kResponseBins>, kScojoGroups> responses{};  ///< jobs; nothing for all together
  double utilisation = kNoValue;  ///< from the first to the last submission of the jobs that count
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
