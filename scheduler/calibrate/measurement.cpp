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

std::optional<Figure> find_overhead(const std::vector<OverheadAt>& list, ProcessCount processes) {
  const auto found = std::ranges::find(list, processes, &OverheadAt::processes);
  return found == list.end() ? std::nullopt : std::optional{found->seconds};
}

void store_overhead(std::vector<OverheadAt>& list, ProcessCount processes, const Figure& figure) {
  auto found = std::ranges::find_if(list, [&](const OverheadAt& at) { return at.processes >= processes; });
  if (found == list.end() || found->processes != processes) found = list.insert(found, {processes, {}});
  found->seconds = figure;
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
  const std::string size = count_text(m.processes);
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
      return all_of({find_overhead(profile.launch, m.processes), find_overhead(profile.end, m.processes)});
    case Kind::kResize:
      return all_of({find_overhead(profile.shrink, m.processes), find_overhead(profile.expand, m.processes)});
    case Kind::kMessage: return all_of({profile.message_s});
    case Kind::kRunTime: return entry == nullptr ? std::vector<Figure>{} : std::vector{entry->runtime_s};
    case Kind::kSharing:
      if (entry == nullptr) return {};
      // One process has no other to share a core with: only its utilisation is measured.
      if (m.processes == 1) return entry->cpu_use ? std::vector{kNobodyElse, *entry->cpu_use} : std::vector<Figure>{};
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
      store_overhead(profile.launch, m.processes, figures[0]);
      return store_overhead(profile.end, m.processes, figures[1]);
    case Kind::kResize:
      store_overhead(profile.shrink, m.processes, figures[0]);
      return store_overhead(profile.expand, m.processes, figures[1]);
    case Kind::kMessage: profile.message_s = figures[0]; return;
    case Kind::kRunTime: entry_for(profile, m).runtime_s = figures[0]; return;
    case Kind::kSharing: {
      ProfileEntry& entry = entry_for(profile, m);
      if (m.processes > 1) entry.slowdown_mpl_2 = figures[0];
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
