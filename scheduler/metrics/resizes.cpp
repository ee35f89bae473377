#include "scheduler/metrics/resizes.hpp"

#include <algorithm>

namespace replay::metrics {
namespace {

bool has_core(const CoreLoads& loads, CoreId core) {
  return std::ranges::any_of(loads, [core](const CoreLoad& load) { return load.core == core; });
}

CoreLoads cores_lost(const Allocation& from, const Allocation& to) {
  CoreLoads lost;
  for (const CoreLoad& load : from.named)
    if (!has_core(to.named, load.core)) lost.push_back(load);
  return lost;
}

}  // namespace

struct Resizes::OnRecord {
  Resizes& resizes;
  const history::JobState& job;

  void operator()(const log::StartDecided& what) const {
    resizes.jobs_[what.job].decided = what.allocation;
    std::erase_if(resizes.given_up_, [&](const GivenUp& given) {
      const auto taken = [&](const CoreLoad& load) { return has_core(what.allocation.named, load.core); };
      if (!given.cores.empty() && std::ranges::none_of(given.cores, taken)) return false;
      resizes.resizes_[given.resize].in_favour_of = what.job;
      return true;
    });
  }
  void operator()(const log::ResizeDecided& what) const {
    JobCores& cores = resizes.jobs_[what.job];
    const std::size_t resize = resizes.open(job, cores);
    resizes.resizes_[resize].to = what.allocation.cores;
    if (what.allocation.cores < cores.decided.cores)
      resizes.given_up_.push_back({resize, cores_lost(cores.decided, what.allocation)});
    cores.decided = what.allocation;
  }
};

void Resizes::on_change(Instant at, const history::Before& before, const history::JobState& job) {
  if (job.phase == history::Phase::kWaiting) {
    jobs_.erase(job.id);
    return;
  }
  JobCores& cores = jobs_[job.id];
  if (before.phase == history::Phase::kWaiting) {
    cores.decided = job.held;
  } else if (before.phase == job.phase) {
    Resize& done = resizes_[open(job, cores)];
    done.at = at;
    done.from = before.held.cores;
    done.to = job.held.cores;
    cores.decided = job.held;
    cores.open.reset();
  }
}

void Resizes::on_record(const log::Record& record, const history::JobState* job) {
  log::visit(OnRecord{*this, *job}, record.what);
}

log::Kinds Resizes::records() const { return log::kinds_of<OnRecord>(); }

std::size_t Resizes::open(const history::JobState& job, JobCores& cores) {
  if (!cores.open) {
    cores.open = resizes_.size();
    resizes_.push_back({.job = job.id, .from = job.held.cores});
  }
  return *cores.open;
}

}  // namespace replay::metrics
