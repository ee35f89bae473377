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

double launch_seconds(ProcessCount processes, const Profile& profile) {
  if (profile.launch.empty()) return 0.15 + 0.05 * processes;
  return overhead_at(profile.launch, processes) + overhead_at(profile.end, processes);
}

class PlanMaker {
 public:
  explicit PlanMaker(const Selection& selection) : s_(selection) {}

  std::vector<Measurement> make() {
    for (const ProcessCount n : s_.processes) add({.kind = Kind::kOverheads, .processes = n});
    if (!s_.emulated) add({.kind = Kind::kOverheads, .processes = processes_at(s_.cores, 2)});
    for (const ProcessCount n : s_.processes)
      if (n > 1) add({.kind = Kind::kResize, .processes = n});
    add({.kind = Kind::kMessage, .processes = 2});
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

  void add_class(const std::string& problem_class) {
    for (const Kind kind : {Kind::kRunTime, Kind::kSharing})
      for (const std::string& name : s_.benchmarks)
        for (const ProcessCount n : s_.processes) add({.kind = kind, .processes = n, .kernel = {name, problem_class}});
    if (s_.processes.front() != 1) return;
    for (const std::string& name : s_.benchmarks)
      for (const SelfCase self : self_cases())
        add({.kind = Kind::kSelfSlowdown, .processes = 1, .kernel = {name, problem_class}, .self = self});
  }

  [[nodiscard]] std::vector<SelfCase> self_cases() const {
    std::vector<SelfCase> cases;
    const CoreCount widest = *std::ranges::max_element(s_.package_cores);
    const bool has_packages = s_.package_cores.size() > 1;
    if (widest >= 2) cases.push_back(SelfCase::kTwoSamePackage);
    if (has_packages) cases.push_back(SelfCase::kTwoDifferentPackages);
    if (widest >= 4) cases.push_back(SelfCase::kFourSamePackage);
    if (has_packages && s_.cores >= 4) cases.push_back(SelfCase::kFourDifferentPackages);
    return cases;
  }

  void add_pairs() {
    const bool has_w = std::ranges::find(s_.classes, "W") != s_.classes.end();
    const std::string c = has_w ? "W" : s_.classes.front();
    const ProcessCount n = s_.processes.back();
    for (const bool alike : {false, true})
      for (const std::string& a : s_.benchmarks)
        for (const std::string& b : s_.benchmarks)
          if ((a == b) == alike) add({.kind = Kind::kPair, .processes = n, .kernel = {a, c}, .neighbour = {b, c}});
  }

  const Selection& s_;
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

std::vector<Measurement> plan_of(const Selection& selection) { return PlanMaker{selection}.make(); }

double expected_seconds(const Measurement& m, const Profile& profile) {
  const double launch = launch_seconds(m.processes, profile);
  const double steady = std::max(kSteady, run_seconds(m.kernel, m.processes, profile));
  switch (m.kind) {
    case Kind::kOverheads: return launch;
    case Kind::kResize: return 0.5;  // one program has many of them
    case Kind::kMessage: return launch + 1;
    case Kind::kRunTime: return launch + run_seconds(m.kernel, m.processes, profile);
    case Kind::kSharing: return m.processes == 1 ? launch + steady : 4 * launch + 3.5 * steady;
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
