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

}  // namespace

WaitingShare::WaitingShare(const ClassedJob& job, CoreCount machine, ProcessCount guarantee)
    : guaranteed(guarantee), job_(job.job), machine_(machine), optimum_(job.optimum) {
  // Without a list these are all sizes between two bounds, which size_near() keeps within.
  is_list_ = has_choice_of_size(*job_) && !job_->declaration->sizes.empty();
  const ProcessCount full = processes_on(*job_, machine);
  least_ = size_near(*job_, 0, full);
  most_ = size_near(*job_, full, full);
  known_[static_cast<std::size_t>(optimum_) % known_.size()] = {optimum_, job.at_optimum};
}

ProcessCount WaitingShare::resized(double modifier) const {
  const double wish = modifier * optimum_ + kLoadNoise;
  if (is_list_) return size_near(*job_, wish, processes_on(*job_, machine_));
  const double rounded = wish + 0.5;  // halves up, when it is cut
  return rounded < most_ ? std::max(static_cast<ProcessCount>(rounded), least_) : most_;
}

HeadSize load_with(double modifier, const LoadView& view) {
  const WaitingShare& head = *view.waiting.front();
  const ProcessCount size = head.resized(modifier);
  const Duration time = head.time_at(size);
  double sum = work(cores_needed(head.job(), size), time);
  CoreCount others_cores = view.running_cores;  // of those that run longer than the head
  for (const Release& other : view.running) {
    const Duration left = other.at - view.now;
    if (left >= time) break;
    sum += work(other.cores, left);
    others_cores -= other.cores;
  }
  sum += work(others_cores, time);
  for (const WaitingShare* const other : view.waiting.subspan(1)) {
    const ProcessCount others = other->size_at(modifier);
    sum += work(cores_needed(other->job(), others), std::min(other->time_at(others), time));
  }
  if (view.forecast != nullptr) sum += view.forecast->expected_work(view.since_midnight, time, modifier);
  return {modifier, sum / work(view.machine, time), time};
}

HeadSize size_of_head(const LoadView& view, const LoadAim& aim) {
  HeadSize best;
  double nearest = std::numeric_limits<double>::infinity();
  if (view.waiting.front()->job().estimate == Duration::zero()) return best;
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
