#include "scheduler/policy/registry.hpp"

#include <fmt/core.h>

#include <vector>

#include "scheduler/model/error.hpp"
#include "scheduler/model/suggest.hpp"
#include "scheduler/policy/backfill.hpp"
#include "scheduler/policy/fcfs.hpp"
#include "scheduler/policy/fcfs_malleable.hpp"

namespace replay {
namespace {

using enum ParameterType;

constexpr ParameterSpec kEasyParameters[] = {
    {"pass", kChoice, "event", "event|instant", "",
     "a pass after each event, submissions first, or one pass for all events of an instant",
     "reference schedules of the archive logs; docs/adr/0006-pass-rules.md"},
};

constexpr ParameterSpec kFcfsMalleableParameters[] = {
    {"max_mpl", kInteger, "2", "1..64", "processes per core", "highest multiprogramming level; 1 never shrinks",
     "Utrera et al. 2012, section 3.1"},
    {"criterion", kChoice, "oldest", "oldest|least-cpu-util|longest|shortest", "",
     "which running job is shrunk or expanded first", "Utrera et al. 2012, section 3.1"},
    {"expand", kChoice, "queue-empty", "queue-empty|eager", "",
     "when older shrunk jobs are expanded: with an empty queue (the paper), or also while the head cannot start",
     "Utrera et al. 2012, section 3.1; eager is ours"},
};

constexpr PolicyEntry kPolicies[] = {
    {"fcfs", "arrival order, no overtaking", "", {}, make_fcfs},
    {"easy", "backfilling that never delays the head of the queue", "Lifka 1995; Mu'alem and Feitelson 2001",
     kEasyParameters, make_easy},
    {"fcfs-malleable", "arrival order; shrinks running jobs so that the head can start",
     "Utrera, Tabik, Corbalan, Labarta 2012", kFcfsMalleableParameters, make_fcfs_malleable},
};

}  // namespace

std::span<const PolicyEntry> policies() { return kPolicies; }

NamedPolicy make_policy(std::string_view text) {
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
