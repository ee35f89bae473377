#include "scheduler/policy/moldable/head_size.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace replay {
namespace {

constexpr int kMostTrials = 50;  // ours: the number of worse trials in a row does not bound the search
// Loads, and sizes before they are rounded, that differ by less are equal: 0.8 and 1 are equally far from 0.9, which
// floating point has no number for.
constexpr double kLoadNoise = 1e-9;

double work(CoreCount cores, Duration time) { return static_cast<double>(time.count()) * cores; }

ProcessCount resized(const ClassedJob& job, double modifier, CoreCount machine) {
  return size_near(*job.job, modifier * job.optimum + kLoadNoise, machine);
}

}  // namespace

ProcessCount WaitingShare::size_at(double modifier, CoreCount machine) const {
  return std::max(guaranteed, resized(*job, modifier, machine));
}

Duration WaitingShare::time_at(ProcessCount processes) const {
  if (size != processes) {
    size = processes;
    time = estimate_at(*job->job, processes);
  }
  return time;
}

HeadSize load_with(double modifier, const LoadView& view, std::size_t head) {
  const ProcessCount size = resized(*view.waiting[head].job, modifier, view.machine);
  const Duration time = view.waiting[head].time_at(size);
  double sum = work(size, time);
  for (const Occupied& other : view.running) sum += work(other.cores, std::min(other.left, time));
  for (std::size_t i = 0; i < view.waiting.size(); ++i) {
    if (i == head) continue;
    const ProcessCount others = view.waiting[i].size_at(modifier, view.machine);
    sum += work(others, std::min(view.waiting[i].time_at(others), time));
  }
  if (view.forecast != nullptr) sum += view.forecast->expected_work(view.since_midnight, time, modifier);
  return {modifier, sum / work(view.machine, time), time};
}

HeadSize size_of_head(const LoadView& view, std::size_t head, const LoadAim& aim) {
  HeadSize best;
  double nearest = std::numeric_limits<double>::infinity();
  if (view.waiting[head].job->job->estimate == Duration::zero()) return best;
  double modifier = 1;
  for (int trial = 0, worse = 0; trial < kMostTrials; ++trial) {
    const HeadSize tried = load_with(modifier, view, head);
    const double distance = std::abs(tried.load - aim.ideal);
    if (distance < nearest - kLoadNoise) {
      nearest = distance;
      best = tried;
      worse = 0;
    } else if (++worse == aim.most_worse) {
      break;
    }
    if (distance <= aim.delta + kLoadNoise) break;
    const double next = modifier * (aim.ideal / tried.load);
    if (next == modifier) break;
    modifier = next;
  }
  return best;
}

}  // namespace replay
