#include "scheduler/calibrate/plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "scheduler/model/allocation.hpp"
#include "scheduler/runtime_model/overheads.hpp"

namespace replay::calibrate {
namespace {

constexpr ProcessCount kEverySizeUpTo = 16;

// Core-seconds of a class, if nothing is known; their ratios are used for classes that were not measured.
struct ClassGuess {
  std::string_view name;
  double seconds;
};
constexpr std::array kClasses = {ClassGuess{"S", 0.3}, ClassGuess{"W", 1.5}, ClassGuess{"A", 8}, ClassGuess{"B", 40}};

double guess_of(std::string_view problem_class) {
  const auto found = std::ranges::find(kClasses, problem_class, &ClassGuess::name);
  return found == kClasses.end() ? kClasses.back().seconds : found->seconds;
}

double run_seconds(const Kernel& kernel, ProcessCount processes, const Profile& profile) {
  const double guess = guess_of(kernel.problem_class);
  double best = guess / processes;
  double nearest = 0;  // how alike the entry is that `best` comes from
  for (const ProfileEntry& entry : profile.entries) {
    if (entry.benchmark != kernel.name) continue;
    const double alike =
        (entry.problem_class == kernel.problem_class ? 2 : 1) + (entry.processes == processes ? 0.5 : 0);
    if (alike <= nearest) continue;
    nearest = alike;
    best = entry.runtime_s.value * entry.processes / processes * guess / guess_of(entry.problem_class);
  }
  return best;
}

double launch_seconds(const Measurement& m, const Profile& profile) {
  const double known = CostByNodes{profile, &JobCosts::launch}.at(m.processes, m.nodes);
  if (known == 0) return 0.15 + 0.05 * m.processes;
  return known + CostByNodes{profile, &JobCosts::end}.at(m.processes, m.nodes);
}

class PlanMaker {
 public:
  explicit PlanMaker(const Selection& selection)
      : s_(selection), node_cores_(s_.node_cores.empty() ? std::vector{s_.cores} : s_.node_cores) {
    for (const ProcessCount nodes : usual_sizes(static_cast<CoreCount>(node_cores_.size())))
      usual_nodes_.push_back(number(nodes));
  }

  std::vector<Measurement> make() {
    const int all_nodes = static_cast<int>(node_cores_.size());
    for (const ProcessCount n : s_.processes)
      for (const int nodes : some_nodes_for(n)) add({.kind = Kind::kOverheads, .processes = n, .nodes = nodes});
    if (!s_.emulated) add({.kind = Kind::kOverheads, .processes = processes_at(s_.cores, 2), .nodes = all_nodes});
    for (const ProcessCount n : s_.processes)
      for (const int nodes : some_nodes_for(n))
        if (const Measurement m{.kind = Kind::kResize, .processes = n, .nodes = nodes}; m.gives_up_cores()) add(m);
    if (s_.message) add({.kind = Kind::kMessage, .processes = 2});
    if (s_.emulated) return plan_;
    for (std::size_t i = 0; i < s_.classes.size(); ++i) {
      add_class(s_.classes[i]);
      const bool only_large_ones_follow = i + 1 == s_.classes.size() || is_large(s_.classes[i + 1]);
      if (only_large_ones_follow) add_pairs();  // the first time; each is in the plan once
    }
    return plan_;
  }

 private:
  static bool is_large(std::string_view problem_class) { return problem_class == "A" || problem_class == "B"; }
  void add(const Measurement& measurement) {
    if (std::ranges::find(plan_, measurement) == plan_.end()) plan_.push_back(measurement);
  }

  // Where so many processes with a core each may lie; those that are not measured in between are left out.
  [[nodiscard]] std::vector<int> some_nodes_for(ProcessCount processes) const {
    std::vector<int> some = nodes_for(cores_at(processes, 1), node_cores_);
    std::erase_if(some, [&](int nodes) {
      return nodes != some.front() && nodes != some.back() &&
             std::ranges::find(usual_nodes_, nodes) == usual_nodes_.end();
    });
    return some;
  }
  [[nodiscard]] int fewest_nodes_for(ProcessCount processes) const { return some_nodes_for(processes).front(); }

  void add_class(const std::string& problem_class) {
    for (const std::string& name : s_.benchmarks)
      for (const ProcessCount n : s_.processes)
        add({.kind = Kind::kRunTime, .processes = n, .nodes = fewest_nodes_for(n), .kernel = {name, problem_class}});
    for (const std::string& name : s_.benchmarks)
      for (const ProcessCount n : s_.processes) add_spread({name, problem_class}, n);
    for (const std::string& name : s_.benchmarks)
      for (const ProcessCount n : s_.processes)
        add({.kind = Kind::kSharing, .processes = n, .nodes = fewest_nodes_for(n), .kernel = {name, problem_class}});
    if (s_.processes.front() != 1) return;
    for (const std::string& name : s_.benchmarks)
      for (const SelfCase self : self_cases())
        add({.kind = Kind::kSelfSlowdown, .processes = 1, .kernel = {name, problem_class}, .self = self});
  }

  // Over powers of two of nodes, and over as many as can be.
  void add_spread(const Kernel& kernel, ProcessCount processes) {
    const std::vector<int> nodes = nodes_for(cores_at(processes, 1), node_cores_);
    for (const int many : nodes)
      if (many != nodes.front() && (many == nodes.back() || (many & (many - 1)) == 0))
        add({.kind = Kind::kRunTime, .processes = processes, .nodes = many, .spread = true, .kernel = kernel});
  }

  [[nodiscard]] std::vector<SelfCase> self_cases() const {
    std::vector<SelfCase> cases;
    const CoreCount widest = *std::ranges::max_element(s_.package_cores);
    const bool has_packages = s_.package_cores.size() > 1;
    if (widest >= 2) cases.push_back(SelfCase::kTwoSamePackage);
    if (has_packages) cases.push_back(SelfCase::kTwoDifferentPackages);
    if (widest >= 4) cases.push_back(SelfCase::kFourSamePackage);
    if (has_packages && node_cores_.front() >= 4) cases.push_back(SelfCase::kFourDifferentPackages);
    return cases;
  }

  void add_pairs() {
    const bool has_w = std::ranges::find(s_.classes, "W") != s_.classes.end();
    const std::string c = has_w ? "W" : s_.classes.front();
    const ProcessCount n = s_.processes.back();
    for (const bool alike : {false, true})
      for (const std::string& a : s_.benchmarks)
        for (const std::string& b : s_.benchmarks)
          if ((a == b) == alike)
            add({.kind = Kind::kPair,
                 .processes = n,
                 .nodes = fewest_nodes_for(n),
                 .kernel = {a, c},
                 .neighbour = {b, c}});
  }

  const Selection& s_;
  std::vector<CoreCount> node_cores_;
  std::vector<int> usual_nodes_;
  std::vector<Measurement> plan_;
};

}  // namespace

std::vector<ProcessCount> usual_sizes(CoreCount cores) {
  const ProcessCount most = processes_at(cores, 1);
  std::vector<ProcessCount> sizes(static_cast<std::size_t>(std::min(most, kEverySizeUpTo)));
  std::iota(sizes.begin(), sizes.end(), 1);
  for (ProcessCount n = 2 * kEverySizeUpTo; n < most; n *= 2) sizes.push_back(n);
  if (sizes.back() != most) sizes.push_back(most);
  return sizes;
}

std::vector<CoreCount> cores_by_node(const Machine& machine) {
  std::vector<CoreCount> cores;
  for (const NodeGroup& group : machine.groups())
    cores.insert(cores.end(), static_cast<std::size_t>(group.nodes), group.cores_per_node());
  return cores;
}

// Over k nodes lie k cores, one on each, to all that they have.
std::vector<int> nodes_for(CoreCount cores, const std::vector<CoreCount>& node_cores) {
  std::vector<int> found;
  CoreCount room = 0;
  for (int nodes = 1; nodes <= static_cast<int>(node_cores.size()); ++nodes) {
    room += node_cores[static_cast<std::size_t>(nodes - 1)];
    if (nodes <= cores && cores <= room) found.push_back(nodes);
  }
  return found;
}

std::vector<Measurement> plan_of(const Selection& selection) { return PlanMaker{selection}.make(); }

double expected_seconds(const Measurement& m, const Profile& profile) {
  const double launch = launch_seconds(m, profile);
  const double steady = std::max(kSteady, run_seconds(m.kernel, m.processes, profile));
  switch (m.kind) {
    case Kind::kOverheads: return launch;
    case Kind::kResize: return 0.5;  // one program has many of them
    case Kind::kMessage: return launch + 1;
    case Kind::kRunTime: return launch + run_seconds(m.kernel, m.processes, profile);
    case Kind::kSharing: return !m.gives_up_cores() ? launch + steady : 4 * launch + 3.5 * steady;
    case Kind::kSelfSlowdown: return 2 * (launch + steady);
    case Kind::kPair: return 4 * launch + 3.5 * steady;
  }
  return launch;
}

double expected_seconds(const std::vector<Measurement>& plan, const Profile& profile) {
  double sum = 0;
  for (const Measurement& measurement : plan)
    sum += static_cast<double>(kLeastReadings) * expected_seconds(measurement, profile);
  return sum;
}

}  // namespace replay::calibrate
