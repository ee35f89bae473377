#include "scheduler/policy/plan/releases.hpp"

#include <algorithm>

namespace replay {
namespace {

// A closed node: until when, and how many of its cores no job has beyond that.
struct Closed {
  NodeId node;
  Instant until;
  CoreCount cores;
};

}  // namespace

std::vector<Release> releases_of(const ClusterView& view, std::span<const HeldUntil> held) {
  std::vector<Closed> closed;
  for (const ClosedNode& one : view.free.closed())
    closed.push_back({one.node, one.up_again(view.now), view.machine.cores_of(one.node).size()});
  std::vector<Release> all;
  all.reserve(held.size() + closed.size());
  for (const HeldUntil& job : held) {
    const CoreCount open = view.free.split_off_closed(*job.on, [&](NodeId node, CoreCount cores) {
      Closed& of = *std::ranges::find(closed, node, &Closed::node);
      if (job.until <= of.until) return;
      of.cores -= cores;
      all.push_back({job.until, cores});
    });
    if (open > 0) all.push_back({job.until, open});
  }
  for (const Closed& one : closed)
    if (one.cores > 0) all.push_back({one.until, one.cores});
  std::erase_if(all, [](const Release& release) { return release.at == kNever; });
  std::ranges::sort(all, {}, &Release::at);
  return all;
}

std::vector<Release> releases(const ClusterView& view) {
  std::vector<HeldUntil> held;
  held.reserve(view.running.size());
  for (const RunningJob* job : view.running.by_estimated_end())
    if (!job->is_suspended()) held.push_back({&job->allocation, job->estimated_end});
  return releases_of(view, held);
}

}  // namespace replay
