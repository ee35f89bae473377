#include "benchmarks/perf/vmlib_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/percentile.hpp"

namespace replay::bench {
namespace {

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }
std::string ratio_text(const std::optional<double>& value) { return value ? fmt::format("{:.3g}", *value) : "-"; }

std::vector<std::string> cells(const Series& series, std::span<const Setting> settings) {
  std::vector<std::string> row{fmt::format("{}, {}", series.name, series.unit)};
  for (const Setting setting : settings) row.push_back(number(series.value(setting)));
  return row;
}

Table times(const Measurements& measured) {
  Table table{
      "2 ranks; 1 core is shared by both",
      {{"", "stock, 2 cores", "vmlib, 2 cores", "stock, 1 core", "yield, 1 core", "token, 1 core", "1 rank, 1 core"}}};
  for (const Series& series : measured.series) table.rows.push_back(cells(series, std::span{kSettings}.first(6)));
  return table;
}

Table four_ranks(const Measurements& measured) {
  Table table{"4 ranks on 2 cores", {{"", "stock", "yield", "token", "yield / 2 ranks", "token / 2 ranks"}}};
  for (const Series& series : measured.series) {
    std::vector<std::string> row = cells(series, std::span{kSettings}.last(3));
    row.push_back(ratio_text(series.ratio(Setting::kYieldFour, Setting::kStock)));
    row.push_back(ratio_text(series.ratio(Setting::kTokenFour, Setting::kStock)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table ratios(const Measurements& measured) {
  Table table{"ratios",
              {{"", "vmlib - stock, 2 cores", "stock 1 / 2 cores", "yield 1 / stock 2 cores", "token 1 / stock 2 cores",
                "yield / 1 rank", "token / 1 rank"}}};
  for (const Series& series : measured.series) {
    const auto overhead = series.overhead();
    const auto stock = series.value(Setting::kStock);
    table.rows.push_back({series.name,
                          overhead && stock
                              ? fmt::format("{:+.3g} {} ({:+.1f} %)", *overhead, series.unit, *overhead / *stock * 100)
                              : "-",
                          ratio_text(series.ratio(Setting::kStockShared, Setting::kStock)),
                          ratio_text(series.ratio(Setting::kYieldShared, Setting::kStock)),
                          ratio_text(series.ratio(Setting::kTokenShared, Setting::kStock)),
                          ratio_text(series.ratio(Setting::kYieldShared, Setting::kOneRank)),
                          ratio_text(series.ratio(Setting::kTokenShared, Setting::kOneRank))});
  }
  return table;
}

Table moves(const Measurements& measured) {
  Table table{"shrink or expand of a running job, from the order to all ranks on their cores, ms",
              {{"", "moves", "median", "p90", "p99", "most"}}};
  for (auto [back_end, seconds] : measured.moves) {
    if (seconds.empty()) continue;
    const auto ms = [](double s) { return fmt::format("{:.3f}", s * 1e3); };
    table.rows.push_back({back_end, fmt::format("{} of {}", seconds.size(), measured.moves_wanted), ms(median(seconds)),
                          ms(percentile(seconds, 0.9)), ms(percentile(seconds, 0.99)), ms(std::ranges::max(seconds))});
  }
  return table;
}

Table start_to_end(const Measurements& measured) {
  Table table{"a job of 2 ranks that does nothing, from its start to its end, ms", {{"", "median", "least", "most"}}};
  const auto add = [&table](const char* name, const std::vector<double>& seconds) {
    if (seconds.empty()) return;
    const auto [least, most] = std::ranges::minmax(seconds);
    table.rows.push_back({name, fmt::format("{:.1f}", median(seconds) * 1e3), fmt::format("{:.1f}", least * 1e3),
                          fmt::format("{:.1f}", most * 1e3)});
  };
  add("under the agent", measured.start_to_end_agent);
  add("bare mpiexec", measured.start_to_end_bare);
  return table;
}

Table pairs(const Measurements& measured) {
  Table table{"two jobs of 2 ranks on the same 2 cores, until both have ended, s",
              {{"", "one after the other", "together, yield", "ratio", "together, token", "ratio"}}};
  for (const PairSeries& pair : measured.pairs) {
    if (pair.one_after_the_other.empty()) continue;
    const double alone = median(pair.one_after_the_other);
    std::vector<std::string> row{pair.name, number(alone)};
    for (const char* back_end : {"yield", "token"}) {
      const auto found = pair.together.find(back_end);
      const bool is_there = found != pair.together.end() && !found->second.empty();
      row.push_back(is_there ? number(median(found->second)) : "-");
      row.push_back(is_there ? ratio_text(median(found->second) / alone) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// ---- targets --------------------------------------------------------------------------------------------------------

/// What was found, by back end; what does not depend on it stands under yield.
struct Found {
  std::optional<double> yield;
  std::optional<double> token;
};

std::string verdict(const Found& found, double target) {
  if (!found.yield && !found.token) return "not measured";
  const bool by_yield = found.yield && *found.yield <= target;
  const bool by_token = found.token && *found.token <= target;
  const bool by_all = (by_yield || !found.yield) && (by_token || !found.token);
  if (by_all) return "met";
  if (!by_yield && !by_token) return "NOT MET";
  return by_yield ? "met by yield" : "met by token";
}

struct Judgement {
  std::string what;
  Found found;
  double target;
  const char* unit;
};

using Judgements = std::vector<Judgement>;

void judge(Judgements& all, std::string what, const Found& found, double target, const char* unit) {
  all.push_back({std::move(what), found, target, unit});
}

struct KernelTargets {
  const char* kernel;  ///< the first word of the series' names
  double shared_to_two_cores;
  double shared_to_one_rank;
};
/// For kernels without a target: those of the other kernels do not apply.
constexpr double kNoTarget = 0;
constexpr KernelTargets kKernelTargets[] = {{"cg", 2.3, 1.3},        {"mg", 2.1, 1.1},       {"lu", 2.1, 1.1},
                                            {"ep", kNoTarget, 1.05}, {"is", kNoTarget, 1.4}, {"ft", kNoTarget, 1.3}};
/// Class S is too short for a ratio that means something.
bool counts(const Series& series, const char* kernel) {
  return series.name.starts_with(fmt::format("{} ", kernel)) && !series.name.ends_with(" S");
}
bool is_kernel(const Series& series) { return series.unit == "s" && !series.name.ends_with(" S"); }

Found shared_ratio(const Series& series, Setting below) {
  return {series.ratio(Setting::kYieldShared, below), series.ratio(Setting::kTokenShared, below)};
}

void judge_kernels(const Measurements& measured, Judgements& all) {
  for (const KernelTargets& target : kKernelTargets) {
    for (const Series& series : measured.series) {
      if (!counts(series, target.kernel)) continue;
      if (target.shared_to_two_cores != kNoTarget)
        judge(all, fmt::format("1. {}: 2 ranks on 1 core / on 2 cores", series.name),
              shared_ratio(series, Setting::kStock), target.shared_to_two_cores, "");
      judge(all, fmt::format("2. {}: 2 ranks on 1 core / 1 rank", series.name), shared_ratio(series, Setting::kOneRank),
            target.shared_to_one_rank, "");
    }
  }
}

void judge_four_ranks(const Measurements& measured, Judgements& all) {
  Found worst;
  const auto raise = [](std::optional<double>& most, const std::optional<double>& value) {
    if (value) most = std::max(most.value_or(0), *value);
  };
  for (const Series& series : measured.series) {
    if (!is_kernel(series)) continue;
    raise(worst.yield, series.ratio(Setting::kYieldFour, Setting::kStock));
    raise(worst.token, series.ratio(Setting::kTokenFour, Setting::kStock));
  }
  judge(all, "3. 4 ranks on 2 cores / 2 ranks, worst kernel", worst, 1.3, "");
}

void judge_messages(const Measurements& measured, Judgements& all) {
  for (const Series& series : measured.series)
    if (series.name == "ping-pong 8 B")
      judge(all, "4. ping-pong 8 B on a shared core",
            {series.value(Setting::kYieldShared), series.value(Setting::kTokenShared)}, 3, " us");
  for (const Series& series : measured.series) {
    const auto overhead = series.overhead();
    const std::string what = fmt::format("5. {}: overhead on 2 cores", series.name);
    if (series.unit == "us" && series.name != "barrier") judge(all, what, {overhead, {}}, 0.05, " us");
    if (is_kernel(series) && overhead)
      judge(all, what, {*overhead / *series.value(Setting::kStock) * 100, {}}, 1, " %");
  }
}

void judge_moves(const Measurements& measured, Judgements& all) {
  Found middle;
  Found late;
  Found missing;
  for (auto [back_end, seconds] : measured.moves) {
    if (seconds.empty()) continue;
    const auto part = back_end == "token" ? &Found::token : &Found::yield;
    middle.*part = median(seconds) * 1e3;
    late.*part = percentile(seconds, 0.99) * 1e3;
    missing.*part = static_cast<double>(measured.moves_wanted) - static_cast<double>(seconds.size());
  }
  judge(all, "6. shrink or expand, median", middle, 0.5, " ms");
  judge(all, "6. shrink or expand, p99", late, 10, " ms");
  judge(all, fmt::format("6. missing of {} moves with a verified result", measured.moves_wanted), missing, 0, "");
}

void judge_pairs(const Measurements& measured, Judgements& all) {
  for (const PairSeries& pair : measured.pairs) {
    Found found;
    for (const auto& [back_end, seconds] : pair.together)
      if (!seconds.empty())
        (back_end == "token" ? found.token : found.yield) = median(seconds) / median(pair.one_after_the_other);
    judge(all, fmt::format("8. {}: together / one after the other", pair.name), found, 1.0, "");
  }
}

/// Targets 7, 9 and 10 are no figures; tests check them.
Judgements judgements(const Measurements& measured) {
  Judgements all;
  judge_kernels(measured, all);
  judge_four_ranks(measured, all);
  judge_messages(measured, all);
  judge_moves(measured, all);
  judge_pairs(measured, all);
  return all;
}

Table targets(const Measurements& measured) {
  Table table{"targets", {{"", "yield", "token", "target", "", "fastest: yield", "token", ""}}};
  const Judgements medians = judgements(measured);
  const Judgements fastest = judgements(fastest_of(measured));
  for (std::size_t i = 0; i < medians.size(); ++i) {
    const auto& [what, found, target, unit] = medians[i];
    const auto cell = [unit = unit](const std::optional<double>& value) {
      return value ? fmt::format("{:.3g}{}", *value, unit) : "-";
    };
    table.rows.push_back({what, cell(found.yield), cell(found.token), fmt::format("<= {:.3g}{}", target, unit),
                          measured.is_disturbed ? "disturbed" : verdict(found, target), cell(fastest[i].found.yield),
                          cell(fastest[i].found.token), verdict(fastest[i].found, target)});
  }
  return table;
}

}  // namespace

double median(std::vector<double> values) { return percentile(values, 0.5); }

Measurements fastest_of(Measurements measured) {
  const auto keep_fastest = [](std::vector<double>& rounds) {
    if (!rounds.empty()) rounds = {std::ranges::min(rounds)};
  };
  for (Series& series : measured.series)
    for (auto& [setting, rounds] : series.rounds) keep_fastest(rounds);
  for (PairSeries& pair : measured.pairs) {
    keep_fastest(pair.one_after_the_other);
    for (auto& [back_end, rounds] : pair.together) keep_fastest(rounds);
  }
  return measured;
}

std::optional<double> Series::value(Setting setting) const {
  const auto found = rounds.find(setting);
  if (found == rounds.end() || found->second.empty()) return std::nullopt;
  return median(found->second);
}

std::optional<double> Series::ratio(Setting above, Setting below) const {
  const auto a = value(above);
  const auto b = value(below);
  if (!a || !b) return std::nullopt;
  return *a / *b;
}

std::optional<double> Series::overhead() const {
  const auto with = rounds.find(Setting::kVmlib);
  const auto without = rounds.find(Setting::kStock);
  if (with == rounds.end() || without == rounds.end()) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(with->second.size(), without->second.size()); ++i)
    differences.push_back(with->second[i] - without->second[i]);
  if (differences.empty()) return std::nullopt;
  return median(differences);
}

std::string Table::text() const {
  std::vector<std::size_t> width(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text = title + "\n";
  for (const auto& row : rows) {
    text += fmt::format("  {:<{}}", row[0], width[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], width[i]);
    text += '\n';
  }
  return text;
}

std::string Table::markdown() const {
  std::string text = fmt::format("**{}**\n\n", title);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i > 0) continue;
    text += '|';
    for (std::size_t column = 0; column < rows[0].size(); ++column) text += "---|";
    text += '\n';
  }
  return text;
}

std::vector<Table> tables_of(const Measurements& measured) {
  std::vector<Table> tables{times(measured),        ratios(measured), four_ranks(measured), moves(measured),
                            start_to_end(measured), pairs(measured),  targets(measured)};
  std::erase_if(tables, [](const Table& table) { return table.rows.size() < 2; });
  return tables;
}

}  // namespace replay::bench
