#include "scheduler/policy/registry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/policy/dynp/dynp.hpp"
#include "scheduler/policy/malleable/fcfs_malleable.hpp"
#include "scheduler/policy/rigid/backfill.hpp"
#include "scheduler/policy/rigid/conservative.hpp"
#include "scheduler/policy/rigid/fcfs.hpp"
#include "scheduler/policy/rigid/plan.hpp"
#include "scheduler/policy/rigid/priority_easy.hpp"
#include "scheduler/policy/slack/slack.hpp"

namespace replay {
namespace {

using enum ParameterType;

constexpr ParameterSpec kEasyParameters[] = {
    {"reservations", kInteger, "1", "1..1000000|all", "jobs",
     "how many of the first waiting jobs must not be delayed; 1 is EASY, all replans the whole queue at each event",
     "Mu'alem and Feitelson 2001"},
    {"backfill", kChoice, "arrival", "arrival|shortest|narrowest", "",
     "which of the later jobs is asked first: by arrival, by estimate, or by processes",
     "shortest: Tsafrir, Etsion and Feitelson 2007"},
    {"pass", kChoice, "event", "event|instant", "",
     "a pass after each event, submissions first, or one pass for all events of an instant",
     "reference schedules of the archive logs; docs/adr/0006-pass-rules.md"},
};

constexpr ParameterSpec kPriorityEasyParameters[] = {
    {"aging", kChoice, "top", "top|one|off", "",
     "what becomes of a medium or long job that has waited 5 times its estimate: it counts as short, as one class "
     "shorter, or stays",
     "SCOJO-P paper, section 5.1"},
};

constexpr ParameterSpec kConservativeParameters[] = {
    {"compress", kChoice, "arrival", "arrival|start-order|replan", "",
     "how waiting jobs move up when a job ends early: one by one by arrival; all in the order of their planned starts; "
     "or a "
     "fresh plan, which promises nothing",
     "arrival: reference schedules; start-order: Talby and Feitelson 1999, section 3.2"},
    {"compress-at", kChoice, "early-end", "early-end|every-end", "",
     "which end of a job makes waiting jobs move up: one before its estimate, or any; replan plans at every event",
     "early-end: Mu'alem and Feitelson 2001, Talby and Feitelson 1999, section 3.2; every-end: the simulator pyss"},
    {"pass", kChoice, "event", "event|instant", "",
     "a pass after each event, submissions first, or one pass for all events of an instant",
     "docs/adr/0006-pass-rules.md"},
};

constexpr ParameterSpec kPassParameter = {
    "pass",
    kChoice,
    "instant",
    "event|instant",
    "",
    "a pass after each event, submissions first, or one pass for all events of an instant",
    "docs/adr/0006-pass-rules.md"};
constexpr ParameterSpec kOrderedPlanParameters[] = {kPassParameter};
constexpr ParameterSpec kPlanParameters[] = {
    {"order", kChoice, "fcfs", "fcfs|sjf|ljf", "",
     "the order in which waiting jobs are planned: by arrival, shortest estimate first, longest first",
     "Streit, dynP paper, section 2"},
    kPassParameter,
};

constexpr ParameterSpec kDynpParameters[] = {
    {"decider", kChoice, "advanced", "simple|advanced|preferred", "",
     "what picks the policy: the best; the one in use if it is among the best; or the preferred one, which is left "
     "when "
     "a third is better than it by more than the threshold, and taken again as soon as it is no worse than the one in "
     "use and no third is better than it by more than the threshold",
     "Streit, dynP paper, section 3"},
    {"preferred", kChoice, "sjf", "fcfs|sjf|ljf", "", "the policy that decider=preferred prefers, and begins with",
     "Streit, dynP paper, section 4.3"},
    {"threshold", kNumber, "0", "0..1", "",
     "by what share of its own score, to nine decimals, another has to be better than the preferred policy",
     "ours; the paper has 0"},
    {"metric", kChoice, "sldwa", "sldwa|response|slowdown|bsld60|utilisation", "",
     "what a plan is measured by, over the waiting jobs and their estimates", "Streit, dynP paper, section 4.1"},
    {"step", kChoice, "all", "all|submit", "",
     "when the policy may change: at every submission and every end, or at submissions only",
     "Streit, dynP paper, section 3"},
};

constexpr ParameterSpec kSlackParameters[] = {
    {"sf", kNumber, "3", "0..1000", "",
     "slack factor SF: the first slack is (1 - p) SF AWT; 0 is conservative backfilling",
     "Talby and Feitelson 1999, section 4.3"},
    {"awt", kNumbers, "auto", "1..1e9|auto|auto-by-size|conservative|conservative-by-size", "seconds",
     "average wait time AWT; several numbers: of jobs with 1, 2, up to 4, up to 8, ... processors; auto: mean of the "
     "last 1000 starts, at least 60 s; conservative: of the same jobs under conservative backfilling, found by a "
     "simulation before the run; -by-size: apart for each of these sizes",
     "Talby and Feitelson 1999, section 4.3; auto is ours"},
    {"heuristic", kChoice, "ast", "ast|aat|du|dc|dp|all", "",
     "who is placed first among those that make room: ascending scheduled time, ascending arrival time, descending "
     "utilisation, descending cost, descending priority; all: every order of up to 6 jobs is tried, ast of more",
     "Talby and Feitelson 1999, sections 4.6 and 4.5"},
    {"alpha_u", kNumber, "1", "0..1", "", "weight of utilisation", "Talby and Feitelson 1999, section 4.2"},
    {"alpha_t", kNumber, "1", "0..1", "", "weight of time", "Talby and Feitelson 1999, section 4.2"},
    {"alpha_p", kNumber, "1", "0..1", "", "weight of priorities", "Talby and Feitelson 1999, section 4.4"},
    {"alpha_f", kNumber, "1", "0..1", "", "weight of fairness: how much of the slack is used up",
     "Talby and Feitelson 1999, section 4.4"},
};

constexpr ParameterSpec kMaxMplParameter = {"max_mpl",
                                            kInteger,
                                            "2",
                                            "1..64",
                                            "processes per core",
                                            "highest multiprogramming level; 1 never shrinks",
                                            "Utrera et al. 2012, section 3.1"};
constexpr ParameterSpec kCriterionParameter = {"criterion",
                                               kChoice,
                                               "oldest",
                                               "oldest|least-cpu-util|longest|shortest",
                                               "",
                                               "which running job is shrunk or expanded first",
                                               "Utrera et al. 2012, section 3.1"};
constexpr ParameterSpec kExpandParameter = {
    "expand",
    kChoice,
    "queue-empty",
    "queue-empty|eager",
    "",
    "when older shrunk jobs are expanded: with an empty queue (the paper), or also while the head cannot start",
    "Utrera et al. 2012, section 3.1; eager is ours"};
constexpr ParameterSpec kFcfsMalleableParameters[] = {kMaxMplParameter, kCriterionParameter, kExpandParameter};
constexpr ParameterSpec kEasyMalleableParameters[] = {
    kMaxMplParameter,
    kCriterionParameter,
    kExpandParameter,
    {"estimate", kChoice, "declared", "declared|conservative", "",
     "how fast a shrunk job is taken to run when ends are estimated: at the rate that the runtime model gives it by "
     "what "
     "it declares, or at 1 / m",
     "ours"},
};

constexpr PolicyEntry kPolicies[] = {
    {"fcfs", "arrival order, no overtaking", "", {}, make_fcfs},
    {"easy", "backfilling that never delays the head of the queue", "Lifka 1995; Mu'alem and Feitelson 2001",
     kEasyParameters, make_easy},
    {"priority-easy", "EASY with short jobs before medium before long ones, and aging", "SCOJO-P paper, section 5.1",
     kPriorityEasyParameters, make_priority_easy},
    {"conservative", "backfilling that delays nobody: each job has a guaranteed start", "Mu'alem and Feitelson 2001",
     kConservativeParameters, make_conservative},
    {"plan", "a fresh plan at every event, with implicit backfilling", "Streit, dynP paper", kPlanParameters,
     make_plan},
    {"sjf", "plan:order=sjf, shortest job first", "Streit, dynP paper", kOrderedPlanParameters, make_sjf},
    {"ljf", "plan:order=ljf, longest job first", "Streit, dynP paper", kOrderedPlanParameters, make_ljf},
    {"slack", "conservative backfilling in which jobs may be delayed by their slack, at a price",
     "Talby and Feitelson 1999", kSlackParameters, make_slack},
    {"dynp", "self-tuning: changes between fcfs, sjf and ljf by the plan that looks best", "Streit, dynP paper",
     kDynpParameters, make_dynp},
    {"fcfs-malleable", "arrival order; shrinks running jobs so that the head can start",
     "Utrera, Tabik, Corbalan, Labarta 2012", kFcfsMalleableParameters, make_fcfs_malleable},
    {"easy-malleable", "fcfs-malleable with backfilling that does not delay the head",
     "Utrera et al. 2012, section 5, future work; rules are ours", kEasyMalleableParameters, make_easy_malleable},
};

// Resolvers of policies from folders that this one must not include: filled at program start, only read afterwards.
std::vector<PolicyResolver>& resolvers() {
  static std::vector<PolicyResolver> added;
  return added;
}

}  // namespace

void add_policy_resolver(PolicyResolver resolver) {
  if (std::ranges::find(resolvers(), resolver) == resolvers().end()) resolvers().push_back(resolver);
}

std::span<const PolicyEntry> policies() { return kPolicies; }

NamedPolicy make_policy(std::string_view text) {
  for (const PolicyResolver resolver : resolvers())
    if (auto own = resolver(text)) return *std::move(own);
  const PolicyText parsed = parse_policy(text);
  std::vector<std::string_view> known;
  for (const PolicyEntry& entry : kPolicies) {
    if (entry.name == parsed.name) {
      const Parameters parameters{entry.name, entry.parameters, parsed.given};
      const std::string all = parameters.to_text();
      return {std::string{text}, all.empty() ? parsed.name : fmt::format("{}:{}", parsed.name, all),
              entry.make(parameters)};
    }
    known.push_back(entry.name);
  }
  throw UsageError(
      fmt::format("unknown policy '{}'{}; `replay policies` lists them", parsed.name, suggestion(parsed.name, known)));
}

}  // namespace replay
