#include "traces/tools/flurries.hpp"

#include <algorithm>

namespace replay {

void FlurryFinder::add(const TracedJob& job) {
  const std::uint64_t index = seen_++;
  if (job.job.user < 0) return;
  const Duration submit = job.job.submitted.time_since_epoch();
  Burst& burst = open_[job.job.user];
  Flurry& flurry = burst.flurry;
  if (flurry.jobs > 0 && submit - flurry.to > rule_.gap) close(burst);
  if (flurry.jobs == 0) {
    flurry.user = job.job.user;
    flurry.first_job = static_cast<std::int64_t>(job.job.id);
    flurry.first_index = index;
    flurry.from = submit;
  }
  ++flurry.jobs;
  flurry.last_job = static_cast<std::int64_t>(job.job.id);
  flurry.last_index = index;
  flurry.to = submit;
  ++burst.sizes[job.job.processes];
}

void FlurryFinder::close(Burst& burst) {
  Flurry& flurry = burst.flurry;
  const auto most = std::ranges::max_element(burst.sizes, {}, [](const auto& entry) { return entry.second; });
  const auto jobs = static_cast<double>(flurry.jobs);
  flurry.share = jobs / static_cast<double>(flurry.last_index - flurry.first_index + 1);
  flurry.size = most->first;
  flurry.alike = static_cast<double>(most->second) / jobs;
  if (flurry.jobs >= rule_.jobs && flurry.share >= rule_.share && flurry.alike >= rule_.alike &&
      flurry.to - flurry.from <= rule_.longest)
    found_.push_back(flurry);
  burst = Burst{};
}

std::vector<Flurry> FlurryFinder::finish() {
  for (auto& [user, burst] : open_)
    if (burst.flurry.jobs > 0) close(burst);
  std::ranges::sort(found_, {}, &Flurry::first_index);
  return std::move(found_);
}

bool FlurryFilter::takes(const TracedJob& job) {
  const std::uint64_t index = index_++;
  return std::ranges::any_of(flurries_, [&](const Flurry& f) {
    return f.user == job.job.user && f.first_index <= index && index <= f.last_index;
  });
}

}  // namespace replay
