#include "scheduler/policy/registry.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/policy/dynp/dynp.hpp"
#include "scheduler/policy/malleable/fcfs_malleable.hpp"
#include "scheduler/policy/moldable/cirne_berman.hpp"
#include "scheduler/policy/moldable/greedy.hpp"
#include "scheduler/policy/moldable/scojo.hpp"
#include "scheduler/policy/moldable/scojo_p.hpp"
#include "scheduler/policy/rigid/backfill.hpp"
#include "scheduler/policy/rigid/conservative.hpp"
#include "scheduler/policy/rigid/fcfs.hpp"
#include "scheduler/policy/rigid/plan.hpp"
#include "scheduler/policy/rigid/priority_easy.hpp"
#include "scheduler/policy/slack/slack.hpp"

namespace replay {
namespace {

// Resolvers of policies from folders that this one must not include: filled at program start, only read afterwards.
std::vector<PolicyResolver>& resolvers() {
  static std::vector<PolicyResolver> added;
  return added;
}

}  // namespace

void add_policy_resolver(PolicyResolver resolver) {
  if (std::ranges::find(resolvers(), resolver) == resolvers().end()) resolvers().push_back(resolver);
}

std::span<const PolicyEntry> policies() {
  static const PolicyEntry kAll[] = {
      kFcfsPolicy,        kEasyPolicy,          kPriorityEasyPolicy,  kConservativePolicy,
      kPlanPolicy,        kSjfPolicy,           kLjfPolicy,           kSlackPolicy,
      kDynpPolicy,        kFcfsMalleablePolicy, kEasyMalleablePolicy, kGreedyMoldablePolicy,
      kCirneBermanPolicy, kScojoPPolicy,        kScojoPolicy,
  };
  return kAll;
}

NamedPolicy make_policy(std::string_view text) {
  for (const PolicyResolver resolver : resolvers())
    if (auto own = resolver(text)) return *std::move(own);
  const PolicyText parsed = parse_policy(text);
  std::vector<std::string_view> known;
  for (const PolicyEntry& entry : policies()) {
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
