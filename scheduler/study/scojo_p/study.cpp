#include "scheduler/study/scojo_p/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scheduler/study/scojo_p/figures.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/scojo_p/workload.hpp"

namespace replay::study {
namespace {

// Every policy text of the study stands here, and that of the ideal loads.
constexpr Compared kPolicies[] = {
    {"traditional", "priority-easy:aging=top"},
    {"traditional, aging=one", "priority-easy:aging=one"},
    {"SCOJO-P", "scojo-p:predict=past"},
    {"SCOJO-P, no prediction", "scojo-p:predict=off"},
    {"Cirne-Berman", "cirne-berman:base=easy:max=full"},
    {"Cirne-Berman, up to N_opt", "cirne-berman:base=easy:max=opt"},
    {"Cirne-Berman, conservative", "cirne-berman:base=conservative:max=opt"},
    {"greedy", "greedy-moldable:order=arrival"},
    {"greedy by class", "greedy-moldable:order=class"},
    {"SCOJO", "scojo"},
};
constexpr std::array<double, 5> kIdealLoads{0.6, 0.7, 0.8, scojo_p_paper::kIdealLoad, 1.0};

// The longest are trials of every size for each job, on long queues and with Downey's many sizes.
int rank(const Cell& cell) {
  const bool tries = cell.policy.starts_with("cirne-berman:base=easy");
  const bool is_heavy = cell.name.starts_with("W2") || cell.name.find("Downey") != std::string::npos;
  return (tries ? 0 : 2) + (is_heavy ? 0 : 1);
}

}  // namespace

std::vector<std::string_view> scojo_policies() {
  std::vector<std::string_view> names;
  for (const Compared& of : kPolicies) names.push_back(of.name);
  return names;
}

std::span<const double> scojo_ideal_loads() { return kIdealLoads; }
std::string scojo_ideal_name(double ideal) {
  return ideal == scojo_p_paper::kIdealLoad ? "SCOJO-P" : fmt::format("SCOJO-P, ideal {}", ideal);
}

std::vector<Cell> scojo_cells(const SeededOptions& options) {
  std::vector<Cell> cells;
  const auto add = [&](std::string_view workload, std::string_view name, std::string_view policy) {
    for (std::uint64_t seed = 1; seed <= options.seeds; ++seed)
      cells.push_back({fmt::format("{}/{}", workload, name), std::string{policy}, seed});
  };
  const auto add_all = [&](std::string_view workload, std::initializer_list<std::string_view> names) {
    for (const Compared& of : kPolicies)
      if (std::ranges::find(names, of.name) != names.end()) add(workload, of.name, of.policy);
  };
  for (const char* workload : {"W1", "W2"}) {
    for (const Compared& of : kPolicies)
      if (of.name != "SCOJO") add(workload, of.name, of.policy);
    for (const double ideal : kIdealLoads)
      if (!options.quick && ideal != scojo_p_paper::kIdealLoad)
        add(workload, scojo_ideal_name(ideal), fmt::format("scojo-p:predict=past:ideal={}", ideal));
  }
  for (const char* workload : {"W1 80 %", "W2 80 %"})
    add_all(workload, {"SCOJO-P", "SCOJO-P, no prediction", "Cirne-Berman", "Cirne-Berman, up to N_opt",
                       "greedy by class", "SCOJO"});
  for (const char* workload : {"W1 malleable", "W2 malleable"}) add_all(workload, {"SCOJO"});
  if (!options.quick) {
    add_all("W1 Downey",
            {"traditional", "SCOJO-P", "SCOJO-P, no prediction", "Cirne-Berman", "Cirne-Berman, up to N_opt"});
    add_all("W1 Downey, E >= 0.9", {"SCOJO-P"});
  }
  std::ranges::stable_sort(cells, {}, rank);
  return cells;
}

Findings run_scojo_study(const SeededOptions& options, const std::vector<Cell>& cells,
                         const Surroundings& surroundings) {
  Findings found{scojo_printed(), geometric_mean_of};
  run_seeds<ScojoRecord>(found, cells, options,
                         {.machine = Machine::pool(scojo_p_paper::kProcessors), .runtime_model = "speedup"},
                         surroundings, [&](const std::string& workload, std::uint64_t seed) {
                           return make_scojo_workload(scojo_workload_kind(workload), seed, options.jobs);
                         });
  add_rigid_runs(found);
  return found;
}

void add_rigid_runs(Findings& found) {
  for (const char* load : {"W1", "W2"})
    for (const char* share : {"80 %", "malleable"})
      for (const char* policy : {"traditional", "traditional, aging=one"})
        found.add_alias(fmt::format("{} {}/{}", load, share, policy), fmt::format("{}/{}", load, policy));
}

Result reproduce_scojo(const SeededOptions& options, const Surroundings& surroundings) {
  return scojo_result(run_scojo_study(options, scojo_cells(options), surroundings), options);
}

}  // namespace replay::study
