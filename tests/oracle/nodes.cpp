#include "tests/oracle/nodes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace replay::oracle {

Nodes::Nodes(const Workload& workload)
    : size_(workload.flat ? workload.cores() : workload.cores_per_node),
      nodes_(workload.flat ? 1 : static_cast<std::size_t>(workload.nodes)),
      events_(workload.node_events) {}

Time Nodes::next() const {
  Time next = taken_ < events_.size() ? events_[taken_].at : kNever;
  for (const Node& node : nodes_) next = std::min(next, node.until);
  return next;
}

std::optional<Nodes::Change> Nodes::take(Time now) {
  while (taken_ < events_.size() && events_[taken_].at == now) {
    const NodeEvent& event = events_[taken_++];
    if (const Node to{event.state, event.until}; to != nodes_[event.node]) return set(event.node, to, now);
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].until == now) return set(n, {}, now);
  return std::nullopt;
}

Nodes::Change Nodes::set(std::size_t node, Node to, Time now) {
  const Time before = std::max(back(node), now);
  nodes_[node] = to;
  return {node, to.state == NodeState::kDown, before < std::max(back(node), now)};
}

bool Nodes::has_closed(const OnNodes& cores) const {
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (cores[n] > 0 && !is_open(n)) return true;
  return false;
}

int Nodes::ever() const {
  int cores = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n) cores += back(n) == kNever ? 0 : size_;
  return cores;
}

OnNodes Nodes::free(const std::vector<Use>& jobs) const {
  OnNodes free;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    int left = size_;
    for (const Use& job : jobs) left -= job.cores[n];
    free.push_back(is_open(n) ? left : 0);
  }
  return free;
}

Plan Nodes::plan(const std::vector<Use>& jobs, Time now) const {
  Plan plan{size_ * static_cast<int>(nodes_.size())};
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    int idle = size_;
    for (const Use& job : jobs) {
      idle -= job.cores[n];
      if (job.cores[n] > 0) plan.put(job.cores[n], now, std::max(job.end, back(n)));
    }
    if (idle > 0 && !is_open(n)) plan.put(idle, now, back(n));
  }
  return plan;
}

OnNodes spread(int cores, const OnNodes& free) {
  std::vector<std::size_t> order(free.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t n) { return free[n]; });
  OnNodes on(free.size(), 0);
  for (const std::size_t n : order) {
    on[n] = std::min(cores, free[n]);
    cores -= on[n];
  }
  return on;
}

}  // namespace replay::oracle
