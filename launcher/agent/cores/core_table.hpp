// Table of the ranks on each core of this node, and of the seat at which each waits for the core's token. A rank that
// moves is on both cores from before its first thread moves until after the last one has, so that ranks that may share
// a core are told so beforehand. A stopped rank keeps its seat but does not count as sharing the core. Pure
// bookkeeping.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {

struct RankName {
  JobId job{};
  std::uint32_t rank = 0;
  auto operator<=>(const RankName&) const = default;
};

class CoreTable {
 public:
  /// A core, and a seat there or REPLAY_VM_NO_SEAT.
  struct Place {
    std::uint32_t core = 0;
    std::uint32_t seat = REPLAY_VM_NO_SEAT;
    auto operator<=>(const Place&) const = default;
  };
  enum class Seating : std::uint8_t { kWanted, kNone };

  explicit CoreTable(std::uint32_t cores) : cores_(cores) {}

  [[nodiscard]] std::uint32_t cores() const { return static_cast<std::uint32_t>(cores_.size()); }

  /// Takes the lowest free seat, or none when all are taken or none is wanted. REQUIRES: core < cores(), and the rank
  /// is not there yet. O(log ranks).
  Place arrive(const RankName& name, std::uint32_t core, Seating seating = Seating::kWanted);
  /// REQUIRES: it is there.
  void leave(const RankName& name, std::uint32_t core);
  /// Leaves wherever it is; nothing when it is nowhere.
  void leave_all(const RankName& name);
  /// Stopped or not. Nothing when it is nowhere.
  void set_stopped(const RankName& name, bool is_stopped);

  /// Where it came to last. Nothing: nowhere.
  [[nodiscard]] std::optional<Place> place(const RankName& name) const;
  /// All its places, in the order of arrival.
  [[nodiscard]] std::vector<Place> places(const RankName& name) const;
  /// Whether another rank, of whatever job, runs on one of its cores.
  [[nodiscard]] bool is_shared(const RankName& name) const;
  /// Whether a rank of another job runs on one of its cores.
  [[nodiscard]] bool meets_another_job(const RankName& name) const;

  [[nodiscard]] const std::set<RankName>& on(std::uint32_t core) const { return cores_[core].ranks; }
  [[nodiscard]] std::size_t free_seats(std::uint32_t core) const;
  [[nodiscard]] bool is_empty() const { return ranks_.empty(); }

 private:
  struct Core {
    std::set<RankName> ranks;
    std::array<std::optional<RankName>, REPLAY_VM_SEATS> seats;
  };
  struct Rank {
    std::vector<Place> places;  // in the order of arrival
    bool is_stopped = false;
  };

  template <typename Condition>
  [[nodiscard]] bool meets(const RankName& name, Condition condition) const;

  std::vector<Core> cores_;
  std::map<RankName, Rank> ranks_;
};

}  // namespace replay::launcher
