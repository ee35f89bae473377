// The statements in the text of the G-LOMARC-TS paper, sections 5.2 to 5.4.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/study.hpp"
#include "scheduler/study/statements.hpp"

namespace replay::study {
namespace {

namespace paper = glomarc_paper;

constexpr double kNear = 10;  // percentage points that a gain may be off
constexpr const char* kWhyPairs =
    "groups of more than two gain nothing over pairs here, under any reading of the paper that was tried";

// Relative response as the paper compares it, all jobs with the bound that its own numbers imply.
std::string relative(std::string_view group) { return fmt::format("relative 600 {}", group); }
double response(const Findings& found, std::string_view cell, std::string_view group) {
  return found.mean("{}/{}", cell, relative(group));
}

double printed(std::string_view table, std::string_view row, std::string_view column) {
  return glomarc_printed().at(table, row, column);
}

void judge_gain(Check& check, const Findings& found, std::string_view base) {
  std::array<double, 3> in_print{};
  const std::string cell = fmt::format("W1/{}", base);
  for (std::size_t i = 0; i < kGlomarcCompared.size(); ++i) {
    in_print[i] = printed("gains", fmt::format("{}, {}", base, kGlomarcCompared[i]), "mean");
    const double ours = found.less("W1/GLTS", cell, relative(kGlomarcCompared[i]));
    check.list(is_near(ours, in_print[i], kNear), ", ", "{:.1f}", ours);
  }
  check.found +=
      fmt::format(" %; of all with a bound of 30 s {:.1f} %", found.less("W1/GLTS", cell, "relative 30 all"));
  check.statement = fmt::format(fmt::runtime(check.statement), in_print[0], base, in_print[1], in_print[2]);
}
constexpr const char* kGain =
    "W1: GLTS has {} % less relative response of medium jobs than {}, {} % of long jobs, {} % of all (5.2; here: "
    "within 10)";

// "NAME +1.2, -0.3, +4.0 %": more relative response than `base`; each class has to hold.
void add_changes(Check& check, const Findings& found, std::string_view name, std::string_view cell,
                 std::string_view base, const auto& holds) {
  Check changes;
  for (const std::string_view group : kGlomarcCompared) {
    const double more = found.more(cell, base, relative(group));
    changes.list(holds(more), ", ", "{:+.1f}", more);
  }
  check.add(changes.holds, "{} {} %", name, changes.found);
}

// The least relative response of all block sizes, and its size.
std::pair<double, int> best_block(const Findings& found, std::string_view variant, std::string_view group) {
  std::pair<double, int> best{std::numeric_limits<double>::infinity(), 0};
  for (const int block : glomarc_block_sizes(found))
    best = std::min(best, {response(found, glomarc_block_cell(variant, block), group), block});
  return best;
}

constexpr Statement kStatements[] = {
    {kGain, [](Check& check, const Findings& found) { judge_gain(check, found, "SSP"); }},
    {kGain, [](Check& check, const Findings& found) { judge_gain(check, found, "CST"); }, kWhyPairs},
    {kGain, [](Check& check, const Findings& found) { judge_gain(check, found, "CSTWS"); }, kWhyPairs},
    {"W1: SSP, CSTWS, CST, GLTS, from the highest relative response to the lowest (Figure 6)",
     [](Check& check, const Findings& found) {
       bool only_pairs = true;
       for (const std::string_view group : kGlomarcCompared) {
         const auto of = [&](const char* cell) { return response(found, cell, group); };
         const double ssp = of("W1/SSP"), cstws = of("W1/CSTWS"), cst = of("W1/CST"), glts = of("W1/GLTS");
         check.add(ssp > cstws && cstws > cst && cst > glts, "{} {:.2f}, {:.2f}, {:.2f}, {:.2f}", group, ssp, cstws,
                   cst, glts);
         only_pairs = only_pairs && ssp > cstws && cstws > std::max(cst, glts);
       }
       if (only_pairs) check.why = kWhyPairs;
     }},
    {"W1: long jobs benefit more than medium ones (5.2)",
     [](Check& check, const Findings& found) {
       const double long_jobs = found.less("W1/GLTS", "W1/SSP", relative("long")),
                    medium = found.less("W1/GLTS", "W1/SSP", relative("medium"));
       check.add(long_jobs > medium, "{:.0f} against {:.0f} %", long_jobs, medium);
     }},
    {"W1: in phases of high load GLTS uses 26.8 % more of the cores than SSP, 6.0 % more than CST and 10.1 % more than "
     "CSTWS (Figure 7; here: within 5)",
     [](Check& check, const Findings& found) {
       const auto more = [&](const char* base) {
         const double ours = found.more("W1/GLTS", fmt::format("W1/{}", base), "core use high");
         check.holds = check.holds && is_near(ours, printed("core use", base, "mean"), 5);
         return ours;
       };
       check.found = fmt::format("{:.1f}, {:.1f} and {:.1f} %", more("SSP"), more("CST"), more("CSTWS"));
     }},
    {"Groups have 2.5 jobs under W1 and 2.6 under W2 (5.2, 5.3; here: within 0.2)",
     [](Check& check, const Findings& found) {
       for (const std::string load : {"W1", "W2"}) {
         const double ours = found.mean("{}/GLTS/group size", load);
         check.list(is_near(ours, printed("groups", load + ", GLTS", "jobs of a group"), 0.2), " and ", "{:.2f}", ours);
       }
     }},
    {"About 1,500 groups are formed under W1 (5.2; here: within 10 %)",
     [](Check& check, const Findings& found) {
       const double groups = found.mean("W1/GLTS/groups"), in_print = printed("groups", "W1, GLTS", "groups");
       check.add(is_near(groups, in_print, 0.1 * in_print), "{:.0f}", groups);
     },
     "they would have 3,750 jobs, more than the 3,600 that may share nodes; 41.7 % of these are 1,500 jobs, so that "
     "the number is one of jobs"},
    {"41.7 % of the medium and long jobs run in a group (5.2, W1; here: within 3 points)",
     [](Check& check, const Findings& found) {
       const double ours = found.mean("W1/GLTS/in group") * 100;
       check.add(is_near(ours, printed("groups", "W1, GLTS", "medium and long jobs in groups"), 3), "{:.1f} %", ours);
     }},
    {"Under W2 about 25 % more groups are formed (5.3; here: within 10 points)",
     [](Check& check, const Findings& found) {
       const double more = found.more("W2/GLTS", "W1/GLTS", "groups");
       check.add(is_near(more, paper::kMoreGroupsOnW2, kNear), "{:+.0f} %", more);
     }},
    {"R / R_est is 1 in the mean, 1.3 for 75 % of the medium and of the long jobs, 1.4 for 95 % (5.2, W1; here: within "
     "0.1)",
     [](Check& check, const Findings& found) {
       for (const char* group : {"medium", "long"}) {
         const auto of = [&](const char* figure, const char* in_print) {
           const double ours = found.mean("W1/GLTS/{} {}", figure, group);
           check.holds = check.holds && is_near(ours, printed("delays W1", "GLTS", in_print), 0.1);
           return ours;
         };
         check.add(true, "{} {:.2f}, {:.2f}, {:.2f}", group, of("delay", "medium, mean"),
                   of("delay 75 %", "medium, 75 %"), of("delay 95 %", "medium, 95 %"));
       }
     }},
    {"W1: FBO, NS and NH are about as good as GLTS (5.3; here: within 5 %)",
     [](Check& check, const Findings& found) {
       check.found = "more relative response than GLTS, medium, long, all";
       for (const char* variant : {"FBO", "NS", "NH"})
         add_changes(check, found, variant, fmt::format("W1/{}", variant), "W1/GLTS",
                     [](double more) { return std::abs(more) <= 5; });
     }},
    {"W2: the best block size is 12, for medium and for long jobs (Figure 8)",
     [](Check& check, const Findings& found) {
       const int medium = best_block(found, "GLTS", "medium").second,
                 long_jobs = best_block(found, "GLTS", "long").second;
       check.add(medium == paper::kBestBlockSize && long_jobs == paper::kBestBlockSize, "{} and {}", medium, long_jobs);
       for (const auto& [group, best] : {std::pair{"medium", medium}, std::pair{"long", long_jobs}})
         check.add(true, "12 is {:.1f} % above the best of {} jobs",
                   found.more(glomarc_block_cell("GLTS", paper::kBestBlockSize), glomarc_block_cell("GLTS", best),
                              relative(group)),
                   group);
     }},
    {"W2: with the best block size GLTS is better than FBO and NS with theirs, and than NH (Figure 8)",
     [](Check& check, const Findings& found) {
       for (const char* group : {"medium", "long"}) {
         const auto least = [&](const char* variant) { return best_block(found, variant, group).first; };
         const double glts = least("GLTS"), fbo = least("FBO"), ns = least("NS"), nh = least("NH");
         check.add(glts < std::min({fbo, ns, nh}), "{}: {:.2f}, FBO {:.2f}, NS {:.2f}, NH {:.2f}", group, glts, fbo, ns,
                   nh);
       }
     }},
    {"W2: FBO is much worse than GLTS with small blocks and similar with large ones (Figure 8; here: by 10 % and more, "
     "within 5 %)",
     [](Check& check, const Findings& found) {
       const auto sizes = glomarc_block_sizes(found);
       if (sizes.empty()) return;
       for (const char* group : {"medium", "long"}) {
         const auto more = [&](int block) {
           return found.more(glomarc_block_cell("FBO", block), glomarc_block_cell("GLTS", block), relative(group));
         };
         const double small = more(sizes.front()), large = more(sizes.back());
         check.add(small >= 10 && std::abs(large) <= 5, "{}: {:+.1f} % at {}, {:+.1f} % at {}", group, small,
                   sizes.front(), large, sizes.back());
       }
     }},
    {"SSP cannot handle W2: jobs queue up and the makespan grows; GLTS can (5.3; here: SSP ends twice as far past the "
     "last submission)",
     [](Check& check, const Findings& found) {
       const auto past_end = [&](const char* cell) { return found.mean("{}/past the end", cell) * 100; };
       check.add(past_end("W2/SSP") >= 2 * past_end("W2/GLTS"),
                 "past the last submission SSP {:.1f} %, GLTS {:.1f} %; under W1 {:.1f} and {:.1f} %",
                 past_end("W2/SSP"), past_end("W2/GLTS"), past_end("W1/SSP"), past_end("W1/GLTS"));
     }},
    {"W2: relative response under SSP is 17.5 of medium jobs, 36.74 of long ones, 10.65 of all (5.3; here: within 25 "
     "%)",
     [](Check& check, const Findings& found) {
       for (const auto& [group, column] :
            {std::pair{"medium", "medium"}, std::pair{"long", "long"}, std::pair{"all", "all, bound 600 s"}}) {
         const double ours = response(found, "W2/SSP", group), in_print = printed("W2", "SSP", column);
         std::string seeds;
         for (const double of_seed : found.by_seed("W2/SSP/" + relative(group)))
           add_item(seeds, ", ", "{:.1f}", of_seed);
         check.add(is_near(ours, in_print, 0.25 * in_print), "{} {:.1f} (by seed {})", group, ours, seeds);
       }
     },
     "SSP saturates, so that responses depend on the length of the workload and on the seed"},
    {"W2: relative response under GLTS is much lower than under SSP (5.3; here: by half and more)",
     [](Check& check, const Findings& found) {
       for (const std::string_view group : kGlomarcCompared) {
         const double less = found.less("W2/GLTS", "W2/SSP", relative(group));
         check.add(less >= 50, "{} {:.0f} % less", group, less);
       }
     }},
    {"W1: a lower slack factor than 1.5 makes relative responses higher, a higher one changes little (Figure 9; here: "
     "within 5 %)",
     [](Check& check, const Findings& found) {
       check.found = "against 1.5, medium, long, all";
       for (const double slack : glomarc_slack_factors(found))
         if (slack != paper::kSlackFactor)
           add_changes(check, found, fmt::format("{}:", slack), glomarc_slack_cell(slack), "W1/GLTS",
                       [&](double more) { return slack < paper::kSlackFactor ? more > 0 : std::abs(more) <= 5; });
     }},
};

}  // namespace

std::vector<Check> glomarc_checks(const Findings& found) { return judged<Findings>(found, kStatements); }

}  // namespace replay::study
