// The figures of one simulation of the SCOJO-P study, over all jobs and by class: times, sizes at start against N_opt,
// the histogram of responses. The first and last 5 % of the jobs, in the order of submission, do not count.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/metrics/chosen_sizes.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/study/findings.hpp"
#include "scheduler/study/scojo_p/workload.hpp"

namespace replay::study {

/// The labels of the bins of Figure 7, by class, each of its upper limit; a last bin has what is beyond.
[[nodiscard]] std::vector<std::string> response_bins(std::string_view group);

/// Collects what the figures are made of from the log of a run.
class ScojoRecord {
 public:
  [[nodiscard]] history::Observers observers() { return {&jobs_, &series_, &sizes_}; }

  /// Of each group of jobs: "jobs all"; "response all", "wait all", "execution all": s; "slowdown all": bounded, max(1,
  /// response / max(T(N_opt), 30 s)); "shrunk all", "expanded all": jobs started below and above N_opt. Of those that have
  /// a choice, "of optimum all", "of submitted all": size at start over N_opt and over the submitted size; "modifier all":
  /// what N_opt was multiplied with at start; "of optimum shrunk all" and "modifier shrunk all" of those that were shrunk.
  /// Means over its jobs; NaN of none. "short up to 2 min": jobs in that bin.
  /// "utilisation": from the first to the last submission of the jobs that count, 0 to 1.
  /// REQUIRES: the run of this workload has ended.
  [[nodiscard]] Figures figures(const ScojoWorkload& workload) const;

 private:
  metrics::JobTable jobs_;
  metrics::Series series_;
  metrics::ChosenSizes sizes_;
};

}  // namespace replay::study
