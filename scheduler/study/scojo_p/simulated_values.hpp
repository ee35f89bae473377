// Values of the simulations for the page of the SCOJO-P paper and the checks of its statements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheduler/study/result.hpp"
#include "scheduler/study/scojo_p/study.hpp"

namespace replay::study {

enum ScojoGroup : std::size_t { kAllJobs, kShortJobs, kMediumJobs, kLongJobs };

/// NaN, or no values, of what was not run.
class ScojoValues {
 public:
  using Run = ScojoRun;
  using Member = double ScojoGroupFigures::*;
  struct Figure {
    std::size_t group;
    Member member;
  };

  explicit ScojoValues(const ScojoOutcome& outcome) : outcome_(outcome) {}

  [[nodiscard]] const ScojoOutcome& outcome() const { return outcome_; }
  [[nodiscard]] bool has(std::string_view workload, std::string_view policy) const {
    return !runs({std::string{workload}, std::string{policy}}).empty();
  }
  [[nodiscard]] std::vector<double> by_seed(const Run& run, const Figure& figure) const;

  /// Geometric mean over the seeds, for times and slowdowns: a seed whose load is too high must not outweigh the others.
  [[nodiscard]] double mean(const Run& run, const Figure& figure) const;
  [[nodiscard]] double mean(std::string_view workload, std::string_view policy, std::size_t group,
                            Member member) const {
    return mean({std::string{workload}, std::string{policy}}, {group, member});
  }
  /// Arithmetic mean over the seeds, for counts, sizes and shares.
  [[nodiscard]] double average(std::string_view workload, std::string_view policy, std::size_t group,
                               Member member) const {
    return mean_of(by_seed({std::string{workload}, std::string{policy}}, {group, member}));
  }
  [[nodiscard]] double utilisation_percent(std::string_view workload, std::string_view policy) const;
  /// Jobs in each bin of Figure 7, mean over the seeds. Empty if it was not run.
  [[nodiscard]] std::vector<double> responses(std::string_view workload, std::string_view policy,
                                              std::size_t group) const;

 private:
  // By seed. The traditional scheduler starts all jobs at the submitted size, so a workload's share of moldable jobs is
  // nothing to it, and it was run once.
  [[nodiscard]] const std::vector<ScojoFigures>& runs(const Run& run) const;

  const ScojoOutcome& outcome_;
};

/// How much less, in per cent; the ratio is that of the geometric means.
using ScojoGain = Gain<ScojoValues>;
/// On one workload.
[[nodiscard]] inline ScojoGain scojo_gain(std::string_view workload, std::string_view policy, std::string_view base,
                                          std::size_t group = kAllJobs,
                                          ScojoValues::Member member = &ScojoGroupFigures::response_s) {
  return {{std::string{workload}, std::string{policy}}, {std::string{workload}, std::string{base}}, {group, member}};
}
/// Of the response under one policy, on two workloads.
[[nodiscard]] inline ScojoGain scojo_gain_on(std::string_view workload, std::string_view base,
                                             std::string_view policy) {
  return {{std::string{workload}, std::string{policy}},
          {std::string{base}, std::string{policy}},
          {kAllJobs, &ScojoGroupFigures::response_s}};
}

/// The statements of the paper's text, and whether they hold.
[[nodiscard]] std::vector<Check> scojo_checks(const ScojoValues& simulated);

}  // namespace replay::study
