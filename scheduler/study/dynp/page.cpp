// The page of the dynP paper: Tables 3 to 5, Figures 1 to 4, what the deciders did, and what the text says.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/study/dynp/numbers.hpp"
#include "scheduler/study/dynp/study.hpp"
#include "scheduler/study/table_of.hpp"

namespace replay::study {
namespace {

enum PolicyIndex : std::size_t { kFcfs, kSjf, kLjf, kAdvanced, kPreferred, kSimple };
struct Compared {
  std::size_t policy;
  std::string_view name;
};
constexpr Compared kBasic[] = {{kFcfs, "FCFS"}, {kSjf, "SJF"}, {kLjf, "LJF"}};
constexpr Compared kTuned[] = {{kSjf, "SJF"}, {kAdvanced, "advanced"}, {kPreferred, "SJF-preferred"}};
constexpr Compared kDeciders[] = {{kAdvanced, "advanced"}, {kPreferred, "preferred"}, {kSimple, "simple"}};

constexpr Band kSldwaBand{.relative = 0.25};
constexpr Band kUtilisationBand{.absolute = 3};
constexpr Band kGainBand{.absolute = 6};
constexpr Band kPointsBand{.absolute = 1};
constexpr std::string_view kByFactor = "tables 4 and 5";  // in print

double percent(double share) { return share * 100; }

struct Case {
  std::size_t log, factor;
};

struct SimulatedValues {
  const DynpOutcome& outcome;

  [[nodiscard]] const DynpNumbers& of(const Case& at, std::size_t policy) const {
    return outcome.means[at.log][at.factor][policy];
  }
  [[nodiscard]] double sldwa(const Case& at, std::size_t policy) const { return of(at, policy).sldwa; }
  [[nodiscard]] double utilisation(const Case& at, std::size_t policy) const {
    return percent(of(at, policy).utilisation);
  }
  /// Over SJF, in per cent; good is positive.
  [[nodiscard]] double gain(const Case& at, std::size_t policy) const {
    return percent(1 - sldwa(at, policy) / sldwa(at, kSjf));
  }
  [[nodiscard]] double points(const Case& at, std::size_t policy) const {
    return utilisation(at, policy) - utilisation(at, kSjf);
  }
  /// gain() or points(), over the factors.
  [[nodiscard]] double mean(double (SimulatedValues::*figure)(const Case&, std::size_t) const, std::size_t log,
                            std::size_t policy) const {
    double sum = 0;
    for (std::size_t f = 0; f < factors().size(); ++f) sum += (this->*figure)({log, f}, policy);
    return sum / static_cast<double>(factors().size());
  }
  [[nodiscard]] double mean_gain(std::size_t log, std::size_t policy) const {
    return mean(&SimulatedValues::gain, log, policy);
  }
  [[nodiscard]] const std::vector<double>& factors() const { return outcome.options.factors; }
  [[nodiscard]] std::size_t logs() const { return outcome.logs.size(); }
  [[nodiscard]] const std::string& name(std::size_t log) const { return outcome.logs[log].name; }
  [[nodiscard]] std::string name(const Case& at) const {
    return fmt::format("{} {:.1f}", name(at.log), factors()[at.factor]);
  }
  [[nodiscard]] std::string name_in_print(const Case& at) const {
    return fmt::format("{} {}", name(at.log), factors()[at.factor]);
  }
  /// `what`: "SLDwA" or "utilisation". Nothing: not in the paper.
  [[nodiscard]] std::optional<double> printed(const Case& at, std::string_view what, std::string_view policy) const {
    return dynp_printed().find(kByFactor, name_in_print(at), fmt::format("{} {}", what, policy));
  }
  [[nodiscard]] std::vector<Case> cases() const {
    std::vector<Case> all;
    for (std::size_t l = 0; l < logs(); ++l)
      for (std::size_t f = 0; f < factors().size(); ++f) all.push_back({l, f});
    return all;
  }
};

// Explains the different levels, first by the load, with its numbers.
std::string why_levels_differ(const SimulatedValues& simulated) {
  constexpr std::uint64_t kJobsOfPaper = 10'000;
  const std::uint64_t jobs = simulated.outcome.options.jobs;
  const std::string smaller =
      jobs == kJobsOfPaper ? std::string{} : fmt::format(" and have {} jobs, not {}", jobs, kJobsOfPaper);
  std::string loads;
  for (const Case& at : simulated.cases())
    if (const auto theirs = simulated.printed(at, "utilisation", "FCFS"); theirs && simulated.factors()[at.factor] == 1)
      add_item(loads, ", ", "{} {:.1f} for {:.1f}", simulated.name(at.log), simulated.utilisation(at, kFcfs), *theirs);
  return fmt::format(
      "the job sets are not the paper's{}: it does not say how its own were drawn, and its CTC, LANL and SDSC were "
      "cleaned in other ways (its Table 2){}{}. The last figure compares at equal utilisation",
      smaller, loads.empty() ? "" : "; utilisation of FCFS at factor 1, %, ours for the paper's: ", loads);
}

class CaseTable : public TableOf<Case> {
 public:
  CaseTable(const SimulatedValues& simulated, Table table)
      : TableOf(std::move(table), dynp_printed(), kByFactor), simulated_(simulated) {}

  void sldwa(std::span<const Compared> policies, const std::string& why) {
    for (const auto& [policy, name] : policies)
      column({fmt::format("SLDwA {}", name), "ratio", 2, kSldwaBand, why},
             [this, p = policy](const Case& at) { return simulated_.sldwa(at, p); });
  }
  void utilisation(std::span<const Compared> policies, const std::string& why) {
    for (const auto& [policy, name] : policies)
      column({fmt::format("utilisation {}", name), "%", 2, kUtilisationBand, why},
             [this, p = policy](const Case& at) { return simulated_.utilisation(at, p); });
  }
  [[nodiscard]] const Table& with_all_cases() {
    for (const Case& at : simulated_.cases()) row(simulated_.name(at), at, simulated_.name_in_print(at));
    return table();
  }

 private:
  const SimulatedValues& simulated_;
};

Table table_4(const SimulatedValues& simulated, const std::string& why) {
  CaseTable table{simulated,
                  {.id = "table 4",
                   .title = "Table 4: the basic policies",
                   .source = "Table 4, the numbers of Figures 1 and 2",
                   .row_name = "log, factor"}};
  table.sldwa(kBasic, why);
  table.utilisation(kBasic, why);
  return table.with_all_cases();
}

Table table_5(const SimulatedValues& simulated, const std::string& why) {
  CaseTable table{
      simulated,
      {.id = "table 5",
       .title = "Table 5: dynP with the advanced and the SJF-preferred decider, against SJF",
       .source = "Table 5, the numbers of Figures 3 and 4; its last columns are differences to SJF, not to FCFS "
                 "as its header says",
       .row_name = "log, factor"}};
  const auto add = [&](const char* name, const char* unit, const Band& band, std::size_t policy, auto value) {
    table.column({name, unit, 2, band, why},
                 [&simulated, policy, value](const Case& at) { return (simulated.*value)(at, policy); });
  };
  table.sldwa(kTuned, why);
  add("gain advanced", "%", kGainBand, kAdvanced, &SimulatedValues::gain);
  add("gain preferred", "%", kGainBand, kPreferred, &SimulatedValues::gain);
  table.utilisation(kTuned, why);
  add("difference advanced", "points", kPointsBand, kAdvanced, &SimulatedValues::points);
  add("difference preferred", "points", kPointsBand, kPreferred, &SimulatedValues::points);
  return table.with_all_cases();
}

// Whether the factors are those over which the paper's Table 3 is a mean.
bool has_all_factors(const SimulatedValues& simulated, std::size_t log) {
  constexpr std::size_t kFactorsOfPaper = 5;
  return simulated.factors().size() == kFactorsOfPaper && std::ranges::all_of(simulated.cases(), [&](const Case& at) {
           return at.log != log || simulated.printed(at, "SLDwA", "FCFS").has_value();
         });
}

Table table_3(const SimulatedValues& simulated, const std::string& why) {
  TableOf<std::size_t> table{
      {.id = "table 3", .title = "Table 3: means of Table 5 over the factors", .source = "Table 3", .row_name = "log"},
      dynp_printed()};
  const auto add = [&](const char* name, const char* unit, const Band& band, std::size_t policy, auto value) {
    table.column({name, unit, 2, band, why},
                 [&simulated, policy, value](std::size_t log) { return simulated.mean(value, log, policy); });
  };
  add("gain advanced", "%", kGainBand, kAdvanced, &SimulatedValues::gain);
  add("gain preferred", "%", kGainBand, kPreferred, &SimulatedValues::gain);
  add("difference advanced", "points", kPointsBand, kAdvanced, &SimulatedValues::points);
  add("difference preferred", "points", kPointsBand, kPreferred, &SimulatedValues::points);
  for (std::size_t l = 0; l < simulated.logs(); ++l)
    table.row(simulated.name(l), l, has_all_factors(simulated, l) ? simulated.name(l) : "");
  return table.table();
}

Table deciders(const SimulatedValues& simulated) {
  CaseTable table{
      simulated,
      {.id = "deciders",
       .title = "What the deciders did",
       .row_name = "log, factor",
       .notes = {
           "A share is of the time from the first choice to the end; with no job waiting the last choice stays."}}};
  table.column({"SLDwA simple", "ratio", 2}, [&](const Case& at) { return simulated.sldwa(at, kSimple); });
  table.column({"utilisation simple", "%", 2}, [&](const Case& at) { return simulated.utilisation(at, kSimple); });
  for (const auto& [decider, name] : kDeciders) {
    table.column({fmt::format("switches {}", name), "times", 0},
                 [&, d = decider](const Case& at) { return simulated.of(at, d).switches; });
    for (const auto& [policy, of] : kBasic)
      table.column({fmt::format("{} {}", name, of), "%", 0},
                   [&, d = decider, p = policy](const Case& at) { return percent(simulated.of(at, d).shares[p]); });
  }
  return table.with_all_cases();
}

// ---- figures ----

// What the axes show. x: the factor, or the utilisation; y: SLDwA, or the utilisation.
struct Axes {
  std::string x_name, y_name;
  bool is_sldwa, over_utilisation;
};

Figure figure(const SimulatedValues& simulated, std::string title, std::span<const Compared> policies,
              const Axes& axes) {
  Figure result{.title = std::move(title)};
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    CurveChart chart{
        .title = simulated.name(l), .x_name = axes.x_name, .y_name = axes.y_name, .from_zero = axes.is_sldwa};
    std::vector<Curve> printed;
    std::size_t colour = 0;
    for (const auto& [policy, name] : policies) {
      Curve ours{.name = std::string{name}, .colour = colour};
      Curve theirs{.name = fmt::format("{}, paper", name), .is_paper = true, .colour = colour++};
      for (std::size_t f = 0; f < simulated.factors().size(); ++f) {
        const Case at{l, f};
        const double factor = simulated.factors()[f];
        ours.points.push_back({axes.over_utilisation ? simulated.utilisation(at, policy) : factor,
                               axes.is_sldwa ? simulated.sldwa(at, policy) : simulated.utilisation(at, policy)});
        const auto sldwa = simulated.printed(at, "SLDwA", name), used = simulated.printed(at, "utilisation", name);
        if (sldwa && used)
          theirs.points.push_back({axes.over_utilisation ? *used : factor, axes.is_sldwa ? *sldwa : *used});
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
  Check check{.statement = std::move(statement), .holds = true};
  std::string others;
  std::size_t holding = 0;
  for (const Case& at : simulated.cases()) {
    const bool holds = std::ranges::none_of(
        kBasic, [&](const Compared& other) { return other.policy != policy && is_worse(at, other.policy); });
    if (holds)
      ++holding;
    else
      add_item(others, ", ", "{}", simulated.name(at));
  }
  check.holds = others.empty();
  check.found = fmt::format("{} of {} cases", holding, simulated.cases().size());
  if (!check.holds) check.why = fmt::format("not at {}; not explained", others);
  return check;
}

std::string_view best_of(double fcfs, double sjf, double ljf) {
  return fcfs <= sjf && fcfs <= ljf ? "FCFS" : sjf <= ljf ? "SJF" : "LJF";
}

std::vector<Check> winner_checks(const SimulatedValues& simulated, const std::string& why) {
  std::vector<Check> checks;
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    Check check{.holds = true, .why = why};
    for (std::size_t f = 0; f < simulated.factors().size(); ++f) {
      const Case at{l, f};
      const auto printed = [&](std::string_view policy) { return simulated.printed(at, "SLDwA", policy); };
      if (!printed("FCFS")) continue;
      const std::string_view theirs = best_of(*printed("FCFS"), *printed("SJF"), *printed("LJF"));
      const std::string_view ours =
          best_of(simulated.sldwa(at, kFcfs), simulated.sldwa(at, kSjf), simulated.sldwa(at, kLjf));
      check.holds = check.holds && ours == theirs;
      add_item(check.statement, ", ", "{:.1f} {}", simulated.factors()[f], theirs);
      add_item(check.found, ", ", "{:.1f} {}", simulated.factors()[f], ours);
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
  for (const std::string_view log : logs)
    if (std::ranges::find(simulated.outcome.logs, log, &DynpOutcome::OfLog::name) == simulated.outcome.logs.end())
      return std::nullopt;
  Check check{.statement = std::move(statement), .holds = true};
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    if (std::ranges::find(logs, simulated.name(l)) == logs.end()) continue;
    check.holds = check.holds && simulated.mean_gain(l, kAdvanced) >= 0;
    add_item(check.found, "; ", "{} {:+.1f} % advanced, {:+.1f} % preferred", simulated.name(l),
             simulated.mean_gain(l, kAdvanced), simulated.mean_gain(l, kPreferred));
  }
  return check;
}

Check deciders_check(const SimulatedValues& simulated) {
  constexpr double kClose = 2;
  Check check{.statement = "Advanced and SJF-preferred hardly differ (section 4; here: mean gains within 2 points)",
              .holds = true};
  for (std::size_t l = 0; l < simulated.logs(); ++l) {
    const double difference = simulated.mean_gain(l, kPreferred) - simulated.mean_gain(l, kAdvanced);
    check.holds = check.holds && std::abs(difference) <= kClose;
    add_item(check.found, ", ", "{} {:+.1f}", simulated.name(l), difference);
  }
  return check;
}

std::vector<Check> checks(const SimulatedValues& simulated, const std::string& why) {
  constexpr double kTie = 0.05;  // points
  std::vector<Check> result{
      extreme_check(
          simulated, "LJF has the worst SLDwA of the three at every log and factor (Table 4)", kLjf,
          [&](const Case& at, std::size_t other) { return simulated.sldwa(at, other) > simulated.sldwa(at, kLjf); }),
      extreme_check(simulated, "LJF has the best utilisation of the three (Table 4; ties within 0.05 points)", kLjf,
                    [&](const Case& at, std::size_t other) {
                      return simulated.utilisation(at, other) > simulated.utilisation(at, kLjf) + kTie;
                    }),
      extreme_check(simulated, "SJF has the lowest utilisation of the three (Table 4; ties within 0.05 points)", kSjf,
                    [&](const Case& at, std::size_t other) {
                      return simulated.utilisation(at, other) < simulated.utilisation(at, kSjf) - kTie;
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
    add_item(files, ", ", "{} ({} processors: {})", log.name, log.processors, log.file);
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
