#include "scheduler/sweep/answer/answer_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/metrics/estimate_text.hpp"
#include "scheduler/metrics/summary.hpp"

namespace replay::sweep {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// So many that three quarters of the numbers have two digits that count, and none is more exact than a millionth.
int decimals_for(std::vector<double> numbers) {
  constexpr int kMost = 6;
  std::erase_if(numbers, [](double number) { return !std::isfinite(number) || number <= 0; });
  if (numbers.empty()) return 3;
  const auto quarter = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 4);
  std::ranges::nth_element(numbers, quarter);
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(*quarter))), 0, kMost);
}

// Decimals for means, with their half-widths; or of means, where there are none.
int decimals_of_means(const MetricComparison& metric) {
  std::vector<double> widths, means;
  for (const Setting& setting : metric.settings)
    for (const metrics::Estimate& mean : setting.means) {
      widths.push_back(mean.half_width);
      means.push_back(std::abs(mean.mean) / 100);
    }
  const bool has_widths = std::ranges::any_of(widths, [](double width) { return width > 0; });
  return decimals_for(has_widths ? widths : means);
}

int decimals_of_differences(const MetricComparison& metric) {
  std::vector<double> widths;
  for (const Setting& setting : metric.settings)
    for (const Difference& difference : setting.differences) widths.push_back(difference.estimate.half_width);
  return decimals_for(std::move(widths));
}

std::vector<std::string> name_cells(const StudyComparison& study, const Setting& setting) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < study.axes.size(); ++i) cells.push_back(study.axes[i].values[setting.values[i]]);
  if (cells.empty()) cells.emplace_back("all");
  return cells;
}

AnswerTable table_of(const StudyComparison& study, std::string title) {
  AnswerTable table{.title = std::move(title)};
  auto& head = table.rows.emplace_back();
  for (const Axis& axis : study.axes) head.push_back(axis.name);
  if (head.empty()) head.emplace_back("setting");
  table.names = head.size();
  table.best.push_back(0);
  return table;
}

AnswerTable means_table(const StudyComparison& study, const MetricComparison& metric) {
  AnswerTable table = table_of(study, "Means over seeds +- half-width of the 95 % interval");
  for (const std::string& policy : study.policies) table.rows[0].push_back(policy.empty() ? "mean" : policy);
  const bool has_best = metric.better != Better::kNeither && study.policies.size() > 1;
  if (has_best) table.rows[0].emplace_back(study.is_provisional ? "best so far" : "best");
  const int decimals = decimals_of_means(metric);
  for (const Setting& setting : metric.settings) {
    auto& row = table.rows.emplace_back(name_cells(study, setting));
    for (const metrics::Estimate& mean : setting.means)
      row.push_back(metrics::mean_text(mean, decimals) +
                    (mean.values > 0 && mean.values < study.seeds ? fmt::format(" ({})", mean.values) : ""));
    if (has_best) row.push_back(setting.best ? study.policies[*setting.best] : setting.is_tie ? "equal" : "open");
    table.best.push_back(setting.best ? table.names + *setting.best : 0);
  }
  return table;
}

std::string difference_cell(const Difference& difference, int decimals) {
  if (difference.is_none()) return "equal";
  std::string text = (difference.is_settled ? "* " : "") + metrics::difference_text(difference.estimate, decimals);
  return std::isfinite(difference.percent()) ? text + fmt::format(" {:+.1f} %", difference.percent()) : text;
}

AnswerTable differences_table(const StudyComparison& study, const MetricComparison& metric) {
  AnswerTable table = table_of(
      study,
      fmt::format(
          "Differences to {}, pairs of the same workload and seed: mean [95 % interval], % of its mean; * settled{}",
          study.policies[0], study.is_provisional ? " so far" : ""));
  const int decimals = decimals_of_differences(metric);
  for (std::size_t policy = 1; policy < study.policies.size(); ++policy)
    table.rows[0].push_back(study.policies[policy]);
  for (const Setting& setting : metric.settings) {
    auto& row = table.rows.emplace_back(name_cells(study, setting));
    for (std::size_t policy = 1; policy < study.policies.size(); ++policy) {
      const Difference& difference = setting.between(0, policy);
      const std::size_t both = std::min(setting.means[0].values, setting.means[policy].values);
      std::string cell = difference_cell(difference, decimals);
      if (difference.estimate.values < both) cell += fmt::format(" ({} pairs)", difference.estimate.values);
      row.push_back(std::move(cell));
    }
    table.best.push_back(0);
  }
  return table;
}

std::string seeds_text(const MetricComparison& metric, const Difference& difference) {
  if (std::isnan(difference.by_chance)) return "needs two seeds";
  const std::size_t seeds = metric.seeds_to_settle(difference);
  return seeds > kMostSeeds ? fmt::format("more than {}", kMostSeeds) : fmt::format("about {}", seeds);
}

// Where no policy is best: the one that leads, against those that it may not beat.
AnswerTable open_table(const StudyComparison& study, const MetricComparison& metric) {
  AnswerTable table = table_of(study, "Open, and how many seeds would settle it (an estimate)");
  for (const char* const column : {"policy", "less", "difference", "seeds now", "seeds to settle"})
    table.rows[0].emplace_back(column);
  const int decimals = decimals_of_differences(metric);
  for (const Setting& setting : metric.settings) {
    const auto leader = metric.leader(setting);
    if (!leader || setting.best || setting.is_tie) continue;
    for (std::size_t other = 0; other < study.policies.size(); ++other) {
      if (other == *leader) continue;
      const Difference& difference = setting.between(*leader, other);
      if (difference.is_settled || difference.is_none()) continue;
      auto& row = table.rows.emplace_back(name_cells(study, setting));
      row.push_back(study.policies[difference.second]);
      row.push_back(study.policies[difference.first]);
      row.push_back(metrics::difference_text(difference.estimate, decimals));
      row.push_back(fmt::format("{}", difference.estimate.values));
      row.push_back(seeds_text(metric, difference));
      table.best.push_back(0);
    }
  }
  return table;
}

std::string verdict_of(const StudyComparison& study, const MetricComparison& metric) {
  if (study.policies.size() < 2) return "The study has one policy: there is nothing to compare it with.";
  if (metric.better == Better::kNeither)
    return fmt::format(
        "No direction is better, so no policy is called best; {} of {} differences between policies are settled{}.",
        metric.tests - metric.open, metric.tests, study.is_provisional ? " so far" : "");
  std::vector<std::size_t> wins(study.policies.size(), 0);
  std::size_t ties = 0, open = 0;
  for (const Setting& setting : metric.settings) {
    if (setting.best)
      ++wins[*setting.best];
    else
      ++(setting.is_tie ? ties : open);
  }
  std::string text;
  for (std::size_t i = 0; i < wins.size(); ++i)
    if (wins[i] > 0) add_item(text, ", ", "{} in {}", study.policies[i], wins[i]);
  if (text.empty()) text = "no policy";
  if (ties > 0) text += fmt::format("; the best are equal in {}", ties);
  return fmt::format("{} of {}: {}; open in {}.", study.is_provisional ? "Best so far" : "Best",
                     counted(metric.settings.size(), "setting"), text, open);
}

// In lines of at most 120 characters, each with its end.
std::string wrapped(std::string_view line) {
  constexpr std::size_t kWidth = 120;
  std::string text;
  while (line.size() > kWidth) {
    const std::size_t cut = std::min(line.rfind(' ', kWidth), line.find(' ', kWidth));
    if (cut == std::string_view::npos) break;
    text.append(line.substr(0, cut)).append("\n");
    line.remove_prefix(cut + 1);
  }
  return text.append(line).append("\n");
}

MetricAnswer answer_of(const StudyComparison& study, const MetricComparison& metric) {
  const std::string_view unit = metrics::unit_of(metric.metric);
  constexpr std::string_view kDirections[] = {": less is better", ": more is better", ""};
  MetricAnswer answer{.title = fmt::format("{}{}{}{}", metric.metric, unit.empty() ? "" : ", ", unit,
                                           kDirections[static_cast<std::size_t>(metric.better)]),
                      .verdict = verdict_of(study, metric)};
  if (metric.without_value > 0)
    answer.verdict += fmt::format(" {} done without a value of this metric and left out.",
                                  counted(metric.without_value, "cell is", "cells are"));
  answer.tables.push_back(means_table(study, metric));
  if (study.policies.size() < 2) return answer;
  answer.tables.push_back(differences_table(study, metric));
  AnswerTable open = open_table(study, metric);
  if (open.rows.size() > 1) answer.tables.push_back(std::move(open));
  return answer;
}

// "12 of the same kind", the commonest first.
std::string most_common(const std::map<std::string, std::size_t>& counts) {
  constexpr std::size_t kMost = 10;
  std::vector<std::pair<std::string, std::size_t>> sorted{counts.begin(), counts.end()};
  std::ranges::stable_sort(sorted, std::greater{}, [](const auto& entry) { return entry.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, sorted.size()); ++i)
    add_item(text, "; ", "{}: {}", sorted[i].second, sorted[i].first);
  if (sorted.size() > kMost) add_item(text, "; ", "and {} more reasons", sorted.size() - kMost);
  return text;
}

// "28 records in each of 3 cells", or "5 to 28 ...", of the cells where it is not 0; empty: of none.
std::string cleaned_text(const StudyResults& results, double Cleaned::*member, std::string_view noun,
                         std::string_view more) {
  std::size_t cells = 0;
  double least = 0, most = 0;
  for (const CellResult& cell : results.cells) {
    const double count = cell.cleaned.*member;
    if (!(count > 0)) continue;
    least = cells == 0 ? count : std::min(least, count);
    most = std::max(most, count);
    ++cells;
  }
  if (cells == 0) return {};
  const std::string counts = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  return fmt::format("{} {}{} in {}", counts, most == 1 ? noun : fmt::format("{}s", noun), more,
                     cells == 1 ? "1 cell" : fmt::format("each of {} cells", cells));
}

// What `replay simulate` says of each run by itself.
void add_cleaning(AnswerText& answer, const StudyResults& results) {
  if (const auto left_out = cleaned_text(results, &Cleaned::left_out, "record", " of the log"); !left_out.empty()) {
    const auto wide = cleaned_text(results, &Cleaned::too_wide, "job", " wider than the machine");
    answer.cells.push_back(
        fmt::format("Cleaning has left out {}{}{}.", left_out, wide.empty() ? "" : "; of these ", wide));
  }
  if (const auto narrowed = cleaned_text(results, &Cleaned::narrowed, "job", " to the machine"); !narrowed.empty())
    answer.cells.push_back(fmt::format("Cleaning has narrowed {}.", narrowed));
}

void add_cells(AnswerText& answer, const StudyResults& results) {
  std::map<std::string, std::size_t> failures, versions;
  std::size_t failed = 0;
  for (const CellResult& cell : results.cells) {
    if (!cell.version.empty()) ++versions[cell.version];
    if (cell.failure.empty()) continue;
    ++failed;
    ++failures[cell.failure];
  }
  const std::size_t done = results.cells.size() - failed;
  const std::size_t missing = results.missing();
  answer.is_whole = failed == 0 && missing == 0 && versions.size() < 2;
  const std::string version = versions.size() == 1 ? fmt::format(", by version {}", versions.begin()->first) : "";
  answer.cells.push_back(
      failed + missing == 0
          ? fmt::format("{}{} done{}.", done == 1 ? "" : "All ", counted(done, "cell is", "cells are"), version)
          : fmt::format("{} of {} done{}; {} failed, {} missing.", done,
                        counted(results.planned, "cell is", "cells are"), version, failed, missing));
  if (failed > 0) answer.cells.push_back(fmt::format("Failed: {}.", most_common(failures)));
  if (failed + missing > 0)
    answer.cells.emplace_back(
        "They are left out: a mean is over the seeds that are there, which stand in brackets where some are not, and a "
        "difference "
        "over the seeds that both policies have.");
  if (missing > 0)
    answer.cells.emplace_back(
        "While cells are missing, all marks (* and best) are provisional: each is right by what is there now, and the "
        "missing cells may take it back.");
  add_cleaning(answer, results);
  if (versions.size() > 1)
    answer.cells.push_back(fmt::format("Computed by different versions: {}.", most_common(versions)));
}

void add_method(AnswerText& answer, const StudyComparison& study) {
  answer.method.emplace_back(
      "An interval is that of Student's t over the seeds: it covers the true mean in 95 of 100 studies where values "
      "are "
      "normal, in fewer where they are very skewed and seeds few.");
  if (study.policies.size() < 2) return;
  answer.method.emplace_back(
      "A difference is taken pair by pair, of the same workload and seed under both policies, and its own interval is "
      "at 95 %.");
  std::string tests;
  for (const MetricComparison& metric : study.metrics) add_item(tests, ", ", "{} of {}", metric.tests, metric.metric);
  answer.method.push_back(fmt::format(
      "* (settled): the differences of each two policies in all settings of a metric are tested together ({}), by "
      "Holm's "
      "correction at 5 %: one mark or more of a metric is wrong in at most one study of twenty. It asks for no "
      "independence, "
      "which tests of the same workloads do not have, and finds all that Bonferroni's does. So a difference whose own "
      "interval leaves out 0 may be open.",
      tests));
  answer.method.emplace_back(
      "Best: its difference to every other policy in the row is settled in its favour; equal: but for policies that "
      "have the same "
      "values with every seed. Seeds to settle: an estimate "
      "from the mean and the "
      "variance seen so far, at the level that the correction asks of those that are open; where the mean is near 0 it "
      "is "
      "as uncertain as that.");
}

}  // namespace

AnswerText answer_of(const StudyResults& results, const StudyComparison& comparison) {
  AnswerText answer{.title = results.name};
  add_cells(answer, results);
  if (comparison.undrawn > 0)
    answer.cells.push_back(
        fmt::format("In {} all metrics are the same with every seed: nothing was drawn, and a repetition says nothing. "
                    "Their cells count once, so that there are no intervals.",
                    counted(comparison.undrawn, "setting")));
  for (const MetricComparison& metric : comparison.metrics) answer.metrics.push_back(answer_of(comparison, metric));
  add_method(answer, comparison);
  return answer;
}

std::string to_text(const AnswerText& answer) {
  std::string text = answer.title + '\n';
  for (const std::string& line : answer.cells) text += wrapped(line);
  for (const MetricAnswer& metric : answer.metrics) {
    text += fmt::format("\n{}\n{}\n", metric.title, metric.verdict);
    for (const AnswerTable& table : metric.tables) text += fmt::format("\n{}\n{}", table.title, aligned(table.rows));
  }
  text += '\n';
  for (const std::string& line : answer.method) text += wrapped(line);
  return text;
}

}  // namespace replay::sweep
