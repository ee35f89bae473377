// What a policy declares of itself: its name, what it does, its parameters and how it is made. Each policy declares its
// own beside its code; registry.cpp lists them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// Gets each start of a trial run: the job's processes and its wait.
using StartOfTrial = std::function<void(ProcessCount, Duration)>;
/// Simulates the jobs of a run under another policy, before the run.
using TrialRun = std::function<void(std::string_view policy, const StartOfTrial& started)>;

struct PolicyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::span<const ParameterSpec> parameters;
  std::unique_ptr<Policy> (*make)(const Parameters&);
  /// It runs only on machines of nodes with an even number of cores, four at least; others run on every machine.
  bool needs_nodes = false;
  /// The policy's text with what a trial run has found in place of parameters that ask for one; nothing if none of them
  /// does. Null: it has no such parameters. Policies inside another one are not prepared.
  std::optional<std::string> (*prepare)(const PolicyText& written, const TrialRun& trial) = nullptr;
  /// The words of the facts that it tells (facts/fact.hpp), without those of policies inside it.
  std::span<const std::string_view> tells = {};
};

}  // namespace replay
