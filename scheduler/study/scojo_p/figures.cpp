#include "scheduler/study/scojo_p/figures.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"

namespace replay::study {
namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86'400;
constexpr std::array<std::array<double, kResponseBins - 1>, kScojoGroups - 1> kLimits{
    {{10, 30, kMinute, 2 * kMinute, 5 * kMinute, 15 * kMinute, kHour, 4 * kHour, 12 * kHour, kDay},
     {2 * kMinute, 5 * kMinute, 15 * kMinute, 30 * kMinute, kHour, 2 * kHour, 4 * kHour, 8 * kHour, 16 * kHour, kDay},
     {2 * kHour, 4 * kHour, 6 * kHour, 8 * kHour, 12 * kHour, 16 * kHour, kDay, 2 * kDay, 3 * kDay, 5 * kDay}}};

class Mean {
 public:
  void add(double value) { sum_.add(value), ++values_; }
  [[nodiscard]] double value() const { return sum_.total() / values_; }  // NaN of nothing

 private:
  metrics::CompensatedSum sum_;
  double values_ = 0;
};

class Group {
 public:
  void add(const metrics::JobRow& row, const ScojoJob& job, double modifier) {
    const double response = seconds(row.response());
    ++figures_.jobs;
    response_.add(response);
    wait_.add(seconds(row.wait()));
    execution_.add(seconds(row.execution()));
    slowdown_.add(std::max(1.0, response / std::max(job.runtime_s, scojo_p_paper::kSlowdownBound)));
    if (row.first_cores < job.optimum) ++figures_.shrunk;
    if (row.first_cores > job.optimum) ++figures_.expanded;
    if (!job.has_choice) return;
    const double of_optimum = static_cast<double>(row.first_cores) / job.optimum;
    of_optimum_.add(of_optimum);
    of_submitted_.add(static_cast<double>(row.first_cores) / job.submitted);
    const bool is_shrunk = row.first_cores < job.optimum;
    if (is_shrunk) of_optimum_shrunk_.add(of_optimum);
    if (std::isnan(modifier)) return;
    modifier_.add(modifier);
    if (is_shrunk) modifier_shrunk_.add(modifier);
  }
  [[nodiscard]] ScojoGroupFigures figures() const {
    ScojoGroupFigures made = figures_;
    made.response_s = response_.value(), made.wait_s = wait_.value(), made.slowdown = slowdown_.value();
    made.execution_s = execution_.value(), made.modifier = modifier_.value();
    made.of_optimum = of_optimum_.value(), made.of_submitted = of_submitted_.value();
    made.of_optimum_shrunk = of_optimum_shrunk_.value(), made.modifier_shrunk = modifier_shrunk_.value();
    return made;
  }

 private:
  ScojoGroupFigures figures_;
  Mean response_, wait_, slowdown_, execution_, of_optimum_, of_submitted_, of_optimum_shrunk_, modifier_,
      modifier_shrunk_;
};

}  // namespace

std::array<ResponseBin, kResponseBins> response_bins(std::size_t group) {
  std::array<ResponseBin, kResponseBins> bins;
  std::ranges::transform(kLimits.at(group - 1), bins.begin(), [](double limit) {
    return ResponseBin{limit, length_text(from_seconds(limit))};
  });
  bins.back() = {std::numeric_limits<double>::infinity(), "more"};
  return bins;
}

ScojoFigures ScojoRecord::figures(const ScojoWorkload& workload) const {
  const auto rows = jobs_.rows();
  INVARIANT(rows.size() == workload.facts.size(), "{} rows for {} jobs", rows.size(), workload.facts.size());
  const auto cut = static_cast<std::size_t>(static_cast<double>(rows.size()) * scojo_p_paper::kCutPercent / 100);
  ScojoFigures made;
  std::array<Group, kScojoGroups> groups;
  for (std::size_t i = cut; i < rows.size() - cut; ++i) {
    const metrics::JobRow& row = rows[i];
    const ScojoJob& job = workload.facts[i];
    INVARIANT(row.ran(), "job {} did not run", number(row.job));
    const metrics::ChosenSize* chosen = sizes_.find(row.job);
    const double modifier = chosen == nullptr || chosen->choice.modifier == 0 ? kNoValue : chosen->choice.modifier;
    groups[0].add(row, job, modifier);
    groups[job.group].add(row, job, modifier);
    const auto& limits = kLimits.at(job.group - 1);
    const auto bin = std::ranges::lower_bound(limits, seconds(row.response()));
    ++made.responses[job.group][static_cast<std::size_t>(bin - limits.begin())];
  }
  for (std::size_t g = 0; g < kScojoGroups; ++g) made.groups[g] = groups[g].figures();
  made.utilisation =
      metrics::summarise(jobs_, series_, {.trim_percent = scojo_p_paper::kCutPercent}).value("utilisation");
  return made;
}

}  // namespace replay::study
