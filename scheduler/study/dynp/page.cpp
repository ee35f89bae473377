// The page of the dynP paper: Tables 3 to 5, Figures 1 to 4, what the deciders did, and what the text says.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>

#include "scheduler/study/dynp/numbers.hpp"
#include "scheduler/study/dynp/study.hpp"
#include "scheduler/study/sheet.hpp"

namespace replay::study {
namespace {

using Names = std::initializer_list<const char*>;

constexpr std::array<const char*, 3> kBasic{"FCFS", "SJF", "LJF"}, kTuned{"SJF", "advanced", "SJF-preferred"};
// As they are called in differences to SJF.
struct Decider {
  const char *name, *policy;
};
constexpr Decider kDeciders[] = {{"advanced", "advanced"}, {"preferred", "SJF-preferred"}, {"simple", "simple"}};

constexpr Band kSldwaBand{.relative = 0.25};
constexpr Band kUtilisationBand{.absolute = 3};
constexpr Band kGainBand{.absolute = 6};
constexpr Band kPointsBand{.absolute = 1};
constexpr const char* kByFactor = "tables 4 and 5";  // in print

// What the page is about. A case is a log with a factor: "KTH 0.9".
struct DynpPage {
  const Findings& found;
  const std::vector<DynpLog>& logs;
  const DynpOptions& options;

  [[nodiscard]] double sldwa(std::string_view at, std::string_view policy) const {
    return found.mean("{}/{}/SLDwA", at, policy);
  }
  [[nodiscard]] double utilisation(std::string_view at, std::string_view policy) const {
    return found.mean("{}/{}/utilisation", at, policy) * 100;
  }
  /// Nothing: not in the paper.
  [[nodiscard]] std::optional<double> printed(std::string_view at, std::string_view what,
                                              std::string_view policy) const {
    return dynp_printed().find(kByFactor, at, fmt::format("{} {}", what, policy));
  }
  [[nodiscard]] std::vector<Line> cases() const {
    std::vector<Line> all;
    for (const DynpLog& log : logs)
      for (const double factor : options.factors) {
        const std::string key = fmt::format("{} {}", log.name, factor);
        all.push_back({fmt::format("{} {:.1f}", log.name, factor), key, key});
      }
    return all;
  }
};

// Explains the different levels, first by the load, with its numbers.
std::string why_levels_differ(const DynpPage& page) {
  constexpr std::uint64_t kJobsOfPaper = 10'000;
  const std::uint64_t jobs = page.options.jobs;
  const std::string smaller =
      jobs == kJobsOfPaper ? std::string{} : fmt::format(" and have {} jobs, not {}", jobs, kJobsOfPaper);
  std::string loads;
  for (const DynpLog& log : page.logs)
    if (page.found.has(log.name + " 1/FCFS"))
      if (const auto theirs = page.printed(log.name + " 1", "utilisation", "FCFS"))
        add_item(loads, ", ", "{} {:.1f} for {:.1f}", log.name, page.utilisation(log.name + " 1", "FCFS"), *theirs);
  return fmt::format(
      "the job sets are not the paper's{}: it does not say how its own were drawn, and its CTC, LANL and SDSC were "
      "cleaned in other ways (its Table 2){}{}. The last figure compares at equal utilisation",
      smaller, loads.empty() ? "" : "; utilisation of FCFS at factor 1, %, ours for the paper's: ", loads);
}

void add_sldwa(Sheet& sheet, std::span<const char* const> policies, const std::string& why) {
  for (const char* policy : policies)
    sheet.mean({fmt::format("SLDwA {}", policy), "ratio", 2, kSldwaBand, why}, fmt::format("*/{}/SLDwA", policy));
}
void add_utilisation(Sheet& sheet, std::span<const char* const> policies, const std::string& why) {
  for (const char* policy : policies)
    sheet.mean({fmt::format("utilisation {}", policy), "%", 2, kUtilisationBand, why},
               fmt::format("*/{}/utilisation", policy), 100);
}
// Of the two deciders that the paper prints, against SJF.
void add_gains(Sheet& sheet, const std::string& why) {
  for (const auto& [name, policy] : std::span{kDeciders}.first(2))
    sheet.mean({fmt::format("gain {}", name), "%", 2, kGainBand, why}, fmt::format("*/{}/gain", policy));
}
void add_differences(Sheet& sheet, const std::string& why) {
  for (const auto& [name, policy] : std::span{kDeciders}.first(2))
    sheet.mean({fmt::format("difference {}", name), "points", 2, kPointsBand, why}, fmt::format("*/{}/points", policy));
}

Table table_4(const DynpPage& page, const std::string& why) {
  Sheet sheet{page.found,
              {"table 4", "Table 4: the basic policies", "log, factor", "Table 4, the numbers of Figures 1 and 2"},
              page.cases(),
              kByFactor};
  add_sldwa(sheet, kBasic, why);
  add_utilisation(sheet, kBasic, why);
  return sheet.table();
}

Table table_5(const DynpPage& page, const std::string& why) {
  Sheet sheet{page.found,
              {"table 5", "Table 5: dynP with the advanced and the SJF-preferred decider, against SJF", "log, factor",
               "Table 5, the numbers of Figures 3 and 4; its last columns are differences to SJF, not to FCFS as its "
               "header says"},
              page.cases(),
              kByFactor};
  add_sldwa(sheet, kTuned, why);
  add_gains(sheet, why);
  add_utilisation(sheet, kTuned, why);
  add_differences(sheet, why);
  return sheet.table();
}

// Whether the factors are those over which the paper's Table 3 is a mean.
bool has_all_factors(const DynpPage& page, const std::string& log) {
  constexpr std::size_t kFactorsOfPaper = 5;
  return page.options.factors.size() == kFactorsOfPaper && std::ranges::all_of(page.options.factors, [&](double f) {
           return page.printed(fmt::format("{} {}", log, f), "SLDwA", "FCFS").has_value();
         });
}

Table table_3(const DynpPage& page, const std::string& why) {
  std::vector<Line> lines;
  for (const DynpLog& log : page.logs)
    lines.push_back({.name = log.name, .in_print = has_all_factors(page, log.name) ? log.name : ""});
  Sheet sheet{
      page.found, {"table 3", "Table 3: means of Table 5 over the factors", "log", "Table 3"}, std::move(lines)};
  add_gains(sheet, why);
  add_differences(sheet, why);
  return sheet.table();
}

Table deciders(const DynpPage& page) {
  Sheet sheet{page.found,
              {"deciders", "What the deciders did", "log, factor", "",
               "A share is of the time from the first choice to the end; with no job waiting the last choice stays."},
              page.cases()};
  sheet.mean({"SLDwA simple", "ratio", 2}, "*/simple/SLDwA");
  sheet.mean({"utilisation simple", "%", 2}, "*/simple/utilisation", 100);
  for (const auto& [name, policy] : kDeciders) {
    sheet.mean({fmt::format("switches {}", name), "times", 0}, fmt::format("*/{}/switches", policy));
    for (const char* of : kBasic)  // means over all sets, so that they add up to 1
      sheet.average({fmt::format("{} {}", name, of), "%", 0}, fmt::format("*/{}/share {}", policy, of), 100);
  }
  return sheet.table();
}

// ---- figures ----

// Of a log, over the factors.
CurveChart curves(const DynpPage& page, const DynpLog& log, std::span<const char* const> policies, bool is_sldwa) {
  std::vector<Line> lines;
  for (const double factor : page.options.factors) {
    const std::string key = fmt::format("{} {}", log.name, factor);
    lines.push_back({fmt::format("{}", factor), key, key});
  }
  Sheet sheet{page.found, {}, std::move(lines), kByFactor};
  is_sldwa ? add_sldwa(sheet, policies, "") : add_utilisation(sheet, policies, "");
  return curves_of(sheet.table(),
                   {.title = log.name,
                    .x_name = "shrinking factor: smaller is more load",
                    .y_name = is_sldwa ? "SLDwA" : "utilisation, %",
                    .from_zero = is_sldwa},
                   is_sldwa ? "SLDwA " : "utilisation ");
}

// A panel a log.
Figure figure(const DynpPage& page, std::string title, std::span<const char* const> policies, bool is_sldwa) {
  Figure figure{.title = std::move(title)};
  for (const DynpLog& log : page.logs) figure.panels.emplace_back(curves(page, log, policies, is_sldwa));
  return figure;
}

Figure at_equal_utilisation(const DynpPage& page) {
  Figure figure{.title = "SLDwA by utilisation"};
  for (const DynpLog& log : page.logs) {
    CurveChart chart = curves(page, log, std::span{kBasic}.first(2), true);
    const CurveChart used = curves(page, log, std::span{kBasic}.first(2), false);
    chart.x_name = used.y_name;
    for (std::size_t c = 0; c < chart.curves.size(); ++c)
      for (std::size_t p = 0; p < chart.curves[c].points.size(); ++p)
        chart.curves[c].points[p].x = used.curves[c].points[p].y;
    figure.panels.emplace_back(std::move(chart));
  }
  return figure;
}

// ---- statements ----

// beats(case, other): the other policy is further out than that which the statement is about.
Check extreme_check(const DynpPage& page, std::string statement, std::string_view policy, const auto& beats) {
  Check check{std::move(statement)};
  std::string others;
  std::size_t holding = 0;
  const std::vector<Line> cases = page.cases();
  for (const Line& at : cases) {
    if (std::ranges::none_of(kBasic, [&](const char* other) { return other != policy && beats(at.key, other); }))
      ++holding;
    else
      add_item(others, ", ", "{}", at.name);
  }
  check.add(others.empty(), "{} of {} cases", holding, cases.size());
  if (!check.holds) check.why = fmt::format("not at {}; not explained", others);
  return check;
}

const char* best_of(const auto& sldwa) {
  return *std::ranges::min_element(kBasic, {}, [&](const char* policy) { return sldwa(policy); });
}

// Nothing for a log that the paper does not have.
void add_winner_check(std::vector<Check>& checks, const DynpPage& page, const std::string& log,
                      const std::string& why) {
  Check check{.why = why};
  for (const double factor : page.options.factors) {
    const std::string at = fmt::format("{} {}", log, factor);
    if (!page.printed(at, "SLDwA", "FCFS")) continue;
    const char* theirs = best_of([&](const char* policy) { return *page.printed(at, "SLDwA", policy); });
    const char* ours = best_of([&](const char* policy) { return page.sldwa(at, policy); });
    add_item(check.statement, ", ", "{:.1f} {}", factor, theirs);
    check.list(ours == theirs, ", ", "{:.1f} {}", factor, ours);
  }
  if (check.statement.empty()) return;
  check.statement = fmt::format("{}: best SLDwA of the three by factor: {} (Table 4)", log, check.statement);
  checks.push_back(std::move(check));
}

// Nothing if one of its logs was not simulated.
void add_improvement_check(std::vector<Check>& checks, const DynpPage& page, const char* statement, Names names) {
  Check check{statement};
  std::size_t found = 0;
  for (const DynpLog& log : page.logs) {
    if (std::ranges::find(names, log.name) == names.end()) continue;
    const double advanced = page.found.mean("{}/advanced/gain", log.name),
                 preferred = page.found.mean("{}/SJF-preferred/gain", log.name);
    check.add(advanced >= 0, "{} {:+.1f} % advanced, {:+.1f} % preferred", log.name, advanced, preferred);
    ++found;
  }
  if (found == names.size()) checks.push_back(std::move(check));
}

std::vector<Check> checks(const DynpPage& page, const std::string& why) {
  constexpr double kTie = 0.05;  // points
  std::vector<Check> checks{
      extreme_check(page, "LJF has the worst SLDwA of the three at every log and factor (Table 4)", "LJF",
                    [&](const auto& at, const char* other) { return page.sldwa(at, other) > page.sldwa(at, "LJF"); }),
      extreme_check(page, "LJF has the best utilisation of the three (Table 4; ties within 0.05 points)", "LJF",
                    [&](const auto& at, const char* other) {
                      return page.utilisation(at, other) > page.utilisation(at, "LJF") + kTie;
                    }),
      extreme_check(page, "SJF has the lowest utilisation of the three (Table 4; ties within 0.05 points)", "SJF",
                    [&](const auto& at, const char* other) {
                      return page.utilisation(at, other) < page.utilisation(at, "SJF") - kTie;
                    })};
  for (const DynpLog& log : page.logs) add_winner_check(checks, page, log.name, why);
  add_improvement_check(checks, page, "Averaged over the factors dynP is not worse than SJF on CTC and SDSC (Table 3)",
                        {"CTC", "SDSC"});
  add_improvement_check(checks, page, "Nor on LANL and KTH, where the gains are small (Table 3)", {"LANL", "KTH"});
  Check& close = checks.emplace_back(
      Check{"Advanced and SJF-preferred hardly differ (section 4; here: mean gains within 2 points)"});
  for (const DynpLog& log : page.logs) {
    const double difference =
        page.found.mean("{}/SJF-preferred/gain", log.name) - page.found.mean("{}/advanced/gain", log.name);
    close.list(std::abs(difference) <= 2, ", ", "{} {:+.1f}", log.name, difference);
  }
  return checks;
}

}  // namespace

Result dynp_result(const Findings& found, const std::vector<DynpLog>& logs, const DynpOptions& options) {
  const DynpPage page{found, logs, options};
  const std::string why = why_levels_differ(page);
  std::string files;
  for (const DynpLog& log : logs) add_item(files, ", ", "{} ({} processors: {})", log.name, log.processors, log.file);
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
  result.checks = checks(page, why);
  result.sections = {{.title = "The basic policies",
                      .figures = {figure(page, "Figure 1: SLDwA of FCFS, SJF and LJF", kBasic, true),
                                  figure(page, "Figure 2: utilisation of FCFS, SJF and LJF", kBasic, false)},
                      .tables = {table_4(page, why)}},
                     {.title = "Self-tuning",
                      .figures = {figure(page, "Figure 3: SLDwA of SJF and dynP", kTuned, true),
                                  figure(page, "Figure 4: utilisation of SJF and dynP", kTuned, false)},
                      .tables = {table_5(page, why), table_3(page, why)}},
                     {.title = "Deciders", .text = {"The paper does not print these."}, .tables = {deciders(page)}},
                     {.title = "At equal utilisation",
                      .text = {"Not in the paper: its numbers and ours by the utilisation that was reached, which "
                               "tells sets that offer another load from policies that behave in another way."},
                      .figures = {at_equal_utilisation(page)}}};
  return result;
}

}  // namespace replay::study
