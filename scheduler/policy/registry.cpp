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
#include "scheduler/policy/rigid/logged.hpp"
#include "scheduler/policy/rigid/plan.hpp"
#include "scheduler/policy/rigid/priority_easy.hpp"
#include "scheduler/policy/sharing/g_lomarc_ts.hpp"
#include "scheduler/policy/slack/slack.hpp"
#include "scheduler/policy/slicing/scojo_pect.hpp"

namespace replay {
namespace {

// Resolvers of policies from folders that this one must not include: filled at program start, only read afterwards.
std::vector<PolicyResolver>& resolvers() {
  static std::vector<PolicyResolver> added;
  return added;
}

const PolicyEntry& entry_of(std::string_view name) {
  std::vector<std::string_view> known;
  for (const PolicyEntry& entry : policies()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  throw UsageError(fmt::format("unknown policy '{}'{}; `replay policies` lists them", name, suggestion(name, known)));
}

bool is_in_table(std::string_view name) {
  return std::ranges::find(policies(), name, &PolicyEntry::name) != policies().end();
}

// A policy of the table as it was written, checked. Policies inside it that are in the table stand with all their
// parameters.
struct Written {
  explicit Written(std::string_view text) : Written(parse_policy(text)) {}
  explicit Written(const PolicyText& parsed)
      : entry(entry_of(parsed.name)),
        parameters(entry.name, entry.parameters, with_full_inner(parsed.given),
                   [](std::string_view text) { return make_policy(text).policy; }) {
    for (const ParameterSpec& spec : entry.parameters)
      if (spec.type == ParameterType::kPolicy) add_inner(parameters.text(spec.name));
    const std::vector<std::string> own = parameters.files();
    files.insert(files.begin(), own.begin(), own.end());
  }

  [[nodiscard]] std::string full_text() const {
    const std::string all = parameters.to_text();
    return all.empty() ? std::string{entry.name} : fmt::format("{}:{}", entry.name, all);
  }

  const PolicyEntry& entry;
  Parameters parameters;
  std::vector<std::string> files;  // that it and the policies inside it are made from

 private:
  using Given = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] Given with_full_inner(Given given) const {
    for (const ParameterSpec& spec : entry.parameters) {
      if (spec.type != ParameterType::kPolicy) continue;
      auto found = std::ranges::find(given, spec.name, &Given::value_type::first);
      if (found == given.end()) found = given.emplace(found, spec.name, spec.default_text);
      const PolicyText inner = parse_policy(found->second);
      if (is_in_table(inner.name)) found->second = Written{inner}.full_text();
    }
    return given;
  }
  void add_inner(const std::string& text) {
    const PolicyText inner = parse_policy(text);
    if (!is_in_table(inner.name)) return;
    const std::vector<std::string> its = Written{inner}.files;
    files.insert(files.end(), its.begin(), its.end());
  }
};

}  // namespace

void add_policy_resolver(PolicyResolver resolver) {
  if (std::ranges::find(resolvers(), resolver) == resolvers().end()) resolvers().push_back(resolver);
}

std::span<const PolicyEntry> policies() {
  static const PolicyEntry kAll[] = {
      kFcfsPolicy,        kEasyPolicy,          kPriorityEasyPolicy,  kConservativePolicy,
      kPlanPolicy,        kSjfPolicy,           kLjfPolicy,           kSlackPolicy,
      kDynpPolicy,        kFcfsMalleablePolicy, kEasyMalleablePolicy, kGreedyMoldablePolicy,
      kCirneBermanPolicy, kScojoPPolicy,        kScojoPolicy,         kGLomarcTsPolicy,
      kScojoPectPolicy,   kLoggedPolicy,
  };
  return kAll;
}

NamedPolicy make_policy(std::string_view text) {
  for (const PolicyResolver resolver : resolvers())
    if (auto own = resolver(text)) return *std::move(own);
  const Written written{text};
  return {std::string{text}, written.full_text(), written.entry.make(written.parameters), written.files,
          written.entry.prepare};
}

std::string full_text_of(std::string_view text) { return Written{text}.full_text(); }

}  // namespace replay
