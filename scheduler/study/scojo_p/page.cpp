// The page of the SCOJO-P paper: Figures 4 to 14 in bars and numbers, and what its text says.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "scheduler/study/scojo_p/figures.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/scojo_p/study.hpp"
#include "scheduler/study/sheet.hpp"

namespace replay::study {
namespace {

using Names = std::vector<std::string_view>;

// A figure that is shown by class, and how.
struct Measure {
  const char *name, *unit, *figure;
  double scale;  // from the figure to the unit
  int decimals;
};
constexpr Measure kResponse{"mean response", "h", "response", 1.0 / 3600, 2},
    kWait{"mean wait", "h", "wait", 1.0 / 3600, 2}, kSlowdown{"mean bounded slowdown", "ratio", "slowdown", 1, 1};
constexpr std::array<std::string_view, 3> kClasses{"short", "medium", "long"};

constexpr Band kSizeBand{.absolute = 0.1};  // of a factor on N_opt
constexpr Band kShareBand{.absolute = 5};   // percentage points
constexpr Band kOptimumBand{.relative = 0.1};
constexpr const char* kWhyGains =
    "the paper states neither by how much aging raises a priority nor the load of its four workloads, and either moves "
    "these gains by ten points and more: see the tables by seed";
constexpr const char* kWhyEighty =
    "rigid jobs keep N_opt however high the load is, so that SCOJO-P has less to shrink; and as Cirne-Berman over full "
    "ranges is worse than no molding here, it is better with fewer jobs that choose";
constexpr const char* kWhyOriginal =
    "SCOJO does not mold long jobs (4.1), so under 80 % they are all rigid; they make up most of the response";
constexpr const char* kWhySizes =
    "modifiers fall with the load, which the paper does not state, and it does not say over which jobs its means are";
constexpr const char* kWhyUtilisation =
    "at half of N_opt a job needs 19 % less core time, so SCOJO-P uses less of the machine than the offered load, "
    "which the paper does not state";
constexpr const char* kWhyDowney = "of the constants of the Cirne-Berman model the paper prints those of sigma only";

// A column for each group, of its arithmetic mean: "NAME short" of "PATH short".
void add_by_group(Sheet& sheet, const std::string& name, const Column& like, const std::string& path, double scale = 1,
                  std::span<const std::string_view> groups = kScojoGroups) {
  for (const std::string_view group : groups) {
    Column column = like;
    column.name = fmt::format("{}{}{}", name, name.empty() ? "" : " ", group);
    sheet.average(std::move(column), fmt::format("{} {}", path, group), scale);
  }
}

// A line for each policy that ran on a workload.
std::vector<Line> runs(const Findings& found, const Names& workloads, const Names& policies) {
  std::vector<Line> lines;
  for (const std::string_view workload : workloads)
    for (const std::string_view policy : policies)
      if (const std::string cell = fmt::format("{}/{}", workload, policy); found.has(cell))
        lines.push_back({fmt::format("{}, {}", workload, policy), cell});
  return lines;
}

// A line for each policy that ran on one of the workloads.
std::vector<Line> policies_on(const Findings& found, const Names& workloads, Names policies = scojo_policies()) {
  std::erase_if(policies, [&](std::string_view policy) { return runs(found, workloads, {policy}).empty(); });
  return lines_of(policies);
}

Table workloads(const Findings& found) {
  Sheet sheet{found,
              {"workloads", "The workloads", "workload", "text of 5.4; it does not say of which workload",
               "Load: work at the submitted sizes over what the machine can do until the last arrival, least and "
               "greatest of the seeds. The others are means over the seeds."},
              lines_that_ran(found, {{"W1", "W1/workload", "three points"},
                                     {"W2", "W2/workload", "three points"},
                                     {"W1 Downey", "W1 Downey/workload", "Downey"}})};
  const auto loads = [&](std::size_t i) { return found.by_seed(sheet.filled("*/offered load", i)); };
  sheet.column({"least load", "%", 0}, [&](std::size_t i) { return std::ranges::min(loads(i)) * 100; });
  sheet.column({"greatest load", "%", 0}, [&](std::size_t i) { return std::ranges::max(loads(i)) * 100; });
  add_by_group(sheet, "", {"", "%", 1, kShareBand, kWhyDowney}, "*/share", 100, kClasses);
  add_by_group(sheet, "N_opt", {"", "", 1, kOptimumBand, kWhyDowney}, "*/optimum");
  return sheet.table();
}

Table by_class(const Findings& found, std::string id, std::string title, const Measure& measure,
               const Names& workloads) {
  Sheet sheet{
      found, {std::move(id), fmt::format("{}: {}", title, measure.name), "policy"}, policies_on(found, workloads)};
  for (const std::string_view workload : workloads)
    for (const std::string_view group : kScojoGroups)
      sheet.mean({workloads.size() > 1 ? fmt::format("{} {}", workload, group) : std::string{group}, measure.unit,
                  measure.decimals},
                 fmt::format("{}/*/{} {}", workload, measure.figure, group), measure.scale);
  return sheet.table();
}

Table gains(const Findings& found) {
  std::vector<GainLine> lines{
      {"W1, SCOJO-P over traditional", "W1/SCOJO-P", "W1/traditional", "response all"},
      {"W1, Cirne-Berman over traditional", "W1/Cirne-Berman", "W1/traditional", "response all"},
      {"the same up to N_opt", "W1/Cirne-Berman, up to N_opt", "W1/traditional", "response all",
       "W1, Cirne-Berman over traditional"}};
  const auto add = [&](const char* load, std::string_view time, std::string_view group) {
    const std::string name = fmt::format("{}, SCOJO-P over Cirne-Berman, {} of {} jobs", load, time, group),
                      figure = fmt::format("{} {}", time, group), base = fmt::format("{}/Cirne-Berman", load);
    lines.push_back({name, fmt::format("{}/SCOJO-P", load), base, figure});
    lines.push_back({"the same up to N_opt", fmt::format("{}/SCOJO-P", load), base + ", up to N_opt", figure, name});
  };
  for (const std::string_view group : kScojoGroups) add("W1", "response", group);
  for (const std::string_view group : kClasses) add("W1", "wait", group);
  add("W2", "response", "long");
  add("W2", "wait", "long");
  return gain_table(found,
                    {"gains", "What the text says in per cent: how much less", "response of all jobs, unless stated",
                     "text of 5.4 and 6, \"1/3\" and \"1/4\" of a time as 67 % and 75 % less of it",
                     "Cirne-Berman tries all sizes up to N_max, as the paper says; up to N_opt is our variant."},
                    lines, kWhyGains, 0, false);
}

Table by_seed(const Findings& found, std::string_view workload) {
  const std::vector<Line> lines = policies_on(found, {workload});
  Sheet sheet{
      found,
      {fmt::format("by seed, {}", workload),
       fmt::format("{}: means over all jobs, and response against the traditional scheduler", workload), "policy", "",
       "Means over the seeds: geometric, and arithmetic, in which the seed of the highest load counts most. "
       "Differences below 7 % on a single seed mean nothing."},
      lines};
  for (const auto& [name, unit, decimals] : {std::tuple{"response", "s", 0}, std::tuple{"slowdown", "ratio", 1}}) {
    const std::string path = fmt::format("{}/*/{} all", workload, name);
    sheet.mean({fmt::format("{}, geometric", name), unit, decimals}, path);
    sheet.average({fmt::format("{}, arithmetic", name), unit, decimals}, path);
  }
  for (const auto& [name, policy] :
       {std::pair{"against aging=top", "traditional"}, std::pair{"against aging=one", "traditional, aging=one"}}) {
    const std::string base = fmt::format("{}/{}", workload, policy);
    const auto cell = [&](std::size_t i) { return fmt::format("{}/{}", workload, lines[i].key); };
    sheet.more({name, "%", 0}, fmt::format("{}/*", workload), base, "response all");
    sheet.seeds("%", 0, [&](std::size_t i) {
      std::vector<double> changes = found.less_by_seed(cell(i), base, "response all");
      for (double& change : changes) change = 0 - change;
      return changes;
    });
  }
  return sheet.table();
}

Table adaptations(const Findings& found) {
  Sheet sheet{
      found,
      {"figures 8 and 12", "Figures 8 and 12 in numbers: jobs shrunk (S) and expanded (E) against N_opt at their start",
       "workload, policy", "utilisation from the text of 5.4, W1; the figures have no numbers",
       "Utilisation: from the first to the last submission of the jobs that count."},
      runs(found, {"W1", "W2"}, scojo_policies())};
  add_by_group(sheet, "S", {"", "jobs", 0}, "*/shrunk", 1, kClasses);
  add_by_group(sheet, "E", {"", "jobs", 0}, "*/expanded", 1, kClasses);
  sheet.average({"utilisation", "%", 1, Band{.absolute = 3}, kWhyUtilisation}, "*/utilisation", 100);
  return sheet.table();
}

Table sizes(const Findings& found) {
  const Column factor{"", "ratio", 2, kSizeBand, kWhySizes};
  Sheet sheet{found,
              {"sizes", "By how much jobs are shrunk at their start", "workload, policy",
               "text of 5.4, the middle of a range; short and medium jobs have one range",
               "Modifier: what SCOJO-P multiplied N_opt with, before the size was held between N_min and N_max. "
               "Shrunk: of the jobs that were shrunk; the others of all jobs that have a choice. As N_min is half of "
               "N_opt, the paper's factors of SCOJO-P below 0.5 can only be modifiers."},
              runs(found, {"W1", "W2"},
                   {"SCOJO-P", "SCOJO-P, no prediction", "Cirne-Berman", "Cirne-Berman, up to N_opt", "greedy",
                    "greedy by class"})};
  add_by_group(sheet, "modifier, shrunk,", factor, "*/modifier shrunk");
  add_by_group(sheet, "size / N_opt, shrunk,", factor, "*/of optimum shrunk");
  add_by_group(sheet, "size / N_opt,", factor, "*/of optimum");
  return sheet.table();
}

std::vector<Line> ideals(const Findings& found) {
  std::vector<Line> lines;
  for (const double ideal : scojo_ideal_loads())
    if (const std::string name = scojo_ideal_name(ideal); !policies_on(found, {"W1", "W2"}, {name}).empty())
      lines.push_back({fmt::format("{}", ideal), name});
  return lines;
}

Table by_ideal(const Findings& found) {
  Sheet sheet{found, {"ideal load", "SCOJO-P by ideal load, all jobs", "ideal load"}, ideals(found)};
  for (const std::string load : {"W1", "W2"}) {
    sheet.mean({load + " response", "h", 2}, load + "/*/response all", 1.0 / 3600);
    sheet.mean({load + " slowdown", "ratio", 1}, load + "/*/slowdown all");
    sheet.average({load + " utilisation", "%", 1}, load + "/*/utilisation", 100);
  }
  return sheet.table();
}

Table eighty(const Findings& found) {
  std::vector<GainLine> lines;
  for (const std::string load : {"W1", "W2"})
    for (const std::string policy :
         {"SCOJO-P", "SCOJO-P, no prediction", "Cirne-Berman", "Cirne-Berman, up to N_opt", "greedy by class"})
      lines.push_back({fmt::format("{} 80 %, {}, over 100 %", load, policy), load + " 80 %/" + policy,
                       load + "/" + policy, "response all"});
  for (const std::string load : {"W1", "W2"})
    for (const std::string policy : {"SCOJO-P", "Cirne-Berman", "Cirne-Berman, up to N_opt", "greedy by class"})
      lines.push_back({fmt::format("{} 80 %, {}, over traditional", load, policy), load + " 80 %/" + policy,
                       load + " 80 %/traditional", "response all"});
  return gain_table(found,
                    {"80 %", "80 % of the jobs moldable: how much less response", "workload, policy", "text of 5.4",
                     "Four fifths of each class are moldable, the rest is rigid."},
                    lines, kWhyEighty, 0, false);
}

Table original(const Findings& found) {
  std::vector<GainLine> lines;
  for (const std::string workload : {"W1 80 %", "W2 80 %", "W1 malleable", "W2 malleable"})
    lines.push_back({workload, workload + "/SCOJO", workload + "/traditional", "response all"});
  return gain_table(
      found,
      {"SCOJO", "The original SCOJO over traditional: how much less response", "workload",
       "text of 5.4, which does not say which workload",
       "Malleable: four fifths of the short and medium jobs are moldable, four fifths of the long ones malleable."},
      lines, kWhyOriginal, 0, false);
}

Table downey_sizes(const Findings& found) {
  const Column factor{"", "ratio", 2, Band{.relative = 0.3, .absolute = 0.1}, kWhyDowney};
  Sheet sheet{found,
              {"downey sizes", "Modifiers and sizes at start under Downey's curves, of all jobs that have a choice",
               "policy", "text of 5.4; SCOJO-P's factors on N_opt are taken as modifiers"},
              policies_on(found, {"W1 Downey"},
                          {"SCOJO-P", "SCOJO-P, no prediction", "Cirne-Berman", "Cirne-Berman, up to N_opt"})};
  add_by_group(sheet, "modifier", factor, "W1 Downey/*/modifier");
  add_by_group(sheet, "size / N_opt,", factor, "W1 Downey/*/of optimum");
  add_by_group(sheet, "size / submitted,", factor, "W1 Downey/*/of submitted");
  return sheet.table();
}

// ---- figures ----

// A series for each of the policies that ran on the workload: "POLICY/PATH", the line's key in place of "*".
Table series(const Findings& found, std::string_view workload, const Names& policies, std::vector<Line> lines,
             std::string_view path, double scale = 1, bool is_average = true) {
  Sheet sheet{found, {}, std::move(lines)};
  for (const Line& policy : policies_on(found, {workload}, policies)) {
    const std::string full = fmt::format("{}/{}/{}", workload, policy.name, path);
    is_average ? sheet.average({policy.name}, full, scale) : sheet.mean({policy.name}, full, scale);
  }
  return sheet.table();
}

// As the paper's figures have them, and Cirne-Berman in our variant.
const Names kInFigures{"traditional", "SCOJO-P", "Cirne-Berman", "Cirne-Berman, up to N_opt"};

report::BarChart class_bars(const Findings& found, const Measure& measure, std::string_view workload) {
  const std::string_view unit{measure.unit};
  return bars_of(series(found, workload, kInFigures, lines_of(kScojoGroups), fmt::format("{} *", measure.figure),
                        measure.scale, false),
                 {.title = fmt::format("{}, {}", workload, measure.name),
                  .x_name = "class of T(N_opt)",
                  .y_name = fmt::format("{}{}", measure.name, unit == "h" ? ", h" : "")});
}

report::BarChart response_histogram(const Findings& found, std::string_view workload, std::string_view group) {
  return bars_of(series(found, workload, kInFigures, lines_of(response_bins(group)), fmt::format("{} up to *", group)),
                 {.title = fmt::format("{}, {} jobs", workload, group), .x_name = "response up to", .y_name = "jobs"});
}

report::BarChart adaptation_bars(const Findings& found, std::string_view workload) {
  return bars_of(
      series(found, workload, {"SCOJO-P, no prediction", "SCOJO-P", "Cirne-Berman", "Cirne-Berman, up to N_opt"},
             {{"SS", "shrunk short"},
              {"SM", "shrunk medium"},
              {"SL", "shrunk long"},
              {"ES", "expanded short"},
              {"EM", "expanded medium"},
              {"EL", "expanded long"}},
             "*"),
      {.title = fmt::format("{}, jobs shrunk (S) and expanded (E)", workload),
       .x_name = "against N_opt, by class: short, medium, long",
       .y_name = "jobs"});
}

CurveChart ideal_curves(const Findings& found, const Measure& measure, const char* y_name) {
  Sheet sheet{found, {}, ideals(found)};
  for (const std::string load : {"W1", "W2"})
    sheet.mean({load}, fmt::format("{}/*/{} all", load, measure.figure), measure.scale);
  return curves_of(sheet.table(), {.title = measure.name, .x_name = "ideal load", .y_name = y_name});
}

Section responses_section(const Findings& found) {
  Section section{
      .title = "Figures 4 to 6 and 9 to 11: response, wait and bounded slowdown",
      .text = {"All jobs moldable, curves of three points. Cirne-Berman may expand jobs to N_max, as the paper has it; "
               "\"up to N_opt\" is our variant. Greedy and conservative Cirne-Berman are ours too."}};
  for (const auto& [measure, numbers] :
       {std::pair{&kResponse, "4 and 9"}, std::pair{&kWait, "5 and 10"}, std::pair{&kSlowdown, "6 and 11"}}) {
    section.figures.push_back({fmt::format("Figures {}: {}", numbers, measure->name),
                               {class_bars(found, *measure, "W1"), class_bars(found, *measure, "W2")}});
    section.tables.push_back(by_class(found, fmt::format("figures {}", numbers),
                                      fmt::format("Figures {} in numbers", numbers), *measure, {"W1", "W2"}));
  }
  section.tables.push_back(gains(found));
  section.tables.push_back(by_seed(found, "W1"));
  section.tables.push_back(by_seed(found, "W2"));
  return section;
}

Section histogram_section(const Findings& found) {
  Section section{.title = "Figure 7: how the responses are distributed",
                  .text = {"A bin has what is above the limit before it, up to its own; the limits are ours, as the "
                           "figure's cannot be taken from the text. Mean over the seeds."}};
  for (const char* workload : {"W1", "W2"}) {
    Figure& figure = section.figures.emplace_back(Figure{fmt::format("Figure 7, {}", workload)});
    for (const std::string_view group : kClasses)
      figure.panels.emplace_back(response_histogram(found, workload, group));
  }
  return section;
}

Section ideal_section(const Findings& found) {
  return {.title = "The ideal load (5.3)",
          .text = {"The load that SCOJO-P aims at; the paper found 0.9 to be the best of those that it tried."},
          .figures = {{"Ideal load",
                       {ideal_curves(found, kResponse, "mean response, h"),
                        ideal_curves(found, kSlowdown, "mean bounded slowdown")}}},
          .tables = {by_ideal(found)}};
}

Section downey_section(const Findings& found) {
  const Names both{"W1 Downey", "W1 Downey, E >= 0.9"};
  return {.title = "Figures 13 and 14: curves of Downey as Cirne and Berman draw them",
          .text = {"W1, all jobs moldable. The traditional scheduler starts jobs at the size that they were submitted "
                   "with, also where a curve does not offer it."},
          .figures = {{"Figures 13 and 14",
                       {class_bars(found, kResponse, "W1 Downey"), class_bars(found, kSlowdown, "W1 Downey")}}},
          .tables = {by_class(found, "figure 13", "Figure 13 in numbers", kResponse, both),
                     by_class(found, "figure 14", "Figure 14 in numbers", kSlowdown, both), downey_sizes(found)}};
}

std::vector<std::string> about(const SeededOptions& options) {
  return {fmt::format(
              "{} jobs of the typeless Lublin-Feitelson model on {} processors, aarr 10.23 (W1) and 9.83 (W2), {}; the "
              "first and the last {} % of the jobs do not count. Run times are known exactly. Runtime model: speedup.",
              options.jobs, scojo_p_paper::kProcessors, seeds_text(options), scojo_p_paper::kCutPercent),
          "Classes: short below a minute, long from an hour, by T(N_opt). Bounded slowdown: the response over "
          "T(N_opt), at least 30 s, and at least 1. Times and slowdowns are geometric means over the seeds, counts and "
          "sizes arithmetic ones.",
          "The paper's figures have no numbers that could stand beside ours; what its text states does, behind ours in "
          "grey."};
}

}  // namespace

Result scojo_result(const Findings& found, const SeededOptions& options) {
  Result result{.name = "scojo-p",
                .title = "SCOJO-P and Cirne-Berman, again",
                .paper =
                    "L. Barsanti, A. Sodan: Adaptive Job Scheduling Via Predictive Job Resource Allocation, JSSPP "
                    "2006. Figures 4 to 14 and the text of sections 5 and 6.",
                .about = about(options)};
  if (options.quick)
    result.limits.push_back(quick_text(options, "without Downey's curves and without the ideal loads other than 0.9"));
  result.checks = scojo_checks(found);
  result.sections = {
      {.title = "Workloads", .tables = {workloads(found)}},
      responses_section(found),
      histogram_section(found),
      {.title = "Figures 8 and 12: which jobs change their size",
       .text = {"At their start, against N_opt; jobs of the greedy policies take the fastest size that is free."},
       .figures = {{"Figures 8 and 12", {adaptation_bars(found, "W1"), adaptation_bars(found, "W2")}}},
       .tables = {adaptations(found), sizes(found)}}};
  if (!options.quick) result.sections.push_back(ideal_section(found));
  result.sections.push_back(
      {.title = "Fewer moldable jobs, and the original SCOJO",
       .tables = {eighty(found), original(found),
                  by_class(found, "80 %, response", "80 % moldable", kResponse, {"W1 80 %", "W2 80 %"})}});
  if (found.has("W1 Downey/SCOJO-P")) result.sections.push_back(downey_section(found));
  return result;
}

}  // namespace replay::study
