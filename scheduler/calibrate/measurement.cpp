#include "scheduler/calibrate/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay::calibrate {
namespace {

// Stands for the slowdown with two processes on a core where there is only one process.
constexpr Figure kNobodyElse{.value = 1, .spread = 0, .runs = static_cast<int>(kLeastReadings)};

std::string name_of(const Kernel& kernel) {
  return kernel.problem_class.empty() ? kernel.name : kernel.name + " " + kernel.problem_class;
}

std::string count_text(ProcessCount processes) { return counted(processes, "process", "processes"); }

std::string_view self_text(SelfCase which) {
  switch (which) {
    case SelfCase::kTwoSamePackage: return "two on a package";
    case SelfCase::kTwoDifferentPackages: return "two on two packages";
    case SelfCase::kFourSamePackage: return "four on a package";
    case SelfCase::kFourDifferentPackages: return "four on several packages";
  }
  return "?";
}

std::optional<Figure> SelfSlowdown::*member_of(SelfCase which) {
  switch (which) {
    case SelfCase::kTwoSamePackage: return &SelfSlowdown::two_same_package;
    case SelfCase::kTwoDifferentPackages: return &SelfSlowdown::two_different_packages;
    case SelfCase::kFourSamePackage: return &SelfSlowdown::four_same_package;
    case SelfCase::kFourDifferentPackages: break;
  }
  return &SelfSlowdown::four_different_packages;
}

const ProfileEntry* find_entry(const Profile& profile, const Measurement& m) {
  const auto found = std::ranges::find_if(profile.entries, [&m](const ProfileEntry& entry) {
    return entry.benchmark == m.kernel.name && entry.problem_class == m.kernel.problem_class &&
           entry.processes == m.processes;
  });
  return found == profile.entries.end() ? nullptr : &*found;
}

ProfileEntry& entry_for(Profile& profile, const Measurement& m) {
  if (const ProfileEntry* found = find_entry(profile, m))
    return profile.entries[static_cast<std::size_t>(found - profile.entries.data())];
  ProfileEntry entry;
  entry.benchmark = m.kernel.name;
  entry.problem_class = m.kernel.problem_class;
  entry.processes = m.processes;
  entry.command = command_of(m.kernel);
  const auto key = [](const ProfileEntry& e) { return std::tie(e.benchmark, e.problem_class, e.processes); };
  const auto at = std::ranges::find_if(profile.entries, [&](const ProfileEntry& e) { return key(e) > key(entry); });
  return *profile.entries.insert(at, std::move(entry));
}

// Those of jobs on so many nodes; null: nothing was measured.
const JobCosts* find_costs(const Profile& profile, int nodes) {
  if (nodes == 1) return &profile;
  const auto found = std::ranges::find(profile.over_nodes, nodes, &CostsOnNodes::nodes);
  return found == profile.over_nodes.end() ? nullptr : &*found;
}

JobCosts& costs_for(Profile& profile, int nodes) {
  if (nodes == 1) return profile;
  auto found = std::ranges::find_if(profile.over_nodes, [&](const CostsOnNodes& at) { return at.nodes >= nodes; });
  if (found == profile.over_nodes.end() || found->nodes != nodes) {
    found = profile.over_nodes.insert(found, CostsOnNodes{});
    found->nodes = nodes;
  }
  return *found;
}

std::optional<Figure> find_cost(const Profile& profile, const Measurement& m, std::vector<OverheadAt> JobCosts::*kind) {
  const JobCosts* const costs = find_costs(profile, m.nodes);
  if (costs == nullptr) return std::nullopt;
  const auto found = std::ranges::find(costs->*kind, m.processes, &OverheadAt::processes);
  return found == (costs->*kind).end() ? std::nullopt : std::optional{found->seconds};
}

void store_cost(Profile& profile, const Measurement& m, std::vector<OverheadAt> JobCosts::*kind, const Figure& figure) {
  std::vector<OverheadAt>& list = costs_for(profile, m.nodes).*kind;
  auto found = std::ranges::find_if(list, [&](const OverheadAt& at) { return at.processes >= m.processes; });
  if (found == list.end() || found->processes != m.processes) found = list.insert(found, {m.processes, {}});
  found->seconds = figure;
}

const Figure* find_runtime(const ProfileEntry* entry, const Measurement& m) {
  if (entry == nullptr || !m.spread) return entry == nullptr ? nullptr : &entry->runtime_s;
  const auto found = std::ranges::find(entry->on_more_nodes, m.nodes, &RunTimeOnNodes::nodes);
  return found == entry->on_more_nodes.end() ? nullptr : &found->runtime_s;
}

void store_runtime(ProfileEntry& entry, const Measurement& m, const Figure& figure) {
  if (!m.spread) {
    entry.nodes = m.nodes;
    entry.runtime_s = figure;
    return;
  }
  auto& list = entry.on_more_nodes;
  auto found = std::ranges::find_if(list, [&](const RunTimeOnNodes& at) { return at.nodes >= m.nodes; });
  if (found == list.end() || found->nodes != m.nodes) found = list.insert(found, {m.nodes, {}});
  found->runtime_s = figure;
}

bool is_of(const PairSlowdown& pair, const Measurement& m) {
  return pair.benchmark == m.kernel.name && pair.problem_class == m.kernel.problem_class &&
         pair.neighbour == m.neighbour.name && pair.neighbour_class == m.neighbour.problem_class &&
         pair.processes == m.processes;
}

std::vector<Figure> all_of(std::initializer_list<std::optional<Figure>> figures) {
  std::vector<Figure> list;
  for (const auto& figure : figures) {
    if (!figure) return {};
    list.push_back(*figure);
  }
  return list;
}

}  // namespace

std::string command_of(const Kernel& kernel) {
  return kernel.problem_class.empty() ? kernel.name : fmt::format("{} --class {}", kernel.name, kernel.problem_class);
}

int copies_of(SelfCase which) {
  return which == SelfCase::kTwoSamePackage || which == SelfCase::kTwoDifferentPackages ? 2 : 4;
}

std::string to_text(const Measurement& m) {
  const std::string size =
      count_text(m.processes) + (m.nodes > 1 ? fmt::format(" over {} nodes", m.nodes) : std::string{});
  switch (m.kind) {
    case Kind::kOverheads: return fmt::format("launch and end of {}", size);
    case Kind::kResize: return fmt::format("shrink and expand of {}", size);
    case Kind::kMessage: return "a message under emulation";
    case Kind::kRunTime: return fmt::format("{}, {}: run time", name_of(m.kernel), size);
    case Kind::kSharing: return fmt::format("{}, {}: CPU utilisation, two on a core", name_of(m.kernel), size);
    case Kind::kSelfSlowdown: return fmt::format("{}: {}", name_of(m.kernel), self_text(m.self));
    case Kind::kPair: return fmt::format("{} beside {}, {} each", name_of(m.kernel), name_of(m.neighbour), size);
  }
  return "?";
}

std::vector<Tolerance> tolerances(Kind kind, double spread) {
  switch (kind) {
    case Kind::kOverheads: return {{spread, 0.005}, {spread, 0.005}};
    case Kind::kResize: return {{spread, 0.0005}, {spread, 0.0005}};
    case Kind::kMessage: return {{spread, 0.00002}};
    case Kind::kRunTime: return {{spread, 0.005}};
    case Kind::kSharing: return {{spread, 0}, {spread, 0.02}};
    case Kind::kSelfSlowdown:
    case Kind::kPair: return {{spread, 0}};
  }
  return {};
}

std::vector<Figure> figures_in(const Profile& profile, const Measurement& m) {
  const ProfileEntry* entry = find_entry(profile, m);
  switch (m.kind) {
    case Kind::kOverheads:
      return all_of({find_cost(profile, m, &JobCosts::launch), find_cost(profile, m, &JobCosts::end)});
    case Kind::kResize:
      return all_of({find_cost(profile, m, &JobCosts::shrink), find_cost(profile, m, &JobCosts::expand)});
    case Kind::kMessage: return all_of({profile.message_s});
    case Kind::kRunTime: {
      const Figure* const figure = find_runtime(entry, m);
      return figure == nullptr ? std::vector<Figure>{} : std::vector{*figure};
    }
    case Kind::kSharing:
      if (entry == nullptr) return {};
      if (!m.gives_up_cores())
        return entry->cpu_use ? std::vector{kNobodyElse, *entry->cpu_use} : std::vector<Figure>{};
      return all_of({entry->slowdown_mpl_2, entry->cpu_use});
    case Kind::kSelfSlowdown:
      return entry == nullptr ? std::vector<Figure>{} : all_of({entry->self_slowdown.*member_of(m.self)});
    case Kind::kPair: {
      const auto pair = std::ranges::find_if(profile.pairs, [&m](const PairSlowdown& p) { return is_of(p, m); });
      return pair == profile.pairs.end() ? std::vector<Figure>{} : std::vector{pair->slowdown};
    }
  }
  return {};
}

void store(Profile& profile, const Measurement& m, const std::vector<Figure>& figures) {
  INVARIANT(figures.size() == tolerances(m.kind, 0).size(), "{} figures of {}", figures.size(), to_text(m));
  switch (m.kind) {
    case Kind::kOverheads:
      store_cost(profile, m, &JobCosts::launch, figures[0]);
      return store_cost(profile, m, &JobCosts::end, figures[1]);
    case Kind::kResize:
      store_cost(profile, m, &JobCosts::shrink, figures[0]);
      return store_cost(profile, m, &JobCosts::expand, figures[1]);
    case Kind::kMessage: profile.message_s = figures[0]; return;
    case Kind::kRunTime: return store_runtime(entry_for(profile, m), m, figures[0]);
    case Kind::kSharing: {
      ProfileEntry& entry = entry_for(profile, m);
      if (m.gives_up_cores()) entry.slowdown_mpl_2 = figures[0];
      entry.cpu_use = figures[1];
      return;
    }
    case Kind::kSelfSlowdown: entry_for(profile, m).self_slowdown.*member_of(m.self) = figures[0]; return;
    case Kind::kPair: break;
  }
  const auto found = std::ranges::find_if(profile.pairs, [&m](const PairSlowdown& p) { return is_of(p, m); });
  if (found != profile.pairs.end()) {
    found->slowdown = figures[0];
    return;
  }
  profile.pairs.push_back(
      {m.kernel.name, m.kernel.problem_class, m.neighbour.name, m.neighbour.problem_class, m.processes, figures[0]});
}

}  // namespace replay::calibrate
