#include "scheduler/model/workload.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace replay {
namespace {

constexpr std::size_t kRemembered = 64;  // kinds that are searched; a log has few, and one kind per job gains nothing

}  // namespace

bool TracedJobs::Kind::fits(const TracedJob& traced) const {
  const auto& [job, truth, its_follows, its_think_time, its_cancelled_after, its_has_network_overhead] = traced;
  const Behaviour &declared = job.declared, &is_true = truth.behaviour;
  return flexibility == job.flexibility && cut_at_request == truth.cut_at_request &&
         has_network_overhead == its_has_network_overhead && declared_application == declared.application &&
         application == is_true.application &&
         declared.cpu_use == (declared_cpu_use == kAsTrue ? is_true.cpu_use : declared_cpu_use) &&
         declared.network_overhead ==
             (declared_network_overhead == kAsTrue ? is_true.network_overhead : declared_network_overhead) &&
         user_priority == job.user_priority && political_priority == job.political_priority &&
         declaration == job.declaration && speedup_power == truth.speedup_power &&
         slowdown_power == truth.slowdown_power && follows == its_follows && think_time == its_think_time &&
         cancelled_after == its_cancelled_after;
}

std::uint32_t TracedJobs::kind_of(const TracedJob& traced) {
  if (last_kind_ < kinds_.size() && kinds_[last_kind_].fits(traced)) return last_kind_;
  const std::size_t remembered = std::min(kinds_.size(), kRemembered);
  for (std::size_t i = 0; i < remembered; ++i)
    if (kinds_[i].fits(traced)) return last_kind_ = static_cast<std::uint32_t>(i);
  const auto& [job, truth, follows, think_time, cancelled_after, has_network_overhead] = traced;
  const Behaviour &declared = job.declared, &is_true = truth.behaviour;
  Kind& kind = kinds_.emplace_back();
  kind.flexibility = job.flexibility;
  kind.cut_at_request = truth.cut_at_request;
  kind.has_network_overhead = has_network_overhead;
  kind.declared_application = declared.application;
  kind.application = is_true.application;
  if (declared.cpu_use != is_true.cpu_use) kind.declared_cpu_use = declared.cpu_use;
  if (declared.network_overhead != is_true.network_overhead) kind.declared_network_overhead = declared.network_overhead;
  kind.user_priority = job.user_priority;
  kind.political_priority = job.political_priority;
  kind.declaration = job.declaration;
  kind.speedup_power = truth.speedup_power;
  kind.slowdown_power = truth.slowdown_power;
  kind.follows = follows;
  kind.think_time = think_time;
  kind.cancelled_after = cancelled_after;
  return last_kind_ = static_cast<std::uint32_t>(kinds_.size() - 1);
}

TracedJobs::Packed TracedJobs::packed(const TracedJob& traced) {
  const Job& job = traced.job;
  const JobTruth& truth = traced.truth;
  return {.id = job.id,
          .submitted = job.submitted,
          .estimate = job.estimate,
          .runtime = truth.runtime,
          .cpu_use = truth.behaviour.cpu_use,
          .network_overhead = truth.behaviour.network_overhead,
          .processes = job.processes,
          .user = job.user,
          .group = job.group,
          .queue = job.queue,
          .executable = truth.executable,
          .kind = kind_of(traced)};
}

void TracedJobs::unpack(const Packed& packed, TracedJob& traced) const {
  const Kind& kind = kinds_[packed.kind];
  Job& job = traced.job;
  job.id = packed.id;
  job.submitted = packed.submitted;
  job.processes = packed.processes;
  job.estimate = packed.estimate;
  job.flexibility = kind.flexibility;
  job.declared.cpu_use = kind.declared_cpu_use == kAsTrue ? packed.cpu_use : kind.declared_cpu_use;
  job.declared.network_overhead =
      kind.declared_network_overhead == kAsTrue ? packed.network_overhead : kind.declared_network_overhead;
  job.declared.application = kind.declared_application;
  job.user_priority = kind.user_priority;
  job.political_priority = kind.political_priority;
  if (job.declaration != kind.declaration) job.declaration = kind.declaration;
  job.user = packed.user;
  job.group = packed.group;
  job.queue = packed.queue;
  JobTruth& truth = traced.truth;
  truth.runtime = packed.runtime;
  truth.behaviour.cpu_use = packed.cpu_use;
  truth.behaviour.network_overhead = packed.network_overhead;
  truth.behaviour.application = kind.application;
  truth.cut_at_request = kind.cut_at_request;
  truth.executable = packed.executable;
  truth.speedup_power = kind.speedup_power;
  truth.slowdown_power = kind.slowdown_power;
  traced.follows = kind.follows;
  traced.think_time = kind.think_time;
  traced.cancelled_after = kind.cancelled_after;
  traced.has_network_overhead = kind.has_network_overhead;
}

void TracedJobs::sort_by_submission() {
  const auto place = [](const Packed& job) { return std::pair(job.submitted, job.id); };
  if (logged_starts_.empty()) {
    std::ranges::stable_sort(jobs_, {}, place);
    return;
  }
  std::vector<std::pair<Packed, Instant>> all;
  for (std::size_t i = 0; i < jobs_.size(); ++i) all.emplace_back(jobs_[i], logged_starts_[i]);
  std::ranges::stable_sort(all, {}, [&place](const auto& job) { return place(job.first); });
  for (std::size_t i = 0; i < all.size(); ++i) std::tie(jobs_[i], logged_starts_[i]) = all[i];
}

}  // namespace replay
