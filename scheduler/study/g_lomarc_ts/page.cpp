// The page of the G-LOMARC-TS paper: Figures 6 to 9 in bars, curves and numbers, and what its text says.

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/study.hpp"
#include "scheduler/study/sheet.hpp"

namespace replay::study {
namespace {

namespace paper = glomarc_paper;

constexpr Band kShareBand{.absolute = 2};        // percentage points
constexpr Band kResponseBand{.relative = 0.25};  // of a relative response
constexpr Band kDelayBand{.absolute = 0.1};      // of R / R_est
constexpr Band kGroupBand{.relative = 0.1};      // of groups and their size
constexpr Band kInGroupBand{.absolute = 3};      // percentage points
constexpr const char* kWhyPowers =
    "the model makes 62.7 % parallel powers of two, and 87 % with the serial jobs; neither is the paper's 75 %";
constexpr const char* kWhyGains =
    "groups are hardly better than pairs here, under any reading of the paper that was tried";
constexpr const char* kWhyUse =
    "groups gain nothing over pairs here, and a gain as large as the paper's over space sharing did not come out under "
    "any reading that was tried";
constexpr const char* kWhyGroups =
    "1,500 groups of 2.5 jobs would be 3,750 jobs, more than the 3,600 that are eligible; 41.7 % of these are 1,500 "
    "jobs, so the paper's 1,500 \"groups\" are jobs";
constexpr const char* kWhySaturated =
    "SSP saturates, so that its responses grow with the length of the workload and differ by seed";

constexpr std::array<std::string_view, 3> kClasses{"short", "medium", "long"};
constexpr std::array<std::string_view, 4> kWithBlocks{"GLTS", "FBO", "NS", "NH"};

// A line for each variant that was run on the load.
std::vector<Line> variants(const Findings& found, std::string_view load) {
  return lines_that_ran(found, lines_of(kGlomarcVariants, fmt::format("{}/*", load)));
}

// Columns of relative responses, of which those of the paper's have the band.
struct Response {
  const char *name, *figure;
};
constexpr Response kResponses[] = {{"medium", "relative 30 medium"},
                                   {"long", "relative 30 long"},
                                   {"all, bound 600 s", "relative 600 all"},
                                   {"all, bound 30 s", "relative 30 all"},
                                   {"short, bound 30 s", "relative 30 short"}};

Sheet responses(const Findings& found, Head head, std::vector<Line> lines, bool is_compared = false) {
  Sheet sheet{found, std::move(head), std::move(lines)};
  for (const auto& [name, figure] : kResponses) {
    Column column{name, "ratio", 2};
    if (is_compared) column.why = kWhySaturated;
    if (is_compared && !std::string_view{name}.ends_with("30 s")) column.band = kResponseBand;
    sheet.mean(std::move(column), fmt::format("*/{}", figure));
  }
  return sheet;
}

Table workloads(const Findings& found) {
  Sheet sheet{
      found,
      {"table 5", "Table 5: the workloads", "workload", "Table 5, which has one set of shares for both workloads",
       "Work and sizes as the model draws them, before formula 7. Offered load: that work over what the nodes can do "
       "until the last submission; the paper's \"Load = 10.6\" and \"13.0\" are in a unit that it does not state. "
       "Means over the seeds."},
      lines_that_ran(found, {{"W1", "W1/workload", "workloads"}, {"W2", "W2/workload", "workloads"}})};
  sheet.mean({"offered load", "%", 1}, "*/offered load");
  for (const char* what : {"jobs", "work"})
    for (const std::string_view group : kClasses) {
      const std::string name = fmt::format("{}, {}", group, what);
      sheet.mean({name, "%", 1, kShareBand}, "*/" + name);
    }
  sheet.mean({"serial", "%", 1, kShareBand}, "*/serial");
  sheet.mean({"power of two", "%", 1, kShareBand, kWhyPowers}, "*/power of two");
  return sheet.table();
}

Table responses_on_w2(const Findings& found) {
  Sheet sheet =
      responses(found,
                {"W2", "Relative response under W2", "variant",
                 "text of 5.3; the bound of 600 s is ours, as 17.5 and 36.74 leave 1.8 for short jobs",
                 "Past the last submission: from there to the last end, in per cent of the span of the submissions."},
                variants(found, "W2"), true);
  sheet.mean({"past the last submission", "%", 1}, "*/past the end", 100);
  return sheet.table();
}

Table gains(const Findings& found) {
  std::vector<GainLine> lines;
  for (const char* base : {"SSP", "CST", "CSTWS"})
    for (const auto& [name, figure] : std::span{kResponses}.first(4))
      lines.push_back(
          {fmt::format("{}, {}", base, name), "W1/GLTS", fmt::format("W1/{}", base), figure,
           fmt::format("{}, {}", base, std::string_view{name}.substr(0, std::string_view{name}.find(',')))});
  return gain_table(found,
                    {"gains", "W1: how much less relative response GLTS has", "over, class", "text of 5.2",
                     "All jobs with the bound of 600 s, which the paper's numbers of W2 imply, and with 30 s."},
                    lines, kWhyGains, 1, true);
}

Table by_seed(const Findings& found, std::string_view load) {
  std::vector<Line> lines;
  for (const std::string_view group : kGlomarcCompared)
    for (const Line& variant : variants(found, load))
      lines.push_back(
          {fmt::format("{}, {}", variant.name, group), fmt::format("{}/relative 600 {}", variant.key, group)});
  Sheet sheet{
      found,
      {fmt::format("by seed, {}", load), fmt::format("{}: relative response by seed", load), "variant, class", "",
       "All jobs with the bound of 600 s. +-: half of the 95 % confidence interval of the mean over the seeds, by "
       "Student's t."},
      std::move(lines)};
  const auto by_seed = [&](std::size_t line) { return found.by_seed(sheet.filled("*", line)); };
  sheet.mean({"mean", "ratio", 2}, "*");
  sheet.interval("ratio", 2, by_seed);
  sheet.seeds("ratio", 2, by_seed);
  return sheet.table();
}

Table times(const Findings& found, std::string_view load) {
  Sheet sheet{found,
              {fmt::format("times {}", load), fmt::format("{}: mean times by the wall", load), "variant", "",
               "Wait: until the first start. Suspended: outside the slices of the class, when it is not a guest."},
              variants(found, load)};
  for (const char* time : {"response", "wait", "suspended"})
    for (const std::string_view group : kClasses)
      sheet.mean({fmt::format("{}, {}", time, group), "h", 2}, fmt::format("*/{} {}", time, group), 1.0 / 3600);
  return sheet.table();
}

Table use(const Findings& found, std::string_view load, const char* id, const char* title) {
  Sheet sheet{found,
              {id, fmt::format("{}: use of cores (formula 3) and of nodes (formula 2)", title), "variant", "",
               "High load: while at least 12 jobs of all classes wait that have never started."},
              variants(found, load)};
  sheet.mean({"U_core, high load", "%", 1}, "*/core use high", 100);
  sheet.mean({"U_node, high load", "%", 1}, "*/node use high", 100);
  sheet.mean({"U_core, makespan", "%", 1}, "*/core use", 100);
  sheet.mean({"U_node, makespan", "%", 1}, "*/node use", 100);
  sheet.mean({"time of high load", "%", 1}, "*/high load", 100);
  sheet.mean({"phases of high load", "", 0}, "*/phases");
  return sheet.table();
}

Table use_gains(const Findings& found) {
  std::vector<GainLine> lines;
  for (const char* base : {"SSP", "CST", "CSTWS"})
    lines.push_back({base, "W1/GLTS", fmt::format("W1/{}", base), "core use high"});
  return gain_table(
      found, {"core use", "W1: how much more of the cores GLTS uses in phases of high load", "over", "text of 5.2"},
      lines, kWhyUse, 1, true, -1);
}

Table groups(const Findings& found) {
  std::vector<Line> lines;
  for (const char* load : {"W1", "W2"})
    for (const Line& variant : variants(found, load))
      if (variant.name != "SSP") lines.push_back({fmt::format("{}, {}", load, variant.name), variant.key});
  Sheet sheet{found,
              {"groups", "Groups of jobs that share nodes", "workload, variant", "text of 5.2 and 5.3",
               "The last three columns count the groups by the paper's cases 1, 2 and 3. Means over the seeds."},
              std::move(lines)};
  sheet.mean({"groups", "", 0, kGroupBand, kWhyGroups}, "*/groups");
  sheet.mean({"jobs of a group", "", 2, kGroupBand}, "*/group size");
  sheet.mean({"medium and long jobs in groups", "%", 1, kInGroupBand}, "*/in group", 100);
  sheet.mean({"of their time", "%", 1}, "*/time in group", 100);
  sheet.mean({"all wait", "", 0}, "*/groups 1");
  sheet.mean({"with running", "", 0}, "*/groups 2");
  sheet.mean({"running primary", "", 0}, "*/groups 3");
  return sheet.table();
}

Table delays(const Findings& found, std::string_view load) {
  Sheet sheet{found,
              {fmt::format("delays {}", load), fmt::format("{}: R / R_est by the clock of the virtual machine", load),
               "variant", load == "W1" ? "text of 5.2, \"for both M and L jobs\"" : ""},
              variants(found, load)};
  const std::pair<const char*, const char*> values[] = {
      {"mean", "delay"}, {"75 %", "delay 75 %"}, {"95 %", "delay 95 %"}};
  for (const char* group : {"medium and long", "medium", "long"})
    for (const auto& [name, figure] : values)
      sheet.mean({fmt::format("{}, {}", group, name), "ratio", 2, kDelayBand}, fmt::format("*/{} {}", figure, group));
  return sheet.table();
}

// A column a variant and class; a line a block size.
Sheet by_block(const Findings& found, Head head, std::span<const std::string_view> classes) {
  const std::vector<int> sizes = glomarc_block_sizes(found);
  Sheet sheet{found, std::move(head), lines_of(sizes)};
  for (const std::string_view variant : kWithBlocks)
    for (const std::string_view group : classes)
      sheet.column({classes.size() == 1 ? std::string{variant} : fmt::format("{}, {}", variant, group), "ratio", 2},
                   [&](std::size_t i) {
                     return found.mean("{}/relative 600 {}", glomarc_block_cell(variant, sizes[i]), group);
                   });
  return sheet;
}

std::vector<Line> slacks(const Findings& found) {
  std::vector<Line> lines;
  for (const double slack : glomarc_slack_factors(found))
    lines.push_back({fmt::format("{}", slack), glomarc_slack_cell(slack)});
  return lines;
}

Table by_slack(const Findings& found) {
  Sheet sheet = responses(
      found, {"figure 9", "Figure 9 in numbers: relative response under W1 by slack factor", "F_slack"}, slacks(found));
  sheet.mean({"groups", "", 0}, "*/groups");
  sheet.mean({"R / R_est, 95 %", "ratio", 2}, "*/delay 95 % medium and long");
  return sheet.table();
}

Table overheads(const Findings& found) {
  std::vector<Line> lines;
  for (const char* variant : {"SSP", "GLTS"}) {
    lines.push_back({fmt::format("{}, at every slice", variant), fmt::format("W1/{}", variant)});
    lines.push_back({fmt::format("{}, where the class changes", variant), glomarc_changes_cell(variant)});
  }
  return responses(found,
                   {"overhead", "W1: overhead at every slice, or only where the class changes", "variant, overhead"},
                   lines_that_ran(found, std::move(lines)))
      .table();
}

// ---- figures ----

Table compared(const Findings& found, std::vector<Line> lines) {
  Sheet sheet{found, {}, std::move(lines)};
  for (const std::string_view group : kGlomarcCompared)
    sheet.mean({group == "all" ? "all, 600 s" : std::string{group}}, fmt::format("*/relative 600 {}", group));
  return sheet.table();
}

report::BarChart response_bars(const Findings& found, std::string_view load) {
  return bars_of(compared(found, variants(found, load)),
                 {.title = std::string{load}, .x_name = "variant", .y_name = "relative response"});
}

report::BarChart use_bars(const Findings& found, std::string_view load) {
  Sheet sheet{found, {}, variants(found, load)};
  sheet.mean({"cores"}, "*/core use high", 100);
  sheet.mean({"nodes"}, "*/node use high", 100);
  return bars_of(sheet.table(), {.title = std::string{load}, .x_name = "variant", .y_name = "used, %"});
}

// Figure 8: a panel a class, a curve a variant.
CurveChart block_curves(const Findings& found, std::string_view group) {
  return curves_of(by_block(found, {}, std::span{&group, 1}).table(), {.title = fmt::format("W2, {} jobs", group),
                                                                       .x_name = "block size",
                                                                       .y_name = "relative response",
                                                                       .from_zero = false});
}

std::vector<Section> sections(const Findings& found) {
  return {
      {.title = "Workloads", .tables = {workloads(found)}},
      {.title = "Figure 6: relative response under the normal load",
       .text = {"SSP: space sharing only. CST and CSTWS: pairs, the best match and the first. GLTS: groups. FBO: "
                "matches in the first block only; NS: blocks are not sorted; NH: neither sorting nor blocks, and the "
                "first group that passes."},
       .figures = {{"Figure 6", {response_bars(found, "W1")}}},
       .tables = {responses(found, {"figure 6", "Figure 6 in numbers: Relative response under W1", "variant"},
                            variants(found, "W1"))
                      .table(),
                  gains(found), by_seed(found, "W1"), times(found, "W1")}},
      {.title = "Figure 7: use of the machine",
       .figures = {{"Figure 7: use of cores and nodes in phases of high load",
                    {use_bars(found, "W1"), use_bars(found, "W2")}}},
       .tables = {use(found, "W1", "figure 7", "Figure 7 in numbers"), use_gains(found),
                  use(found, "W2", "use W2", "W2")}},
      {.title = "Groups and fairness (5.2)",
       .text = {"That there are fewer than four candidates in 85 % of the cases (5.3) is not in the event log, and is "
                "not checked here."},
       .tables = {groups(found), delays(found, "W1"), delays(found, "W2")}},
      {.title = "Figure 8: the heavier load, and the size of blocks (5.3)",
       .figures = {{"W2, blocks of 16", {response_bars(found, "W2")}},
                   {"Figure 8: relative response under W2 by block size",
                    {block_curves(found, "medium"), block_curves(found, "long")}}},
       .tables = {responses_on_w2(found), by_seed(found, "W2"),
                  by_block(found,
                           {"figure 8", "Figure 8 in numbers: relative response under W2 by block size", "block size",
                            "", "NH has no blocks. All jobs with the bound of 600 s."},
                           kGlomarcCompared)
                      .table(),
                  times(found, "W2")}},
      {.title = "Figure 9: fairness against use (5.4)",
       .figures = {{"Figure 9: relative response under W1 by slack factor",
                    {curves_of(compared(found, slacks(found)),
                               {.title = "W1, GLTS", .x_name = "slack factor", .y_name = "relative response"})}}},
       .tables = {by_slack(found)}},
      {.title = "Overhead of slices",
       .text = {"Jobs that go on in the next slice need not be exchanged; the paper pays all the same (footnote 3)."},
       .tables = {overheads(found)}}};
}

std::vector<std::string> about(const SeededOptions& options) {
  return {
      fmt::format(
          "{} jobs of the typeless Lublin-Feitelson model, aarr 10.33 (W1) and 9.83 (W2), {}, on {} nodes of two CPUs "
          "of two cores. Slowdowns of Table 4, sizes by formula 7. Run times are known exactly. Runtime model: pairs.",
          options.jobs, seeds_text(options), paper::kNodes),
      "All variants run in the time slices of scojo-pect, with the parameters of Table 6. Relative response: response "
      "by the wall over the run time at one process a node, at least 1; the run time counts as 30 s at least, and for "
      "all jobs also as 600 s, which is what the paper's numbers of W2 imply. Means over the jobs, then over the "
      "seeds.",
      "Classes by request: short up to ten minutes, medium up to three hours, long beyond. R / R_est is by the clock "
      "of the job's virtual machine, which stands outside the slices of its class.",
      "The paper's figures have no numbers that could stand beside ours; what its text states does, behind ours in "
      "grey."};
}

}  // namespace

Result glomarc_result(const Findings& found, const SeededOptions& options) {
  Result result{.name = "g-lomarc-ts",
                .title = "G-LOMARC-TS, again",
                .paper =
                    "X. Zeng, A. C. Sodan: Job Scheduling with Lookahead Group Matchmaking for Time/Space Sharing on "
                    "Multi-core Parallel Machines, JSSPP 2009. Figures 6 to 9 and the text of section 5.",
                .about = about(options)};
  if (options.quick) result.limits.push_back(quick_text(options, "fewer block sizes and slack factors"));
  result.checks = glomarc_checks(found);
  result.sections = sections(found);
  return result;
}

}  // namespace replay::study
