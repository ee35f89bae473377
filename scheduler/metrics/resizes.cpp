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
  Instant at;

  void operator()(const log::StartDecided& what) const {
    resizes.jobs_[what.job].decided = what.allocation;
    std::erase_if(resizes.given_up_, [&](const GivenUp& given) {
      const auto taken = [&](const CoreLoad& load) { return has_core(what.allocation.named, load.core); };
      if (!given.cores.empty() && std::ranges::none_of(given.cores, taken)) return false;
      resizes.resizes_[given.resize].in_favour_of = what.job;
      return true;
    });
  }
  void operator()(const log::Launched& what) const {
    JobCores& job = resizes.jobs_[what.job];
    job.held = what.allocation.cores;
    job.decided = what.allocation;
  }
  void operator()(const log::ResizeDecided& what) const {
    JobCores& job = resizes.jobs_[what.job];
    const std::size_t resize = open(what.job, job);
    resizes.resizes_[resize].to = what.allocation.cores;
    if (what.allocation.cores < job.decided.cores)
      resizes.given_up_.push_back({resize, cores_lost(job.decided, what.allocation)});
    job.decided = what.allocation;
  }
  void operator()(const log::ResizeDone& what) const {
    JobCores& job = resizes.jobs_[what.job];
    Resize& done = resizes.resizes_[open(what.job, job)];
    done.at = at;
    done.from = job.held;
    done.to = what.allocation.cores;
    job.held = what.allocation.cores;
    job.decided = what.allocation;
    job.open.reset();
  }
  void operator()(const log::Finished& what) const { resizes.jobs_.erase(what.job); }

 private:
  std::size_t open(JobId id, JobCores& job) const {
    if (!job.open) {
      job.open = resizes.resizes_.size();
      resizes.resizes_.push_back({.job = id, .from = job.held});
    }
    return *job.open;
  }
};

void Resizes::record(const log::Record& record) {
  if (record.at != now_) given_up_.clear();
  now_ = record.at;
  log::visit(OnRecord{*this, record.at}, record.what);
}

log::Kinds Resizes::kinds() const { return log::kinds_of<OnRecord>(); }

}  // namespace replay::metrics
