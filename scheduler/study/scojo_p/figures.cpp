#include "scheduler/study/scojo_p/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "scheduler/base/error.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"

namespace replay::study {
namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86'400;
using Limits = std::array<double, 10>;
constexpr Limits kShortLimits{10,           30,    kMinute,   2 * kMinute, 5 * kMinute,
                              15 * kMinute, kHour, 4 * kHour, 12 * kHour,  kDay},
    kMediumLimits{2 * kMinute, 5 * kMinute, 15 * kMinute, 30 * kMinute, kHour,
                  2 * kHour,   4 * kHour,   8 * kHour,    16 * kHour,   kDay},
    kLongLimits{2 * kHour, 4 * kHour, 6 * kHour, 8 * kHour, 12 * kHour, 16 * kHour, kDay, 2 * kDay, 3 * kDay, 5 * kDay};

const Limits& limits_of(std::string_view group) {
  return group == "short" ? kShortLimits : group == "medium" ? kMediumLimits : kLongLimits;
}

std::string bin_figure(std::string_view group, std::string_view label) {
  return fmt::format("{} up to {}", group, label);
}

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
    const CoreCount optimum = cores_at(job.optimum, 1);
    const double response = seconds(row.response()), of_optimum = static_cast<double>(row.first_cores) / optimum;
    ++jobs_;
    means_["response"].add(response);
    means_["wait"].add(seconds(row.wait()));
    means_["execution"].add(seconds(row.execution()));
    means_["slowdown"].add(std::max(1.0, response / std::max(job.runtime_s, scojo_p_paper::kSlowdownBound)));
    const bool is_shrunk = row.first_cores < optimum;
    if (is_shrunk) ++shrunk_;
    if (row.first_cores > optimum) ++expanded_;
    if (!job.has_choice) return;
    means_["of optimum"].add(of_optimum);
    means_["of submitted"].add(static_cast<double>(row.first_cores) / job.submitted);
    if (is_shrunk) means_["of optimum shrunk"].add(of_optimum);
    if (std::isnan(modifier)) return;
    means_["modifier"].add(modifier);
    if (is_shrunk) means_["modifier shrunk"].add(modifier);
  }
  void add_to(Figures& figures, std::string_view group) {
    const auto add = [&](std::string_view name, double value) { figures[fmt::format("{} {}", name, group)] = value; };
    add("jobs", jobs_), add("shrunk", shrunk_), add("expanded", expanded_);
    for (const char* name : {"response", "wait", "execution", "slowdown", "of optimum", "of submitted",
                             "of optimum shrunk", "modifier", "modifier shrunk"})
      add(name, means_[name].value());
  }

 private:
  double jobs_ = 0, shrunk_ = 0, expanded_ = 0;
  std::map<std::string_view, Mean> means_;
};

}  // namespace

std::vector<std::string> response_bins(std::string_view group) {
  std::vector<std::string> labels;
  for (const double limit : limits_of(group)) labels.push_back(length_text(from_seconds(limit)));
  labels.emplace_back("more");
  return labels;
}

Figures ScojoRecord::figures(const ScojoWorkload& workload) const {
  const auto rows = jobs_.rows();
  INVARIANT(rows.size() == workload.facts.size(), "{} rows for {} jobs", rows.size(), workload.facts.size());
  const auto cut = static_cast<std::size_t>(static_cast<double>(rows.size()) * scojo_p_paper::kCutPercent / 100);
  Figures made;
  for (const char* group : {"short", "medium", "long"})
    for (const std::string& label : response_bins(group)) made[bin_figure(group, label)] = 0;
  std::map<std::string_view, Group> groups;
  for (std::size_t i = cut; i < rows.size() - cut; ++i) {
    const metrics::JobRow& row = rows[i];
    const ScojoJob& job = workload.facts[i];
    INVARIANT(row.ran(), "job {} did not run", number(row.job));
    const metrics::ChosenSize* chosen = sizes_.find(row.job);
    const double modifier = chosen == nullptr || chosen->choice.modifier == 0 ? kNoValue : chosen->choice.modifier;
    groups["all"].add(row, job, modifier);
    groups[job.group].add(row, job, modifier);
    const Limits& limits = limits_of(job.group);
    const auto* const limit = std::ranges::lower_bound(limits, seconds(row.response()));
    ++made.at(bin_figure(job.group, limit == limits.end() ? "more" : length_text(from_seconds(*limit))));
  }
  for (const std::string_view group : kScojoGroups) groups[group].add_to(made, group);
  made["utilisation"] =
      metrics::summarise(jobs_, series_, {.trim_percent = scojo_p_paper::kCutPercent}).value("utilisation");
  return made;
}

}  // namespace replay::study
