#include "scheduler/model/free_cores.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay {
namespace {

// Ranks in blocks, as evenly as they go: 3 processes on 2 cores are 2 and 1.
void spread(ProcessCount processes, std::span<const CoreId> cores, CoreLoads& out) {
  const auto count = static_cast<std::int32_t>(cores.size());
  for (std::int32_t i = 0; i < count; ++i)
    out.push_back({cores[static_cast<std::size_t>(i)], processes / count + (i < processes % count ? 1 : 0)});
}

// Sets the level that results: 5 processes asked for at level 4 get 2 cores and lie 3 and 2 on them.
void finish(Allocation& allocation) {
  allocation.cores = static_cast<CoreCount>(allocation.named.size());
  allocation.mpl = std::ranges::max_element(allocation.named, {}, &CoreLoad::processes)->processes;
}

}  // namespace

std::string too_few_cores_text(CoreCount needed, CoreCount left) {
  return fmt::format("needs {}, {} {} left", counted(needed, "core"), left, left == 1 ? "is" : "are");
}

FreeCores::FreeCores(const Machine& machine) : machine_(&machine), total_(machine.size()) {
  if (!machine.names_cores()) return;
  per_node_.reserve(static_cast<std::size_t>(machine.nodes()));
  for (const NodeGroup& group : machine.groups())
    per_node_.insert(per_node_.end(), static_cast<std::size_t>(group.nodes), group.cores_per_node());
  states_.assign(static_cast<std::size_t>(machine.size()), CoreState::kFree);
}

void FreeCores::close(NodeId node, Instant until) {
  INVARIANT(!states_.empty(), "a node of a pool is closed");
  const auto place = std::ranges::lower_bound(closed_, node, {}, &ClosedNode::node);
  if (place != closed_.end() && place->node == node) {
    place->until = until;
    return;
  }
  closed_.insert(place, {node, until});
  total_ -= std::exchange(per_node_[index_of(node)], CoreCount{0});
}

void FreeCores::open(NodeId node) {
  if (std::erase_if(closed_, [node](const ClosedNode& closed) { return closed.node == node; }) == 0) return;
  for (const CoreId core : machine_->cores_of(node))
    if (is_idle(core)) ++total_, ++per_node_[index_of(node)];
}

void FreeCores::close_as(const FreeCores& other, Duration later) {
  if (closed_.empty() && other.closed_.empty()) return;
  const std::vector<ClosedNode> before = closed_;
  for (const ClosedNode& closed : before)
    if (other.is_open(closed.node)) open(closed.node);
  for (const ClosedNode& closed : other.closed_)
    close(closed.node, closed.until == kNever ? kNever : closed.until + later);
}

const ClosedNode* FreeCores::find_closed(NodeId node) const {
  const auto place = std::ranges::lower_bound(closed_, node, {}, &ClosedNode::node);
  return place != closed_.end() && place->node == node ? &*place : nullptr;
}

CoreCount FreeCores::capacity(Instant at) const {
  CoreCount cores = machine_->size();
  for (const ClosedNode& closed : closed_)
    if (closed.until > at) cores -= machine_->cores_of(closed.node).size();
  return cores;
}

bool FreeCores::has_room(const Allocation& allocation) const {
  if (states_.empty()) return allocation.cores <= total_;
  return std::ranges::all_of(allocation.named, [&](const CoreLoad& load) {
    return is_idle(load.core) || (allocation.shareable && state(load.core) == CoreState::kOneSharer);
  });
}

void FreeCores::take(const Allocation& allocation) {
  if (states_.empty()) {
    total_ -= allocation.cores;
    INVARIANT(total_ >= 0, "{} cores more taken than there are", -total_);
    INVARIANT(!allocation.shareable, "cores of a pool are to be shared");
    return;
  }
  INVARIANT(std::ssize(allocation.named) == allocation.cores, "{} cores, {} named", allocation.cores,
            allocation.named.size());
  for (const CoreLoad& load : allocation.named) {
    CoreState& state = states_[index_of(load.core)];
    if (state == CoreState::kFree) {
      if (is_open(load.core)) {
        --total_;
        --per_node_[index_of(machine_->node_of(load.core))];
      }
      state = allocation.shareable ? CoreState::kOneSharer : CoreState::kOneAlone;
      continue;
    }
    INVARIANT(state != CoreState::kTwoSharers, "core {} is taken by a third job", load.core);
    INVARIANT(allocation.shareable && state == CoreState::kOneSharer, "core {} is taken twice", load.core);
    state = CoreState::kTwoSharers;
  }
}

void FreeCores::release(const Allocation& allocation) {
  if (states_.empty()) {
    total_ += allocation.cores;
    INVARIANT(total_ <= machine_->size(), "{} free cores on a machine of {}", total_, machine_->size());
    return;
  }
  for (const CoreLoad& load : allocation.named) {
    CoreState& state = states_[index_of(load.core)];
    INVARIANT(state != CoreState::kFree, "core {} is released but was free", load.core);
    INVARIANT(allocation.shareable == (state != CoreState::kOneAlone), "core {} is released by a job that {}",
              load.core,
              allocation.shareable ? "shares, but was taken alone" : "was alone, but was taken to be shared");
    if (state == CoreState::kTwoSharers) {
      state = CoreState::kOneSharer;
      continue;
    }
    state = CoreState::kFree;
    if (!is_open(load.core)) continue;
    ++total_;
    ++per_node_[index_of(machine_->node_of(load.core))];
  }
}

void FreeCores::add_free(NodeId node, std::size_t wanted, std::vector<CoreId>& chosen) const {
  for (const CoreId core : machine_->cores_of(node)) {
    if (chosen.size() == wanted) return;
    if (is_free(core)) chosen.push_back(core);
  }
}

std::optional<Allocation> FreeCores::place(ProcessCount processes, int mpl) const {
  INVARIANT(processes >= 1 && mpl >= 1, "placing {} processes at level {}", processes, mpl);
  const CoreCount least = cores_at(processes, mpl);
  if (least > total_) return std::nullopt;
  if (states_.empty()) return Allocation{least, mpl_on(processes, least), {}};

  std::vector<NodeId> order(per_node_.size());
  for (std::size_t node = 0; node < order.size(); ++node) order[node] = static_cast<NodeId>(node);
  std::ranges::stable_sort(order, std::greater{}, [this](NodeId node) { return on_node(node); });
  Allocation allocation;
  std::vector<CoreId> chosen;
  for (const NodeId node : order) {
    ProcessCount here = std::min(processes, processes_at(on_node(node), mpl));
    if (mpl > 1) here = std::min(here, most_on(node));
    if (here == 0) break;
    chosen.clear();
    add_free(node, static_cast<std::size_t>(cores_at(here, mpl)), chosen);
    spread(here, chosen, allocation.named);
    processes -= here;
    if (processes == 0) break;
  }
  if (processes > 0) return std::nullopt;
  finish(allocation);
  return allocation;
}

std::optional<Allocation> FreeCores::place_beside(const Allocation& other, ProcessCount processes, int mpl) const {
  INVARIANT(processes >= 1 && mpl >= 1, "placing {} processes at level {}", processes, mpl);
  Allocation allocation;
  allocation.shareable = true;
  std::vector<CoreId> chosen;
  for_each_node(other, *machine_, [&](const NodeShare& share) {
    chosen.clear();
    for (const CoreLoad& load : share.cores)
      if (can_be_joined(load.core)) chosen.push_back(load.core);
    const ProcessCount room = processes_at(static_cast<CoreCount>(chosen.size()), mpl);
    const ProcessCount here = std::min({processes, most_on(share.node), room});
    if (here == 0) return;
    chosen.resize(static_cast<std::size_t>(cores_at(here, mpl)));
    spread(here, chosen, allocation.named);
    processes -= here;
  });
  if (processes > 0) return std::nullopt;
  finish(allocation);
  return allocation;
}

std::optional<Allocation> FreeCores::at_level(const Allocation& held, ProcessCount processes, int mpl) const {
  if (states_.empty()) {
    const CoreCount cores = cores_at(processes, mpl);
    if (cores - held.cores > total_) return std::nullopt;
    return Allocation{cores, mpl_on(processes, cores), {}};
  }
  Allocation allocation;
  allocation.shareable = held.shareable;
  std::vector<CoreId> chosen;
  bool room = true;
  for_each_node(held, *machine_, [&](const NodeShare& share) {
    const auto wanted = static_cast<std::size_t>(cores_at(share.processes, mpl));
    chosen.clear();
    for (const CoreLoad& load : share.cores.first(std::min(wanted, share.cores.size()))) chosen.push_back(load.core);
    add_free(share.node, wanted, chosen);
    room = room && chosen.size() == wanted;
    if (room) spread(share.processes, chosen, allocation.named);
  });
  if (!room) return std::nullopt;
  finish(allocation);
  return allocation;
}

std::optional<Allocation> FreeCores::place_like(const Allocation& shape) const {
  if (shape.cores > total_) return std::nullopt;
  Allocation allocation = shape;
  std::vector<CoreCount> passed(per_node_.size());  // cores of each node that the search has behind it
  for (CoreLoad& load : allocation.named) {
    const NodeId node = machine_->node_of(load.core);
    const CoreRange cores = machine_->cores_of(node);
    CoreCount& here = passed[index_of(node)];
    while (here < cores.size() && !is_free(next(cores.first, here))) ++here;
    if (here == cores.size()) return std::nullopt;
    load.core = next(cores.first, here++);
  }
  return allocation;
}

CoreCount FreeCores::gain(const Allocation& held, ProcessCount processes, int mpl) const {
  if (states_.empty()) return held.cores - cores_at(processes, mpl);
  CoreCount after = 0;
  for_each_node(held, *machine_, [&](const NodeShare& share) { after += cores_at(share.processes, mpl); });
  return held.cores - after;
}

}  // namespace replay
