#include "scheduler/calibrate/program/change_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay::calibrate {
namespace {

Duration read_time(std::string_view option, const std::string& text, Duration least) {
  const auto time = parse_duration(text);
  if (!time || *time < least)
    throw UsageError(fmt::format(
        "{}: expected a time {} such as 5s, 200ms or 1min, found '{}'", option,
        least == Duration::zero() ? "after MPI_Init" : fmt::format("of {} s or more", replay::to_text(least)), text));
  return *time;
}

// Rejects two shrinks without an expand between them, and the like: probably a mistyped time.
void check_turns(const std::vector<Change>& changes, ChangeKind there, ChangeKind back) {
  std::optional<Change> last;
  for (const Change& change : changes) {
    if (change.kind != there && change.kind != back) continue;
    if (last && last->kind == change.kind)
      throw UsageError(fmt::format("--{0}-at {1}s: there is a {0} at {2}s already, and no {3} between them",
                                   to_text(change.kind), replay::to_text(change.at), replay::to_text(last->at),
                                   to_text(change.kind == there ? back : there)));
    if (!last && change.kind == back)
      throw UsageError(fmt::format("--{}-at {}s: there is no {} before it", to_text(back), replay::to_text(change.at),
                                   to_text(there)));
    last = change;
  }
}

constexpr Duration kShortestTurn{10'000};

/// The ranks of a job on one node.
struct OnNode {
  int ranks = 0;
  std::vector<std::int32_t> cores{};
};

std::vector<OnNode> by_node(std::span<const CoreId> core_of_rank, const Machine& machine) {
  std::vector<OnNode> nodes;
  std::optional<NodeId> last;
  for (const CoreId core : core_of_rank) {
    if (last != machine.node_of(core)) nodes.emplace_back();
    last = machine.node_of(core);
    OnNode& here = nodes.back();
    ++here.ranks;
    if (std::ranges::find(here.cores, number(core)) == here.cores.end()) here.cores.push_back(number(core));
  }
  return nodes;
}

std::vector<CoreId> placed(const std::vector<OnNode>& nodes, Pairing pairing) {
  std::vector<CoreId> core_of_rank;
  for (const OnNode& node : nodes)
    for (const std::int32_t core : place_ranks(node.ranks, node.cores, pairing)) core_of_rank.push_back(CoreId{core});
  return core_of_rank;
}

}  // namespace

std::string_view to_text(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kShrink: return "shrink";
    case ChangeKind::kExpand: return "expand";
    case ChangeKind::kSuspend: return "suspend";
    case ChangeKind::kResume: return "resume";
  }
  return "?";
}

ChangePlan::ChangePlan(const ChangeTexts& texts) {
  const auto add = [this](const std::vector<std::string>& times, ChangeKind kind) {
    for (const std::string& text : times)
      changes_.push_back({read_time(fmt::format("--{}-at", to_text(kind)), text, Duration::zero()), kind});
  };
  add(texts.shrink_at, ChangeKind::kShrink);
  add(texts.expand_at, ChangeKind::kExpand);
  add(texts.suspend_at, ChangeKind::kSuspend);
  add(texts.resume_at, ChangeKind::kResume);
  std::ranges::stable_sort(changes_, {}, &Change::at);
  check_turns(changes_, ChangeKind::kShrink, ChangeKind::kExpand);
  check_turns(changes_, ChangeKind::kSuspend, ChangeKind::kResume);
  if (texts.every.empty()) return;
  every_ = read_time("--every", texts.every, kShortestTurn);
  if (!changes_.empty()) throw UsageError("--every: shrinks and expands by itself; give times or --every, not both");
}

std::optional<Change> ChangePlan::next() {
  const std::size_t number = taken_;
  if (every_ == Duration::zero() && number == changes_.size()) return std::nullopt;
  ++taken_;
  if (every_ == Duration::zero()) return changes_[number];
  return Change{every_ * static_cast<Duration::rep>(number + 1),
                number % 2 == 0 ? ChangeKind::kShrink : ChangeKind::kExpand};
}

bool ChangePlan::has_resizes() const {
  return every_ != Duration::zero() ||
         std::ranges::find(changes_, ChangeKind::kShrink, &Change::kind) != changes_.end();
}

void ChangePlan::drop_resizes() {
  every_ = Duration::zero();
  std::erase_if(changes_, [](const Change& change) {
    return change.kind == ChangeKind::kShrink || change.kind == ChangeKind::kExpand;
  });
}

std::vector<std::int32_t> place_ranks(int ranks, std::span<const std::int32_t> cores, Pairing pairing) {
  INVARIANT(!cores.empty(), "ranks without cores");
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t used = std::min(all, cores.size());
  std::vector<std::int32_t> core_of_rank;
  for (std::size_t rank = 0; rank < all; ++rank)
    core_of_rank.push_back(cores[pairing == Pairing::kBlock ? rank * used / all : rank % used]);
  return core_of_rank;
}

std::vector<CoreId> place_on_nodes(int ranks, const Machine& machine, Pairing pairing) {
  std::vector<std::int32_t> cores;
  for (const CoreId core : first_cores(std::min(machine.size(), static_cast<CoreCount>(ranks))))
    cores.push_back(number(core));
  std::vector<CoreId> blocks;
  for (const std::int32_t core : place_ranks(ranks, cores, Pairing::kBlock)) blocks.push_back(CoreId{core});
  return placed(by_node(blocks, machine), pairing);
}

std::vector<CoreId> spread_on_nodes(int ranks, int nodes, const Machine& machine) {
  std::vector<CoreCount> taken(static_cast<std::size_t>(nodes), 0);
  for (int left = ranks; left > 0;) {
    const int before = left;
    for (int node = 0; node < nodes && left > 0; ++node) {
      CoreCount& here = taken[static_cast<std::size_t>(node)];
      if (here < machine.cores_of(NodeId{node}).size()) ++here, --left;
    }
    INVARIANT(left < before, "{} ranks on {} nodes of {}", ranks, nodes, machine.to_text());
  }
  std::vector<CoreId> core_of_rank;
  for (int node = 0; node < nodes; ++node) {
    const CoreId first = *machine.cores_of(NodeId{node}).begin();
    for (int core = 0; core < number(taken[static_cast<std::size_t>(node)]); ++core)
      core_of_rank.push_back(next(first, core));
  }
  return core_of_rank;
}

int nodes_of(std::span<const CoreId> core_of_rank, const Machine& machine) {
  return static_cast<int>(by_node(core_of_rank, machine).size());
}

std::vector<CoreId> shrink_on_nodes(std::span<const CoreId> core_of_rank, int cores, const Machine& machine,
                                    Pairing pairing) {
  std::vector<OnNode> nodes = by_node(core_of_rank, machine);
  std::vector<int> kept(nodes.size(), 1);
  for (int left = cores - static_cast<int>(nodes.size()); left > 0; --left) {
    std::size_t fullest = nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (kept[i] == static_cast<int>(nodes[i].cores.size())) continue;
      if (fullest == nodes.size() || nodes[i].ranks * kept[fullest] > nodes[fullest].ranks * kept[i]) fullest = i;
    }
    INVARIANT(fullest < nodes.size(), "{} cores kept of fewer", cores);
    ++kept[fullest];
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].cores.resize(static_cast<std::size_t>(kept[i]));
  return placed(nodes, pairing);
}

}  // namespace replay::calibrate
