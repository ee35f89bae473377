// The statements in the text of the SCOJO-P paper, sections 5.3, 5.4 and 6.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "scheduler/study/scojo_p/figures.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/scojo_p/study.hpp"
#include "scheduler/study/statements.hpp"

namespace replay::study {
namespace {

constexpr double kNear = 10;  // percentage points that a gain may be off

// "56 % less", "60 % more".
std::string less_or_more(double gain) { return fmt::format("{:.0f} % {}", std::abs(gain), gain < 0 ? "more" : "less"); }

std::string hours(double seconds) { return fmt::format("{:.2f} h", seconds / 3600); }

// By how many per cent the mean response of all jobs is less.
double gain(const Findings& found, std::string_view cell, std::string_view base) {
  return found.less(cell, base, "response all");
}

double printed_gain(std::string_view row) { return scojo_printed().at("gains", row, "mean"); }

void judge_best(Check& check, const Findings& found, std::string_view figure) {
  check.found = "less than the best of the others by, all, short, medium and long jobs";
  for (const char* load : {"W1", "W2"}) {
    Check gains;
    for (const std::string_view group : kScojoGroups) {
      const auto of = [&](const char* policy) { return found.mean("{}/{}/{} {}", load, policy, figure, group); };
      const double best = std::min({of("traditional"), of("Cirne-Berman"), of("Cirne-Berman, up to N_opt")});
      const double gain = (1 - of("SCOJO-P") / best) * 100;
      gains.list(gain > 0, ", ", "{:.0f}", gain);
    }
    check.add(gains.holds, "{}: {} %", load, gains.found);
  }
}

// Whether the gain of a policy on W1 is that which is printed, by seed too.
void judge_near(Check& check, const Findings& found, const char* cell, const char* base, double printed) {
  const double ours = gain(found, cell, base);
  check.add(is_near(ours, printed, kNear), "{}", less_or_more(ours));
  std::string seeds;
  for (const double of_seed : found.less_by_seed(cell, base, "response all"))
    add_item(seeds, ", ", "{:.0f}", ours < 0 ? -of_seed : of_seed);
  if (found.seeds() > 1) check.found += fmt::format(" (by seed {})", seeds);
}

void judge_tendency(Check& check, const Findings& found, const char* load) {
  const auto of = [&](const char* policy, const char* change) {
    return found.average("{}/{}/{} all", load, policy, change);
  };
  const double shrunk = of("SCOJO-P", "shrunk"), expanded = of("SCOJO-P", "expanded"),
               cirne_shrunk = of("Cirne-Berman", "shrunk"), cirne_expanded = of("Cirne-Berman", "expanded");
  check.add(shrunk > expanded && cirne_expanded > cirne_shrunk,
            "SCOJO-P shrinks {:.0f} and expands {:.0f}, Cirne-Berman {:.0f} and {:.0f}", shrunk, expanded, cirne_shrunk,
            cirne_expanded);
}

constexpr Statement kStatements[] = {
    {"SCOJO-P has the least mean response in every class, W1 and W2 (Figures 4 and 9)",
     [](Check& check, const Findings& found) { judge_best(check, found, "response"); }},
    {"SCOJO-P has the least mean bounded slowdown in every class, W1 and W2 (Figures 6 and 11)",
     [](Check& check, const Findings& found) { judge_best(check, found, "slowdown"); }},
    {"SCOJO-P improves the mean response by some 70 % over the traditional scheduler (6; here: within 10)",
     [](Check& check, const Findings& found) {
       judge_near(check, found, "W1/SCOJO-P", "W1/traditional", printed_gain("W1, SCOJO-P over traditional"));
       const double heavier = gain(found, "W2/SCOJO-P", "W2/traditional");
       check.found += fmt::format("; on W2 {}", less_or_more(heavier));
       check.why = fmt::format(
           "the gain grows with the load, which the paper does not state: on the heavier W2 it is {:.0f} %; and beside "
           "SCOJO the paper itself has \"approx. 50 %\"",
           heavier);
     }},
    {"\"The approx. 50 % improvement which we get with SCOJO-P\" over no adaptation (5.4; here: within 10)",
     [](Check& check, const Findings& found) {
       judge_near(check, found, "W1/SCOJO-P", "W1/traditional", scojo_p_paper::kScojoBesideOldScojo);
     }},
    {"Cirne-Berman improves the mean response by some 30 % over the traditional scheduler (6; here: within 10)",
     [](Check& check, const Findings& found) {
       judge_near(check, found, "W1/Cirne-Berman", "W1/traditional", printed_gain("W1, Cirne-Berman over traditional"));
       const std::string up_to = less_or_more(gain(found, "W1/Cirne-Berman, up to N_opt", "W1/traditional"));
       check.found += fmt::format("; up to N_opt {}", up_to);
       check.why = fmt::format(
           "as the paper has it, jobs try all sizes up to N_max, where three points are inefficient (0.4), so that "
           "each job's choice costs the others more than it gains; held to N_opt, which the paper does not say, it "
           "takes {}",
           up_to);
     }},
    {"SCOJO-P improves the mean response by some 59 % over Cirne-Berman (6; here: within 10)",
     [](Check& check, const Findings& found) {
       judge_near(check, found, "W1/SCOJO-P", "W1/Cirne-Berman",
                  printed_gain("W1, SCOJO-P over Cirne-Berman, response of all jobs"));
       check.why = fmt::format("Cirne-Berman is worse here than in the paper; against it up to N_opt it is {:.0f} %",
                               gain(found, "W1/SCOJO-P", "W1/Cirne-Berman, up to N_opt"));
     }},
    {"SCOJO-P starts long jobs earlier than Cirne-Berman, on fewer processors: they run longer, and respond earlier "
     "(5.4)",
     [](Check& check, const Findings& found) {
       for (const char* base : {"Cirne-Berman", "Cirne-Berman, up to N_opt"}) {
         const auto ours = [&](const char* figure) { return found.mean("W1/SCOJO-P/{} long", figure); };
         const auto theirs = [&](const char* figure) { return found.mean("W1/{}/{} long", base, figure); };
         check.add(ours("wait") < theirs("wait") && ours("execution") > theirs("execution") &&
                       ours("response") < theirs("response"),
                   "{}: wait {} against {}, execution {} against {}", base, hours(ours("wait")), hours(theirs("wait")),
                   hours(ours("execution")), hours(theirs("execution")));
       }
     }},
    {"In every class SCOJO-P has fewer jobs with very long responses (Figure 7; here: last two bins, W1)",
     [](Check& check, const Findings& found) {
       for (const char* group : {"short", "medium", "long"}) {
         const auto bins = response_bins(group);
         const auto late = [&](const char* policy) {
           return found.average("W1/{}/{} up to {}", policy, group, bins.end()[-2]) +
                  found.average("W1/{}/{} up to {}", policy, group, bins.back());
         };
         const double ours = late("SCOJO-P"), full = late("Cirne-Berman"), opt = late("Cirne-Berman, up to N_opt"),
                      rigid = late("traditional");
         check.add(ours < std::min({full, opt, rigid}),
                   "{}: {:.0f} jobs, Cirne-Berman {:.0f}, up to N_opt {:.0f}, traditional {:.0f}", group, ours, full,
                   opt, rigid);
       }
     }},
    {"SCOJO-P tends to shrink jobs, Cirne-Berman to expand them (Figure 8)",
     [](Check& check, const Findings& found) { judge_tendency(check, found, "W1"); }},
    {"Cirne-Berman still tends to expand jobs under the heavier load (Figure 12)",
     [](Check& check, const Findings& found) { judge_tendency(check, found, "W2"); }},
    {"Under the heavier load SCOJO-P shrinks more jobs (Figure 12)",
     [](Check& check, const Findings& found) {
       const double w1 = found.average("W1/SCOJO-P/shrunk all"), w2 = found.average("W2/SCOJO-P/shrunk all");
       check.add(w2 > w1, "{:.0f} on W2, {:.0f} on W1", w2, w1);
     }},
    {"Cirne-Berman uses more of the machine than SCOJO-P: 89.69 against 78.6 % (5.4)",
     [](Check& check, const Findings& found) {
       const auto used = [&](const char* policy) { return found.average("W1/{}/utilisation", policy) * 100; };
       const double ours = used("SCOJO-P"), cirne = used("Cirne-Berman");
       check.add(cirne > ours, "{:.1f} against {:.1f} %; up to N_opt {:.1f}, traditional {:.1f}", cirne, ours,
                 used("Cirne-Berman, up to N_opt"), used("traditional"));
     }},
    {"Classes are treated about alike, long jobs shrunk a little more (5.4; modifiers of shrunk jobs)",
     [](Check& check, const Findings& found) {
       const auto of = [&](const char* group) { return found.average("W1/SCOJO-P/modifier shrunk {}", group); };
       check.add(of("long") < of("short") && of("long") < of("medium"), "short {:.2f}, medium {:.2f}, long {:.2f}",
                 of("short"), of("medium"), of("long"));
     }},
    {"Without prediction SCOJO-P is only a little worse (5.4; here: up to 10 %)",
     [](Check& check, const Findings& found) {
       for (const std::string load : {"W1", "W2"}) {
         const double worse = -gain(found, load + "/SCOJO-P, no prediction", load + "/SCOJO-P");
         check.add(worse > 0 && worse <= 10, "{}: {:+.1f} %", load, worse);
       }
     }},
    {"With 80 % moldable jobs results are similar (5.4)",
     [](Check& check, const Findings& found) {
       const double over = gain(found, "W1 80 %/SCOJO-P", "W1 80 %/traditional"),
                    other = gain(found, "W1 80 %/SCOJO-P", "W1 80 %/Cirne-Berman");
       check.add(over > 0 && other > 0,
                 "SCOJO-P {:.0f} % less response than traditional, {:.0f} % less than Cirne-Berman", over, other);
     }},
    {"With 80 % moldable jobs SCOJO-P is 4 % better and Cirne-Berman 5 % worse than with all (5.4)",
     [](Check& check, const Findings& found) {
       const double scojo = gain(found, "W1 80 %/SCOJO-P", "W1/SCOJO-P"),
                    cirne = gain(found, "W1 80 %/Cirne-Berman", "W1/Cirne-Berman");
       check.add(scojo > 0 && cirne < 0, "SCOJO-P {:+.1f} %, Cirne-Berman {:+.1f} % response", -scojo, -cirne);
     },
     "rigid jobs keep N_opt however high the load is, so there is less to shrink; and fewer jobs that expand to N_max "
     "leave more room"},
    {"SCOJO improves the response by 50 % with 80 % of the long jobs malleable, by 35 % with all classes 80 % moldable "
     "(5.4; here: within 10 and 10)",
     [](Check& check, const Findings& found) {
       const auto ours = [&](const std::string& workload) {
         const double less = gain(found, workload + "/SCOJO", workload + "/traditional");
         check.holds = check.holds && is_near(less, scojo_printed().at("SCOJO", workload, "mean"), kNear);
         return less;
       };
       check.found = fmt::format("{:.0f} and {:.0f} %", ours("W1 malleable"), ours("W1 80 %"));
     },
     "as its paper has it, SCOJO does not mold long jobs, so with moldable jobs only it leaves them as they are"},
    {"Of the ideal loads tried, 0.9 performs best (5.3; here: none better by 7 %)",
     [](Check& check, const Findings& found) {
       constexpr double kNoise = 7;  // per cent
       for (const std::string load : {"W1", "W2"})
         for (const double ideal : scojo_ideal_loads()) {
           const std::string cell = fmt::format("{}/{}", load, scojo_ideal_name(ideal)), base = load + "/SCOJO-P";
           if (cell == base || !found.has(cell)) continue;
           const double better = gain(found, cell, base);
           check.add(better < kNoise, "{} with {}: {:+.1f} %", load, ideal, -better);
         }
     }},
    {"With Downey's curves SCOJO-P is only slightly better than Cirne-Berman in response, clearly in slowdown (Figures "
     "13 and 14)",
     [](Check& check, const Findings& found) {
       if (!found.has("W1 Downey/SCOJO-P")) return;
       const auto less = [&](const char* base, const char* figure) {
         return found.less("W1 Downey/SCOJO-P", base, figure);
       };
       const char *cirne = "W1 Downey/Cirne-Berman", *up_to = "W1 Downey/Cirne-Berman, up to N_opt";
       const double response = less(cirne, "response all"), slowdown = less(cirne, "slowdown all");
       check.add(response > 0 && slowdown > response,
                 "response {}, slowdown {}; against Cirne-Berman up to N_opt {} and {}", less_or_more(response),
                 less_or_more(slowdown), less_or_more(less(up_to, "response all")),
                 less_or_more(less(up_to, "slowdown all")));
     }},
    {"With Downey's curves Cirne-Berman is not much better than the traditional scheduler in response (Figure 13; "
     "here: up to 10 %)",
     [](Check& check, const Findings& found) {
       const double full = gain(found, "W1 Downey/Cirne-Berman", "W1 Downey/traditional");
       if (found.has("W1 Downey/SCOJO-P")) check.add(full >= 0 && full <= kNear, "{}", less_or_more(full));
     },
     "the traditional scheduler keeps the submitted sizes, and the working sets of the curves, which Cirne-Berman may "
     "choose, are several times as large: see the workloads"},
    {"With Downey's curves the variant without prediction is better (5.4)",
     [](Check& check, const Findings& found) {
       const double better = gain(found, "W1 Downey/SCOJO-P, no prediction", "W1 Downey/SCOJO-P");
       if (found.has("W1 Downey/SCOJO-P")) check.add(better > 0, "{:+.1f} % response", -better);
     }},
    {"With Downey's curves a least size of efficiency 0.9 for medium and long jobs does not help (5.4)",
     [](Check& check, const Findings& found) {
       const double better = gain(found, "W1 Downey, E >= 0.9/SCOJO-P", "W1 Downey/SCOJO-P");
       if (found.has("W1 Downey/SCOJO-P")) check.add(better <= 0, "{:+.1f} % response", -better);
     }},
};

}  // namespace

std::vector<Check> scojo_checks(const Findings& found) { return judged<Findings>(found, kStatements); }

}  // namespace replay::study
