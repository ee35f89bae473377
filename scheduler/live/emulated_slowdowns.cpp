#include "scheduler/live/emulated_slowdowns.hpp"

#include <utility>

#include "scheduler/base/error.hpp"

namespace replay::live {

void EmulatedSlowdowns::come(const TracedJob& traced, const Allocation& on) {
  const auto [known, is_new] = jobs_.try_emplace(traced.job.id, Known{&traced, on});
  INVARIANT(is_new, "job {} has come twice", number(traced.job.id));
  known->second.on.shareable = false;  // the jobs on its very cores do not matter here
  enter(known->second);
}

void EmulatedSlowdowns::order_move(JobId job, const Allocation& to) {
  if (const auto known = jobs_.find(job); known != jobs_.end()) known->second.moves_to = to;
}

void EmulatedSlowdowns::move(JobId job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || !found->second.moves_to) return;
  Known& known = found->second;
  leave(job);
  known.on = *std::exchange(known.moves_to, std::nullopt);
  known.on.shareable = false;
  enter(known);
}

void EmulatedSlowdowns::stay(JobId job) {
  if (const auto known = jobs_.find(job); known != jobs_.end()) known->second.moves_to.reset();
}

void EmulatedSlowdowns::leave(JobId job) {
  rates_.leave(job, [this](JobId id, const Allocation& on, const Surroundings& around) { ask(id, on, around); });
}

void EmulatedSlowdowns::come_back(JobId job) { enter(jobs_.at(job)); }

void EmulatedSlowdowns::forget(JobId job) {
  if (!jobs_.contains(job)) return;
  leave(job);
  jobs_.erase(job);
}

void EmulatedSlowdowns::enter(Known& known) {
  rates_.come(as_true(*known.traced, known.on), known.on,
              [this](JobId id, const Allocation& on, const Surroundings& around) { ask(id, on, around); });
}

void EmulatedSlowdowns::ask(JobId job, const Allocation& on, const Surroundings& around) {
  Known& known = jobs_.at(job);
  const double slowdown = model_.slowdown(as_true(*known.traced, on), on, around);
  if (std::exchange(known.told, slowdown) != slowdown) executor_.slow_down(job, slowdown);
}

}  // namespace replay::live
