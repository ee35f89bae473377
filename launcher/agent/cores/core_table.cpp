#include "launcher/agent/cores/core_table.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay::launcher {
namespace {

const std::optional<RankName> kNobody;

}  // namespace

CoreTable::Place CoreTable::arrive(const RankName& name, std::uint32_t core, Seating seating) {
  INVARIANT(core < cores_.size(), "core {} of {}", core, cores_.size());
  const bool is_new = cores_[core].ranks.insert(name).second;
  INVARIANT(is_new, "rank {} of job {} is on core {} already", name.rank, static_cast<std::int64_t>(name.job), core);
  Place place{core, REPLAY_VM_NO_SEAT};
  auto& seats = cores_[core].seats;
  if (const auto free = std::ranges::find(seats, kNobody); seating == Seating::kWanted && free != seats.end()) {
    *free = name;
    place.seat = static_cast<std::uint32_t>(free - seats.begin());
  }
  ranks_[name].places.push_back(place);
  return place;
}

void CoreTable::leave(const RankName& name, std::uint32_t core) {
  const auto rank = ranks_.find(name);
  INVARIANT(rank != ranks_.end() && core < cores_.size() && cores_[core].ranks.erase(name) == 1,
            "rank {} of job {} is not on core {}", name.rank, static_cast<std::int64_t>(name.job), core);
  std::ranges::replace(cores_[core].seats, std::optional{name}, kNobody);
  std::erase_if(rank->second.places, [core](const Place& place) { return place.core == core; });
  if (rank->second.places.empty()) ranks_.erase(rank);
}

void CoreTable::leave_all(const RankName& name) {
  for (const Place& place : places(name)) leave(name, place.core);
}

void CoreTable::set_stopped(const RankName& name, bool is_stopped) {
  if (const auto rank = ranks_.find(name); rank != ranks_.end()) rank->second.is_stopped = is_stopped;
}

std::optional<CoreTable::Place> CoreTable::place(const RankName& name) const {
  const auto rank = ranks_.find(name);
  if (rank == ranks_.end()) return std::nullopt;
  return rank->second.places.back();
}

std::vector<CoreTable::Place> CoreTable::places(const RankName& name) const {
  const auto rank = ranks_.find(name);
  return rank != ranks_.end() ? rank->second.places : std::vector<Place>{};
}

/// Whether another rank for which `condition` holds runs on one of its cores.
template <typename Condition>
bool CoreTable::meets(const RankName& name, Condition condition) const {
  return std::ranges::any_of(places(name), [&](const Place& place) {
    return std::ranges::any_of(cores_[place.core].ranks, [&](const RankName& other) {
      return other != name && !ranks_.at(other).is_stopped && condition(other);
    });
  });
}

bool CoreTable::is_shared(const RankName& name) const {
  return meets(name, [](const RankName&) { return true; });
}

bool CoreTable::meets_another_job(const RankName& name) const {
  return meets(name, [&name](const RankName& other) { return other.job != name.job; });
}

std::size_t CoreTable::free_seats(std::uint32_t core) const {
  return static_cast<std::size_t>(std::ranges::count(cores_[core].seats, kNobody));
}

}  // namespace replay::launcher
