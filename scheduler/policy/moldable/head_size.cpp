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

HeadSize load_with(double modifier, const LoadView& view) {
  const WaitingShare& head = view.waiting.front();
  const ProcessCount size = resized(*head.job, modifier, view.machine);
  const Duration time = head.time_at(size);
  double sum = work(size, time);
  for (const Occupied& other : view.running) sum += work(other.cores, std::min(other.left, time));
  for (const WaitingShare& other : view.waiting.subspan(1)) {
    const ProcessCount others = other.size_at(modifier, view.machine);
    sum += work(others, std::min(other.time_at(others), time));
  }
  if (view.forecast != nullptr) sum += view.forecast->expected_work(view.since_midnight, time, modifier);
  return {modifier, sum / work(view.machine, time), time};
}

HeadSize size_of_head(const LoadView& view, const LoadAim& aim) {
  HeadSize best;
  double nearest = std::numeric_limits<double>::infinity();
  if (view.waiting.front().job->job->estimate == Duration::zero()) return best;
  double modifier = 1;
  for (int trial = 0, worse = 0; trial < kMostTrials; ++trial) {
    const HeadSize tried = load_with(modifier, view);
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
