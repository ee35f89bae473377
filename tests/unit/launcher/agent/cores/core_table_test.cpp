// Tests of the table of ranks on cores: no rank's seat may be forgotten.
#include "launcher/agent/cores/core_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace replay::launcher {
namespace {

constexpr JobId kA{1};
constexpr JobId kB{2};
using Place = CoreTable::Place;

TEST(CoreTable, ARankAloneOnItsCoreSharesItWithNobody) {
  CoreTable table{2};
  EXPECT_EQ(table.arrive({kA, 0}, 0), (Place{0, 0}));
  table.arrive({kA, 1}, 1);
  EXPECT_FALSE(table.is_shared({kA, 0}));
  EXPECT_FALSE(table.meets_another_job({kA, 0}));
}

TEST(CoreTable, RanksOfOneJobShareACoreWithoutMeetingAnotherJob) {
  CoreTable table{1};
  table.arrive({kA, 0}, 0);
  EXPECT_EQ(table.arrive({kA, 1}, 0), (Place{0, 1}));
  EXPECT_TRUE(table.is_shared({kA, 0}));
  EXPECT_FALSE(table.meets_another_job({kA, 0}));
}

TEST(CoreTable, RanksOfTwoJobsMeetOnACoreUntilOneHasLeft) {
  CoreTable table{2};
  table.arrive({kA, 0}, 1);
  table.arrive({kB, 0}, 1);
  EXPECT_TRUE(table.meets_another_job({kA, 0}));
  table.leave({kB, 0}, 1);
  EXPECT_FALSE(table.is_shared({kA, 0}));
}

TEST(CoreTable, WhoMovesIsANeighbourOnBothCores) {
  CoreTable table{2};
  table.arrive({kA, 0}, 0);
  table.arrive({kB, 0}, 1);
  table.arrive({kA, 0}, 1);
  EXPECT_EQ(table.place({kA, 0}), (Place{1, 1}));
  EXPECT_TRUE(table.meets_another_job({kB, 0}));
  table.leave({kA, 0}, 0);
  EXPECT_EQ(table.places({kA, 0}), (std::vector{Place{1, 1}}));
  table.leave({kA, 0}, 1);
  EXPECT_EQ(table.place({kA, 0}), std::nullopt);
}

TEST(CoreTable, AStoppedRankKeepsItsSeatAndIsNobodysNeighbour) {
  CoreTable table{1};
  table.arrive({kA, 0}, 0);
  table.set_stopped({kA, 0}, true);
  EXPECT_EQ(table.arrive({kB, 0}, 0), (Place{0, 1}));
  EXPECT_FALSE(table.is_shared({kB, 0}));
  table.set_stopped({kA, 0}, false);
  EXPECT_TRUE(table.meets_another_job({kB, 0}));
  EXPECT_TRUE(table.meets_another_job({kA, 0}));
}

TEST(CoreTable, ACoreHasTwentyFourSeatsAndTheRestStand) {
  CoreTable table{1};
  for (std::uint32_t rank = 0; rank < REPLAY_VM_SEATS; ++rank) EXPECT_EQ(table.arrive({kA, rank}, 0), (Place{0, rank}));
  EXPECT_EQ(table.arrive({kB, 0}, 0), (Place{0, REPLAY_VM_NO_SEAT}));
  EXPECT_TRUE(table.is_shared({kB, 0}));
  table.leave({kA, 3}, 0);
  EXPECT_EQ(table.arrive({kB, 1}, 0), (Place{0, 3}));
}

TEST(CoreTable, WhoWantsNoSeatIsANeighbourAllTheSame) {
  CoreTable table{1};
  EXPECT_EQ(table.arrive({kA, 0}, 0, CoreTable::Seating::kNone), (Place{0, REPLAY_VM_NO_SEAT}));
  table.arrive({kB, 0}, 0);
  EXPECT_EQ(table.free_seats(0), REPLAY_VM_SEATS - 1);
  EXPECT_TRUE(table.meets_another_job({kB, 0}));
}

// Random launches, moves, stops and ends. The table is compared with what follows from the ranks' cores.
class RandomLife : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::uint32_t kCores = 5;
  static constexpr std::uint32_t kRanks = 7;

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(chance_() % bound); }
  [[nodiscard]] bool is_here(const RankName& who) const { return table_.place(who).has_value(); }

  void one_step() {
    const RankName who{JobId{below(6)}, below(kRanks)};
    const std::uint32_t core = below(kCores);
    const bool is_there = table_.on(core).contains(who);
    switch (below(5)) {
      case 0:
      case 1:
        if (is_there || table_.places(who).size() == 2) break;
        table_.arrive(who, core);
        if (table_.places(who).size() == 1) stopped_.erase(who);
        break;
      case 2:
        if (is_there) table_.leave(who, core);
        break;
      case 3: table_.leave_all(who); break;
      default:
        if (!is_here(who)) break;
        if (stopped_.contains(who))
          stopped_.erase(who);
        else
          stopped_.insert(who);
        table_.set_stopped(who, stopped_.contains(who));
    }
  }

  [[nodiscard]] bool meets(const RankName& who, bool another_job) const {
    for (std::uint32_t core = 0; core < kCores; ++core)
      if (table_.on(core).contains(who))
        for (const RankName& other : table_.on(core))
          if (other != who && !stopped_.contains(other) && (!another_job || other.job != who.job)) return true;
    return false;
  }

  void check() const {
    for (std::uint32_t core = 0; core < kCores; ++core) {
      std::set<std::uint32_t> seats;
      std::size_t standing = 0;
      for (const RankName& who : table_.on(core)) {
        for (const Place& place : table_.places(who)) {
          if (place.core != core) continue;
          if (place.seat == REPLAY_VM_NO_SEAT)
            ++standing;
          else
            EXPECT_TRUE(seats.insert(place.seat).second) << "two on seat " << place.seat << " of core " << core;
        }
        EXPECT_EQ(table_.is_shared(who), meets(who, false));
        EXPECT_EQ(table_.meets_another_job(who), meets(who, true));
      }
      EXPECT_EQ(seats.size() + standing, table_.on(core).size());
      EXPECT_EQ(table_.free_seats(core), REPLAY_VM_SEATS - seats.size());
    }
  }

  CoreTable table_{kCores};
  std::set<RankName> stopped_;
  std::mt19937 chance_{GetParam()};
};

TEST_P(RandomLife, EndsWithEverySeatFree) {
  for (int step = 0; step < 2000; ++step) {
    one_step();
    if (step % 10 == 0) check();
    if (HasFailure()) return;
  }
  for (std::uint32_t job = 0; job < 6; ++job)
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) table_.leave_all({JobId{job}, rank});
  EXPECT_TRUE(table_.is_empty());
  for (std::uint32_t core = 0; core < kCores; ++core) EXPECT_EQ(table_.free_seats(core), REPLAY_VM_SEATS);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLife, testing::Range(1U, 9U));

}  // namespace
}  // namespace replay::launcher
