// `replay policies`, `replay models`, `replay benchmarks`: lists of what is available, from the tables that the program
// itself uses and from its library folder.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/plugin/resolver.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::cli {
namespace {

// By ParameterType.
constexpr std::string_view kTypeNames[] = {"choice",   "whole number", "number", "numbers",
                                           "duration", "file",         "policy", "text"};

std::string_view type_name(ParameterType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

nlohmann::json policies_as_json() {
  auto list = nlohmann::json::array();
  for (const PolicyEntry& policy : policies()) {
    auto parameters = nlohmann::json::array();
    for (const ParameterSpec& spec : policy.parameters)
      parameters.push_back({{"name", spec.name},
                            {"type", type_name(spec.type)},
                            {"default", spec.default_text},
                            {"range", spec.range},
                            {"unit", spec.unit},
                            {"summary", spec.summary},
                            {"source", spec.source}});
    list.push_back({{"name", policy.name},
                    {"summary", policy.summary},
                    {"source", policy.source},
                    {"parameters", std::move(parameters)}});
  }
  return list;
}

void print_policies() {
  for (const PolicyEntry& policy : policies()) {
    fmt::print("{}\n    {}\n", policy.name, policy.summary);
    if (!policy.source.empty()) fmt::print("    source: {}\n", policy.source);
    for (const ParameterSpec& spec : policy.parameters) {
      fmt::print("    :{}={}  {}\n", spec.name, spec.default_text, spec.summary);
      fmt::print("        {}{}{}{}; source: {}\n", type_name(spec.type), spec.range.empty() ? "" : " ", spec.range,
                 spec.unit.empty() ? "" : fmt::format(" [{}]", spec.unit), spec.source);
    }
  }
  fmt::print("{}", plugin::own_policies_help());
}

}  // namespace

Command add_policies(CLI::App& app) {
  CLI::App& command = add_command(app, "policies", "every policy with its parameters, defaults, units and sources",
                                  fmt::format("Example: replay policies --json\n\n{}", plugin::own_policies_help()));
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "print as JSON");
  return [json] {
    if (*json)
      print_json(policies_as_json());
    else
      print_policies();
    return 0;
  };
}

Command add_models(CLI::App& app) {
  CLI::App& command = add_command(app, "models", "every runtime model: how fast a job runs on what it was given",
                                  "Example: replay models");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "print as JSON");
  return [json] {
    auto list = nlohmann::json::array();
    for (const RuntimeModelEntry& model : runtime_models()) {
      if (*json)
        list.push_back(
            {{"name", model.name}, {"summary", model.summary}, {"reads", model.reads}, {"source", model.source}});
      else
        fmt::print("{}\n    {}\n    reads: {}\n    source: {}\n", model.name, model.summary, model.reads, model.source);
    }
    if (*json) print_json(list);
    return 0;
  };
}

Command add_benchmarks(CLI::App& app) {
  add_command(app, "benchmarks", "the MPI programs that come with replay; `NAME --help` says more",
              "Example: replay benchmarks");
  return [] {
    std::error_code error;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(library_folder(), error))
      if (const std::string name = entry.path().filename().string();
          benchmark(name) && name.find(".so") == std::string::npos)
        names.push_back(name);
    std::ranges::sort(names);
    for (const std::string& name : names) fmt::print("{}  {}\n", name, (library_folder() / name).string());
    if (!names.empty()) return 0;
    fmt::print(stderr, "replay: no benchmarks in {}\n", library_folder().string());
    return 1;
  };
}

}  // namespace replay::cli
