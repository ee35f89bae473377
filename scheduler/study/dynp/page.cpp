// The page of the dynP paper: Tables 3 to 5, Figures 1 to 4, what the deciders did, and what the text says.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "scheduler/study/dynp/numbers.hpp"
#include "scheduler/study/dynp/study.hpp"

namespace replay::study {
namespace {

namespace paper = dynp_paper;

enum PolicyIndex : std::size_t { kFcfs, kSjf, kLjf, kAdvanced, kPreferred, kSimple };
using Member = double paper::ByPolicy::*;
struct Compared {
  std::size_t policy;
  std::string_view name;
  Member member;
};
constexpr Compared kBasic[] = {{kFcfs, "FCFS", &paper::ByPolicy::fcfs},
                               {kSjf, "SJF", &paper::ByPolicy::sjf},
                               {kLjf, "LJF", &paper::ByPolicy::ljf}};
constexpr Compared kTuned[] = {{kSjf, "SJF", &paper::ByPolicy::sjf},
                               {kAdvanced, "advanced", &paper::ByPolicy::advanced},
                               {kPreferred, "SJF-preferred", &paper::ByPolicy::preferred}};

constexpr Band kSldwaBand{.relative = 0.25};
constexpr Band kUtilisationBand{.absolute = 3};
constexpr Band kGainBand{.absolute = 6};
constexpr Band kPointsBand{.absolute = 1};

double percent(double share) { return share * 100; }

const paper::FactorRow* paper_row(const std::string& log, double factor) {
  const auto found = std::ranges::find_if(paper::kFactors, [&](const paper::FactorRow& row) {
    return row.log == log && std::abs(row.factor - factor) < 1e-9;
  });
  return found == paper::kFactors.end() ? nullptr : &*found;
}

struct SimulatedValues {
  const DynpOutcome& outcome;

  [[nodiscard]] const DynpNumbers& of(std::size_t log, std::size_t factor, std::size_t policy) const {
    return outcome.means[log][factor][policy];
  }
  [[nodiscard]] double sldwa(std::size_t log, std::size_t factor, std::size_t policy) const {
    return of(log, factor, policy).sldwa;
  }
  [[nodiscard]] double utilisation(std::size_t log, std::size_t factor, std::size_t policy) const {
    return percent(of(log, factor, policy).utilisation);
  }
  /// Over SJF, in per cent; good is positive.
  [[nodiscard]] double gain(std::size_t log, std::size_t factor, std::size_t policy) const {
    return percent(1 - sldwa(log, factor, policy) / sldwa(log, factor, kSjf));
  }
  [[nodiscard]] double points(std::size_t log, std::size_t factor, std::size_t policy) const {
    return utilisation(log, factor, policy) - utilisation(log, factor, kSjf);
  }
  [[nodiscard]] double mean_gain(std::size_t log, std::size_t policy) const {
    double sum = 0;
    for (std::size_t f = 0; f < factors().size(); ++f) sum += gain(log, f, policy);
    return sum / static_cast<double>(factors().size());
  }
  [[nodiscard]] double mean_points(std::size_t log, std::size_t policy) const {
    double sum = 0;
    for (std::size_t f = 0; f < factors().size(); ++f) sum += points(log, f, policy);
    return sum / static_cast<double>(factors().size());
  }
  [[nodiscard]] const std::vector<double>& factors() const { return outcome.options.factors; }
  [[nodiscard]] std::size_t logs() const { return outcome.logs.size(); }
  [[nodiscard]] const std::string& name(std::size_t log) const { return outcome.logs[log].name; }
};

// Calls add(log, factor, the row's name, the paper's row or null).
template <class Add>
void for_each_row(const SimulatedValues& simulated, const Add& add) {
  for (std::size_t l = 0; l < simulated.logs(); ++l)
    for (std::size_t f = 0; f < simulated.factors().size(); ++f)
      add(l, f, fmt::format("{} {:.1f}", simulated.name(l), simulated.factors()[f]),
          paper_row(simulated.name(l), simulated.factors()[f]));
}

// Explains the different levels, first by the load, with its numbers.
std::string why_levels_differ(const SimulatedValues& simulated) {
  constexpr std::uint64_t kJobsOfPaper = 10'000;
  const std::uint64_t jobs = simulated.outcome.options.jobs;
  const std::string smaller =
      jobs == kJobsOfPaper ? std::string{} : fmt::format(" and have {} jobs, not {}", jobs, kJobsOfPaper);
  std::string loads;
  for_each_row(simulated, [&](std::size_t l, std::size_t f, const std::string&, const paper::FactorRow* row) {
    if (row != nullptr && simulated.factors()[f] == 1)
      loads += fmt::format("{}{} {:.1f} for {:.1f}", loads.empty() ? "" : ", ", simulated.name(l),
                           simulated.utilisation(l, f, kFcfs), row->utilisation.fcfs);
  });
  return fmt::format(
      "the job sets are not the paper's{}: it does not say how its own were drawn, and its CTC, LANL and SDSC were "
      "cleaned in other ways (its Table 2){}{}. The last figure compares at equal utilisation",
      smaller, loads.empty() ? "" : "; utilisation of FCFS at factor 1, %, ours for the paper's: ", loads);
}

Table table_4(const SimulatedValues& simulated, const std::string& why) {
  Table table{.id = "table 4",
              .title = "Table 4: the basic policies",
              .source = "Table 4, the numbers of Figures 1 and 2",
              .row_name = "log, factor",
              .columns = {},
              .rows = {}};
  for (const Compared& policy : kBasic)
    table.columns.push_back({fmt::format("SLDwA {}", policy.name), "ratio", 2, kSldwaBand, why});
  for (const Compared& policy : kBasic)
    table.columns.push_back({fmt::format("utilisation {}", policy.name), "%", 2, kUtilisationBand, why});
  for_each_row(simulated, [&](std::size_t l, std::size_t f, const std::string& name, const paper::FactorRow* row) {
    Row line{name, {}};
    for (const auto& [policy, ignored, member] : kBasic)
      line.values.push_back({simulated.sldwa(l, f, policy), row ? std::optional{row->sldwa.*member} : std::nullopt});
    for (const auto& [policy, ignored, member] : kBasic)
      line.values.push_back(
          {simulated.utilisation(l, f, policy), row ? std::optional{row->utilisation.*member} : std::nullopt});
    table.rows.push_back(std::move(line));
  });
  return table;
}

Table table_5(const SimulatedValues& simulated, const std::string& why) {
  Table table{.id = "table 5",
              .title = "Table 5: dynP with the advanced and the SJF-preferred decider, against SJF",
              .source =
                  "Table 5, the numbers of Figures 3 and 4; its last columns are differences to SJF, not to FCFS as "
                  "its header says",
              .row_name = "log, factor",
              .columns = {},
              .rows = {}};
  for (const Compared& policy : kTuned)
    table.columns.push_back({fmt::format("SLDwA {}", policy.name), "ratio", 2, kSldwaBand, why});
  table.columns.push_back({"gain advanced", "%", 2, kGainBand, why});
  table.columns.push_back({"gain preferred", "%", 2, kGainBand, why});
  for (const Compared& policy : kTuned)
    table.columns.push_back({fmt::format("utilisation {}", policy.name), "%", 2, kUtilisationBand, why});
  table.columns.push_back({"difference advanced", "points", 2, kPointsBand, why});
  table.columns.push_back({"difference preferred", "points", 2, kPointsBand, why});
  for_each_row(simulated, [&](std::size_t l, std::size_t f, const std::string& name, const paper::FactorRow* row) {
    Row line{name, {}};
    const auto printed = [row](double paper::FactorRow::*member) {
      return row == nullptr ? std::nullopt : std::optional{row->*member};
    };
    for (const auto& [policy, ignored, member] : kTuned)
      line.values.push_back({simulated.sldwa(l, f, policy), row ? std::optional{row->sldwa.*member} : std::nullopt});
    line.values.push_back({simulated.gain(l, f, kAdvanced), printed(&paper::FactorRow::gain_advanced)});
    line.values.push_back({simulated.gain(l, f, kPreferred), printed(&paper::FactorRow::gain_preferred)});
    for (const auto& [policy, ignored, member] : kTuned)
      line.values.push_back(
          {simulated.utilisation(l, f, policy), row ? std::optional{row->utilisation.*member} : std::nullopt});
    line.values.push_back({simulated.points(l, f, kAdvanced), printed(&paper::FactorRow::points_advanced)});
    line.values.push_back({simulated.points(l, f, kPreferred), printed(&paper::FactorRow::points_preferred)});
    table.rows.push_back(std::move(line));
  });
  return table;
}

// Whether the factors are those over which the paper's Table 3 is a mean.
bool has_all_factors(const SimulatedValues& simulated, std::size_t log) {
  const auto of_log = std::ranges::count(paper::kFactors, simulated.name(log), &paper::FactorRow::log);
  return of_log == std::ranges::ssize(simulated.factors()) &&
         std::ranges::all_of(simulated.factors(),
                             [&](double factor) { return paper_row(simulated.name(log), factor) != nullptr; });
}

Table table_3(const SimulatedValues& simulated, const std::string& why) {
  Table table{.id = "table 3",
              .title = "Table 3: means of Table 5 over the factors",
              .source = "Table 3",
              .row_name = "log",
              .columns = {{"gain advanced", "%", 2, kGainBand, why},
                          {"gain preferred", "%", 2, kGainBand, why},
                          {"difference advanced", "points", 2, kPointsBand, why},
                          {"difference preferred", "points", 2, kPointsBand, why}},
              .rows = {}};
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    const auto found = std::ranges::find(paper::kLogs, simulated.name(l), &paper::LogRow::log);
    const auto printed = [&](double paper::LogRow::*member) {
      const bool compares = found != paper::kLogs.end() && has_all_factors(simulated, l);
      return compares ? std::optional{(*found).*member} : std::nullopt;
    };
    table.rows.push_back({simulated.name(l),
                          {{simulated.mean_gain(l, kAdvanced), printed(&paper::LogRow::gain_advanced)},
                           {simulated.mean_gain(l, kPreferred), printed(&paper::LogRow::gain_preferred)},
                           {simulated.mean_points(l, kAdvanced), printed(&paper::LogRow::points_advanced)},
                           {simulated.mean_points(l, kPreferred), printed(&paper::LogRow::points_preferred)}}});
  }
  return table;
}

Table deciders(const SimulatedValues& simulated) {
  constexpr Compared kDeciders[] = {
      {kAdvanced, "advanced", nullptr}, {kPreferred, "preferred", nullptr}, {kSimple, "simple", nullptr}};
  Table table{
      .id = "deciders",
      .title = "What the deciders did",
      .source = {},
      .row_name = "log, factor",
      .columns = {{"SLDwA simple", "ratio", 2}, {"utilisation simple", "%", 2}},
      .rows = {},
      .notes = {"A share is of the time from the first choice to the end; with no job waiting the last choice stays."}};
  for (const Compared& decider : kDeciders) {
    table.columns.push_back({fmt::format("switches {}", decider.name), "times", 0});
    for (const Compared& policy : kBasic)
      table.columns.push_back({fmt::format("{} {}", decider.name, policy.name), "%", 0});
  }
  for_each_row(simulated, [&](std::size_t l, std::size_t f, const std::string& name, const paper::FactorRow*) {
    Row line{name, {{simulated.sldwa(l, f, kSimple)}, {simulated.utilisation(l, f, kSimple)}}};
    for (const Compared& decider : kDeciders) {
      line.values.push_back({simulated.of(l, f, decider.policy).switches});
      for (const double share : simulated.of(l, f, decider.policy).shares) line.values.push_back({percent(share)});
    }
    table.rows.push_back(std::move(line));
  });
  return table;
}

// ---- figures ----

// What the axes show. x: the factor, or the utilisation; y: SLDwA, or the utilisation.
struct Axes {
  std::string x_name, y_name;
  bool is_sldwa, over_utilisation;
};

Figure figure(const SimulatedValues& simulated, std::string title, std::span<const Compared> policies,
              const Axes& axes) {
  Figure result{.title = std::move(title), .panels = {}};
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    CurveChart chart{.title = simulated.name(l),
                     .x_name = axes.x_name,
                     .y_name = axes.y_name,
                     .curves = {},
                     .from_zero = axes.is_sldwa};
    std::vector<Curve> printed;
    std::size_t colour = 0;
    for (const auto& [policy, name, member] : policies) {
      Curve ours{.name = std::string{name}, .points = {}, .colour = colour};
      Curve theirs{.name = fmt::format("{}, paper", name), .points = {}, .is_paper = true, .colour = colour++};
      for (std::size_t f = 0; f < simulated.factors().size(); ++f) {
        const double factor = simulated.factors()[f];
        ours.points.push_back({axes.over_utilisation ? simulated.utilisation(l, f, policy) : factor,
                               axes.is_sldwa ? simulated.sldwa(l, f, policy) : simulated.utilisation(l, f, policy)});
        if (const auto* row = paper_row(simulated.name(l), factor))
          theirs.points.push_back({axes.over_utilisation ? row->utilisation.*member : factor,
                                   axes.is_sldwa ? row->sldwa.*member : row->utilisation.*member});
      }
      chart.curves.push_back(std::move(ours));
      if (!theirs.points.empty()) printed.push_back(std::move(theirs));
    }
    chart.curves.insert(chart.curves.end(), printed.begin(), printed.end());
    result.panels.emplace_back(std::move(chart));
  }
  return result;
}

// ---- statements ----

Check extreme_check(const SimulatedValues& simulated, std::string statement, std::size_t policy, auto is_worse) {
  Check check{.statement = std::move(statement), .holds = true, .found = {}};
  std::size_t cases = 0, holding = 0;
  for_each_row(simulated, [&](std::size_t l, std::size_t f, const std::string& name, const paper::FactorRow*) {
    bool holds = true;
    for (const Compared& other : kBasic)
      if (other.policy != policy) holds = holds && !is_worse(l, f, other.policy);
    ++cases, holding += holds ? 1U : 0U;
    if (!holds) check.why += fmt::format("{}{}", check.why.empty() ? "not at " : ", ", name);
  });
  check.holds = holding == cases;
  check.found = fmt::format("{} of {} cases", holding, cases);
  if (!check.holds) check.why += "; not explained";
  return check;
}

std::string_view best_of(double fcfs, double sjf, double ljf) {
  return fcfs <= sjf && fcfs <= ljf ? "FCFS" : sjf <= ljf ? "SJF" : "LJF";
}

std::vector<Check> winner_checks(const SimulatedValues& simulated, const std::string& why) {
  std::vector<Check> checks;
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    Check check{.statement = {}, .holds = true, .found = {}, .why = why};
    for (std::size_t f = 0; f < simulated.factors().size(); ++f) {
      const auto* row = paper_row(simulated.name(l), simulated.factors()[f]);
      if (row == nullptr) continue;
      const std::string_view theirs = best_of(row->sldwa.fcfs, row->sldwa.sjf, row->sldwa.ljf);
      const std::string_view ours =
          best_of(simulated.sldwa(l, f, kFcfs), simulated.sldwa(l, f, kSjf), simulated.sldwa(l, f, kLjf));
      check.holds = check.holds && ours == theirs;
      check.statement += fmt::format("{}{:.1f} {}", check.statement.empty() ? "" : ", ", row->factor, theirs);
      check.found += fmt::format("{}{:.1f} {}", check.found.empty() ? "" : ", ", row->factor, ours);
    }
    if (check.statement.empty()) continue;
    check.statement =
        fmt::format("{}: best SLDwA of the three by factor: {} (Table 4)", simulated.name(l), check.statement);
    checks.push_back(std::move(check));
  }
  return checks;
}

// Nothing if one of its logs was not simulated.
std::optional<Check> improvement_check(const SimulatedValues& simulated, std::string statement,
                                       std::initializer_list<std::string_view> logs) {
  std::vector<std::string_view> there;
  for (std::size_t l = 0; l < simulated.logs(); ++l) there.push_back(simulated.name(l));
  for (const std::string_view log : logs)
    if (std::ranges::find(there, log) == there.end()) return std::nullopt;
  Check check{.statement = std::move(statement), .holds = true, .found = {}};
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    if (std::ranges::find(logs, simulated.name(l)) == logs.end()) continue;
    check.holds = check.holds && simulated.mean_gain(l, kAdvanced) >= 0;
    check.found +=
        fmt::format("{}{} {:+.1f} % advanced, {:+.1f} % preferred", check.found.empty() ? "" : "; ", simulated.name(l),
                    simulated.mean_gain(l, kAdvanced), simulated.mean_gain(l, kPreferred));
  }
  return check;
}

Check deciders_check(const SimulatedValues& simulated) {
  constexpr double kClose = 2;
  Check check{.statement = "Advanced and SJF-preferred hardly differ (section 4; here: mean gains within 2 points)",
              .holds = true,
              .found = {}};
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    const double difference = simulated.mean_gain(l, kPreferred) - simulated.mean_gain(l, kAdvanced);
    check.holds = check.holds && std::abs(difference) <= kClose;
    check.found += fmt::format("{}{} {:+.1f}", check.found.empty() ? "" : ", ", simulated.name(l), difference);
  }
  return check;
}

std::vector<Check> checks(const SimulatedValues& simulated, const std::string& why) {
  constexpr double kTie = 0.05;  // points
  std::vector<Check> result{
      extreme_check(simulated, "LJF has the worst SLDwA of the three at every log and factor (Table 4)", kLjf,
                    [&](std::size_t l, std::size_t f, std::size_t other) {
                      return simulated.sldwa(l, f, other) > simulated.sldwa(l, f, kLjf);
                    }),
      extreme_check(simulated, "LJF has the best utilisation of the three (Table 4; ties within 0.05 points)", kLjf,
                    [&](std::size_t l, std::size_t f, std::size_t other) {
                      return simulated.utilisation(l, f, other) > simulated.utilisation(l, f, kLjf) + kTie;
                    }),
      extreme_check(simulated, "SJF has the lowest utilisation of the three (Table 4; ties within 0.05 points)", kSjf,
                    [&](std::size_t l, std::size_t f, std::size_t other) {
                      return simulated.utilisation(l, f, other) < simulated.utilisation(l, f, kSjf) - kTie;
                    })};
  for (Check& check : winner_checks(simulated, why)) result.push_back(std::move(check));
  for (auto& check :
       {improvement_check(simulated, "Averaged over the factors dynP is not worse than SJF on CTC and SDSC (Table 3)",
                          {"CTC", "SDSC"}),
        improvement_check(simulated, "Nor on LANL and KTH, where the gains are small (Table 3)", {"LANL", "KTH"})})
    if (check) result.push_back(*check);
  result.push_back(deciders_check(simulated));
  return result;
}

}  // namespace

Result dynp_result(const DynpOutcome& outcome) {
  const SimulatedValues simulated{outcome};
  const std::string why = why_levels_differ(simulated);
  const DynpOptions& options = outcome.options;
  std::string files;
  for (const auto& log : outcome.logs)
    files += fmt::format("{}{} ({} processors: {})", files.empty() ? "" : ", ", log.name, log.processors, log.file);
  Result result{.name = "dynp",
                .title = "Self-tuning dynP, again",
                .paper =
                    "A. Streit: Evaluation of an Unfair Decider Mechanism for the Self-Tuning dynP Job Scheduler. "
                    "Tables 3 to 5, Figures 1 to 4.",
                .about = {fmt::format("{} sets of {} jobs for each log, seed 1, as `replay generate from-log` makes "
                                      "them; submit times multiplied by the factor. {}",
                                      options.sets, options.jobs,
                                      options.sets >= 3 ? "Means are without the smallest and the largest of the sets, "
                                                          "for each number by itself; time shares are over all."
                                                        : "Fewer than three sets: means are over all of them."),
                          fmt::format("Logs: {}. Jobs are killed at their estimate.", files),
                          "SLDwA: slowdown weighted by area. Utilisation: up to the last job's end."}};
  if (options.quick) result.limits.push_back("--quick: few and small job sets, two of the factors");
  if (options.sets < 10 && !options.quick)
    result.limits.push_back(fmt::format("{} sets of a log, where the paper has 10", options.sets));
  result.checks = checks(simulated, why);
  const Axes slowdown{"shrinking factor: smaller is more load", "SLDwA", true, false};
  const Axes utilisation{"shrinking factor: smaller is more load", "utilisation, %", false, false};
  const Axes at_equal{"utilisation, %", "SLDwA", true, true};
  result.sections = {
      {.title = "The basic policies",
       .figures = {figure(simulated, "Figure 1: SLDwA of FCFS, SJF and LJF", kBasic, slowdown),
                   figure(simulated, "Figure 2: utilisation of FCFS, SJF and LJF", kBasic, utilisation)},
       .tables = {table_4(simulated, why)}},
      {.title = "Self-tuning",
       .figures = {figure(simulated, "Figure 3: SLDwA of SJF and dynP", kTuned, slowdown),
                   figure(simulated, "Figure 4: utilisation of SJF and dynP", kTuned, utilisation)},
       .tables = {table_5(simulated, why), table_3(simulated, why)}},
      {.title = "Deciders", .text = {"The paper does not print these."}, .tables = {deciders(simulated)}},
      {.title = "At equal utilisation",
       .text = {"Not in the paper: its numbers and ours by the utilisation that was reached, which "
                "tells sets that offer another load from policies that behave in another way."},
       .figures = {figure(simulated, "SLDwA by utilisation", std::span{kBasic}.first(2), at_equal)}}};
  return result;
}

}  // namespace replay::study
