// What a policy declares of itself: its name, what it does, its parameters and how it is made. Each policy declares its
// own beside its code; registry.cpp lists them.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

struct PolicyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::span<const ParameterSpec> parameters;
  std::unique_ptr<Policy> (*make)(const Parameters&);
  /// It runs only on machines of nodes with an even number of cores, four at least; others run on every machine.
  bool needs_nodes = false;
};

}  // namespace replay
