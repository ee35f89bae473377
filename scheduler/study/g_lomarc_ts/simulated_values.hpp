// Values of the simulations for the page of the G-LOMARC-TS paper and the checks of its statements. Means over the seeds
// are arithmetic, as the paper averages its workloads.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "scheduler/study/g_lomarc_ts/study.hpp"
#include "scheduler/study/result.hpp"

namespace replay::study {

/// A figure of a simulation: of a group of its jobs, or of the whole.
struct GlomarcFigure {
  using OfGroup = double GlomarcGroupFigures::*;
  using OfRun = double GlomarcFigures::*;

  GlomarcFigure(glomarc::Group group, OfGroup figure)  // NOLINT(google-explicit-constructor)
      : group_(group), figure_(figure) {}
  GlomarcFigure(OfRun figure) : figure_(figure) {}  // NOLINT(google-explicit-constructor): a figure is one of both

  [[nodiscard]] double of(const GlomarcFigures& figures) const;

 private:
  glomarc::Group group_ = glomarc::kAll;
  std::variant<OfGroup, OfRun> figure_;
};

/// Relative response as the paper compares it: of medium and of long jobs, where no bound matters, and of all jobs with
/// the bound that its own numbers imply.
[[nodiscard]] GlomarcFigure relative_response_of(glomarc::Group group);

class GlomarcValues {
 public:
  using Run = GlomarcRun;
  using Figure = GlomarcFigure;

  explicit GlomarcValues(const GlomarcOutcome& outcome) : outcome_(outcome) {}

  [[nodiscard]] const GlomarcOutcome& outcome() const { return outcome_; }
  [[nodiscard]] bool has(const GlomarcRun& run) const { return outcome_.runs.contains(run); }
  /// By seed; empty if it was not run.
  [[nodiscard]] std::vector<double> by_seed(const GlomarcRun& run, const GlomarcFigure& figure) const;
  /// NaN if it was not run.
  [[nodiscard]] double mean(const GlomarcRun& run, const GlomarcFigure& figure) const {
    return mean_of(by_seed(run, figure));
  }
  /// Groups formed by the case of the paper, 1 to 3.
  [[nodiscard]] double groups_of_case(const GlomarcRun& run, std::size_t way) const;

 private:
  const GlomarcOutcome& outcome_;
};

using GlomarcGain = Gain<GlomarcValues>;

/// A variant with the parameters of Table 6.
[[nodiscard]] inline GlomarcRun glomarc_run(GlomarcLoad load, GlomarcVariant variant) {
  return {load, {.variant = variant}};
}

/// A run of Figure 8; NH has no blocks and was run once.
[[nodiscard]] inline GlomarcRun glomarc_block_run(GlomarcVariant variant, int block) {
  GlomarcRun run = glomarc_run(GlomarcLoad::kW2, variant);
  if (variant != GlomarcVariant::kNh) run.policy.block = block;
  return run;
}
/// A run of Figure 9.
[[nodiscard]] inline GlomarcRun glomarc_slack_run(double slack) { return {GlomarcLoad::kW1, {.slack = slack}}; }

/// The statements of the paper's text, and whether they hold.
[[nodiscard]] std::vector<Check> glomarc_checks(const GlomarcValues& simulated);

}  // namespace replay::study
