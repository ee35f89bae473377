#include "scheduler/runtime_model/calibrated.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/runtime_model/overheads.hpp"

namespace replay {
namespace {

constexpr double kLeastByNodes = 1e-6;  // an estimate may be shorter than a launch

// A measured neighbour: its demand on a core, and the slowdown that it causes.
struct Pair {
  double demand;
  double slowdown;
};

struct Application {
  double cpu_use = -1;        // -1: not measured, the job's own counts
  double slowdown_mpl_2 = 0;  // 0: not measured
  std::vector<Pair> pairs{};  // ascending, demands differ
  // By nodes, the first one as measured with all the rest; s without launch and end.
  std::vector<std::pair<int, double>> runtimes{};

  [[nodiscard]] double runtime_on(int nodes) const {
    return value_on_lines(runtimes.size(), nodes, [this](std::size_t i) {
      return std::pair<double, double>{runtimes[i].first, runtimes[i].second};
    });
  }
};

double formula_3(double cpu_use, int mpl, double demand) { return std::max(1.0, mpl * cpu_use + demand); }

// A neighbour's demand is the CPU utilisation that it has at that size; 1 if it was not measured.
double demand_of(const Profile& profile, const PairSlowdown& pair) {
  for (const ProfileEntry& entry : profile.entries)
    if (entry.benchmark == pair.neighbour && entry.problem_class == pair.neighbour_class &&
        entry.processes == pair.processes && entry.cpu_use)
      return entry.cpu_use->value;
  return 1;
}

// Pairs of the entry's own size if there are any, else those of all sizes. Neighbours with the same demand count with
// their mean.
std::vector<Pair> pairs_of(const Profile& profile, const ProfileEntry& entry) {
  const auto is_of_entry = [&entry](const PairSlowdown& pair) {
    return pair.benchmark == entry.benchmark && pair.problem_class == entry.problem_class;
  };
  const bool has_own_size = std::ranges::any_of(
      profile.pairs, [&](const PairSlowdown& pair) { return is_of_entry(pair) && pair.processes == entry.processes; });
  std::vector<Pair> all;
  for (const PairSlowdown& pair : profile.pairs)
    if (is_of_entry(pair) && (!has_own_size || pair.processes == entry.processes))
      all.push_back({demand_of(profile, pair), std::max(1.0, pair.slowdown.value)});
  std::ranges::stable_sort(all, {}, &Pair::demand);
  std::vector<Pair> merged;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    double sum = 0;
    for (end = begin; end < all.size() && all[end].demand == all[begin].demand; ++end) sum += all[end].slowdown;
    merged.push_back({all[begin].demand, sum / static_cast<double>(end - begin)});
  }
  return merged;
}

std::vector<std::pair<int, double>> runtimes_of(const ProfileEntry& entry) {
  std::vector<std::pair<int, double>> runtimes{{entry.nodes, entry.runtime_s.value}};
  for (const RunTimeOnNodes& run : entry.on_more_nodes) runtimes.emplace_back(run.nodes, run.runtime_s.value);
  return runtimes;
}

class Calibrated final : public RuntimeModel {
 public:
  Calibrated(const Profile& profile, bool adds_overheads)
      : launch_(profile, &JobCosts::launch),
        end_(profile, &JobCosts::end),
        shrink_(profile, &JobCosts::shrink),
        expand_(profile, &JobCosts::expand),
        adds_overheads_(adds_overheads) {
    for (const ProfileEntry& entry : profile.entries)
      applications_.push_back({.cpu_use = entry.cpu_use ? entry.cpu_use->value : -1,
                               .slowdown_mpl_2 = entry.slowdown_mpl_2 ? entry.slowdown_mpl_2->value : 0,
                               .pairs = pairs_of(profile, entry),
                               .runtimes = runtimes_of(entry)});
  }

  double slowdown(const ModelledJob& job, const Allocation& on, const Surroundings& around) const override {
    return slowdown_of(job.behaviour, on.mpl, around.demand) * by_nodes(job, nodes_of(on, around));
  }

  // Profiles without figures of several nodes say how long a resize takes, too, but jobs are resized at once under them.
  Duration resize_time(const ModelledJob& job, CoreCount from, const Allocation& to,
                       const Surroundings& around) const override {
    const CostByNodes& cost = to.cores < from ? shrink_ : expand_;
    const int nodes = nodes_of(to, around);
    return nodes == 0 || !cost.knows_several() ? Duration{} : from_seconds(cost.at(job.processes, nodes));
  }

 private:
  static double beside(const std::vector<Pair>& pairs, double use, double demand) {
    const auto above = std::ranges::lower_bound(pairs, demand, {}, &Pair::demand);
    if (above != pairs.end() && above->demand == demand) return above->slowdown;
    if (above != pairs.end() && above != pairs.begin()) {
      const Pair& below = *(above - 1);
      const double share = (demand - below.demand) / (above->demand - below.demand);
      return below.slowdown + share * (above->slowdown - below.slowdown);
    }
    const Pair& nearest = above == pairs.end() ? pairs.back() : pairs.front();
    return std::max(1.0, nearest.slowdown * formula_3(use, 1, demand) / formula_3(use, 1, nearest.demand));
  }

  // 0: not known.
  static int nodes_of(const Allocation& on, const Surroundings& around) {
    return around.machine == nullptr ? 0 : nodes_under(on, *around.machine);
  }

  [[nodiscard]] const Application& application_of(const Behaviour& behaviour) const {
    INVARIANT(static_cast<std::size_t>(behaviour.application) < applications_.size(), "the profile has no entry {}",
              behaviour.application);
    return applications_[static_cast<std::size_t>(behaviour.application)];
  }

  [[nodiscard]] double overheads(ProcessCount processes, int nodes) const {
    return launch_.at(processes, nodes) + end_.at(processes, nodes);
  }

  // Its time, with launch and end, on so many nodes over that on those for which set_benchmarks() has set it.
  [[nodiscard]] double by_nodes(const ModelledJob& job, int nodes) const {
    if (nodes == 0) return 1;
    if (job.behaviour.application >= 0) {
      const Application& application = application_of(job.behaviour);
      const int usual = application.runtimes.front().first;
      if (nodes == usual) return 1;
      return (application.runtime_on(nodes) + overheads(job.processes, nodes)) /
             (application.runtime_on(usual) + overheads(job.processes, usual));
    }
    const int usual = launch_.fewest_nodes(job.processes);
    if (!adds_overheads_ || nodes == usual || job.runtime <= Duration::zero()) return 1;
    const double more = overheads(job.processes, nodes) - overheads(job.processes, usual);
    return std::max(kLeastByNodes, 1 + more / seconds(job.runtime));
  }

  [[nodiscard]] double slowdown_of(const Behaviour& behaviour, int mpl, double demand) const {
    if (mpl == 1 && demand <= 0) return 1;
    if (behaviour.application < 0) return formula_3(behaviour.cpu_use, mpl, demand);
    const Application& application = application_of(behaviour);
    const double use = application.cpu_use >= 0 ? application.cpu_use : behaviour.cpu_use;
    if (mpl == 1 && !application.pairs.empty()) return beside(application.pairs, use, demand);
    const double factor = application.slowdown_mpl_2 > 0 ? application.slowdown_mpl_2 / formula_3(use, 2, 0) : 1;
    return std::max(1.0, factor * formula_3(use, mpl, demand));
  }

  std::vector<Application> applications_;
  CostByNodes launch_, end_, shrink_, expand_;
  bool adds_overheads_;
};

}  // namespace

std::unique_ptr<RuntimeModel> make_calibrated(const ModelFiles& files) {
  if (files.profile == nullptr)
    throw UsageError("the runtime model 'calibrated' needs a profile: --profile FILE, which replay calibrate writes");
  return std::make_unique<Calibrated>(*files.profile, files.adds_overheads);
}

}  // namespace replay
