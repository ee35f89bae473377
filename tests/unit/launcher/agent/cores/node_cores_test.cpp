// Tests of the orders for the ranks of all jobs when a job starts, moves, stops or ends. The tests read them where a
// rank would.
#include "launcher/agent/cores/node_cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "launcher/agent/cores/rank_move.hpp"
#include "tests/support/segment_mapping.hpp"

namespace replay::launcher {
namespace {

struct TestJob {
  std::unique_ptr<JobSegment> segment;
  std::unique_ptr<SegmentMapping> mapping;
  int changes = 0;

  [[nodiscard]] const replay_vm_orders& orders(std::uint32_t rank) const {
    return replay_vm_slot_at(static_cast<replay_vm_segment*>(mapping->start()), rank)->orders;
  }
  [[nodiscard]] std::uint32_t core(std::uint32_t rank) const { return replay_vm_core_of(orders(rank).place); }
  [[nodiscard]] std::uint32_t seat(std::uint32_t rank) const { return replay_vm_seat_of(orders(rank).place); }
};

class Cores : public testing::Test {
 protected:
  static constexpr std::uint32_t kCores = 4;
  using CoreList = std::vector<std::int32_t>;

  void SetUp() override { make({REPLAY_VM_YIELD, REPLAY_VM_TOKEN}); }
  void TearDown() override {
    jobs_.clear();
    tokens_.reset();
    cores_.reset();
  }
  void make(BackEnds back_ends) {
    tokens_.reset();
    cores_.reset();
    cores_ = std::make_unique<NodeCores>(kCores, back_ends);
    tokens_ = std::make_unique<SegmentMapping>(cores_->segment().descriptor());
  }
  TestJob& enter(int number, const CoreList& core_of_rank) {
    TestJob& job = jobs_[JobId{number}];
    job.segment = std::make_unique<JobSegment>(std::to_string(number), new_key(),
                                               static_cast<std::uint32_t>(core_of_rank.size()), JobFacts{});
    job.mapping = std::make_unique<SegmentMapping>(job.segment->descriptor());
    cores_->enter(JobId{number}, {job.segment.get(), [&job] { ++job.changes; }}, core_of_rank);
    for (std::uint32_t rank = 0; rank < core_of_rank.size(); ++rank)
      cores_->know_process(JobId{number}, rank, number * 100 + static_cast<pid_t>(rank));
    return job;
  }
  void move(int number, const CoreList& core_of_rank) {
    const RankMove move{*cores_, JobId{number}, core_of_rank, [] {}};
  }
  /// A move whose threads cannot be bound.
  void fail_to_move(
      int number, const CoreList& core_of_rank, const std::function<void()>& before_failure = [] {}) {
    const auto fail = [&] {
      before_failure();
      throw std::runtime_error("not permitted");
    };
    EXPECT_THROW((RankMove{*cores_, JobId{number}, core_of_rank, fail}), std::runtime_error);
  }
  void leave(int number) {
    cores_->leave(JobId{number});
    jobs_.erase(JobId{number});
  }
  replay_vm_core& token(std::uint32_t core) {
    return *replay_vm_core_at(static_cast<replay_vm_cores*>(tokens_->start()), core);
  }

  std::unique_ptr<NodeCores> cores_;
  std::unique_ptr<SegmentMapping> tokens_;
  std::map<JobId, TestJob> jobs_;
};

TEST_F(Cores, AJobThatEntersKnowsItsPlacesAndWhoSharesThem) {
  const TestJob& job = enter(1, {2, 3, 3});
  EXPECT_EQ(job.core(0), 2U);
  EXPECT_EQ(job.core(2), 3U);
  EXPECT_EQ(job.seat(1), 0U);
  EXPECT_EQ(job.seat(2), 1U);
  EXPECT_EQ(job.orders(0).shared, 0U);
  EXPECT_EQ(job.orders(1).shared, 1U);
  EXPECT_EQ(job.orders(1).back_end, REPLAY_VM_YIELD);
  EXPECT_EQ(job.orders(0).mpl, 2U);
  EXPECT_FALSE(cores_->is_alone(JobId{1}));
}

TEST_F(Cores, WhereTwoJobsMeetBothUseTheToken) {
  const TestJob& first = enter(1, {0, 1});
  EXPECT_TRUE(cores_->is_alone(JobId{1}));
  const TestJob& second = enter(2, {1});
  for (const auto* orders : {&first.orders(1), &second.orders(0)}) {
    EXPECT_EQ(orders->shared, 1U);
    EXPECT_EQ(orders->back_end, REPLAY_VM_TOKEN);
  }
  EXPECT_EQ(first.orders(0).shared, 0U);
  EXPECT_EQ(first.orders(0).back_end, REPLAY_VM_YIELD);
  EXPECT_EQ(first.orders(0).mpl, 1U) << "it counts ranks of the job itself";
  EXPECT_EQ(cores_->back_end(JobId{1}), REPLAY_VM_TOKEN);
  EXPECT_FALSE(cores_->is_alone(JobId{1}));
  leave(2);
  EXPECT_EQ(first.orders(1).shared, 0U);
  EXPECT_EQ(first.orders(1).back_end, REPLAY_VM_YIELD);
  EXPECT_TRUE(cores_->is_alone(JobId{1}));
}

TEST_F(Cores, ABackEndThatIsForcedIsUsedBetweenJobsToo) {
  make({REPLAY_VM_YIELD, REPLAY_VM_YIELD});
  const TestJob& first = enter(1, {0});
  enter(2, {0});
  EXPECT_EQ(first.orders(0).back_end, REPLAY_VM_YIELD);
  EXPECT_EQ(first.orders(0).shared, 1U);
}

TEST_F(Cores, NeighboursAreToldBeforeAnybodyArrivesAndAfterTheLastHasLeft) {
  const TestJob& stays = enter(1, {0, 1});
  const TestJob& moves = enter(2, {2, 3});
  bool was_bound = false;
  {
    const RankMove there{*cores_, JobId{2}, {1, 3}, [&] {
                           EXPECT_EQ(stays.orders(1).shared, 1U);
                           EXPECT_EQ(moves.orders(0).shared, 1U);
                           EXPECT_EQ(moves.core(0), 2U) << "its place has not changed yet";
                           was_bound = true;
                         }};
    EXPECT_TRUE(was_bound);
    EXPECT_EQ(moves.core(0), 1U);
    EXPECT_EQ(moves.seat(0), 1U);
  }
  {
    const RankMove back{*cores_, JobId{2}, {2, 3}, [] {}};
    EXPECT_EQ(moves.core(0), 2U);
    EXPECT_EQ(stays.orders(1).shared, 1U) << "no rank has left yet";
  }
  EXPECT_EQ(stays.orders(1).shared, 0U);
  EXPECT_EQ(moves.orders(0).shared, 0U);
}

TEST_F(Cores, AMoveThatFailsLeavesNoTrace) {
  const TestJob& stays = enter(1, {0});
  const TestJob& moves = enter(2, {1, 2});
  fail_to_move(2, {0, 0}, [&] { EXPECT_EQ(moves.orders(0).mpl, 2U); });
  EXPECT_EQ(stays.orders(0).shared, 0U);
  EXPECT_EQ(moves.orders(1).shared, 0U);
  EXPECT_EQ(moves.orders(0).mpl, 1U);
  EXPECT_EQ(moves.core(0), 1U);
  EXPECT_EQ(cores_->table().free_seats(0), REPLAY_VM_SEATS - 1);
}

TEST_F(Cores, MoreThanTwoRanksShareACore) {
  const TestJob& job = enter(1, {0, 1, 2, 3});
  for (const auto& [where, mpl] : std::vector<std::pair<CoreList, std::uint32_t>>{
           {{0, 0, 0, 0}, 4}, {{0, 0, 0, 1}, 3}, {{0, 0, 1, 1}, 2}, {{3, 2, 1, 0}, 1}}) {
    move(1, where);
    EXPECT_EQ(job.orders(0).mpl, mpl);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(job.core(rank), static_cast<std::uint32_t>(where[rank]));
      EXPECT_EQ(job.orders(rank).shared, std::ranges::count(where, where[rank]) > 1 ? 1U : 0U);
    }
  }
}

TEST_F(Cores, TheOldCoresTokenIsTakenFromWhoHasMoved) {
  enter(1, {0});
  enter(2, {0});
  token(0).holder = 100;
  token(0).seats[0].wanter = 100;
  token(0).seats[1].wanter = 200;
  {
    const RankMove away{*cores_, JobId{1}, {1}, [] {}};
    EXPECT_FALSE(away.has_let_go());
  }
  EXPECT_EQ(token(0).holder, 200U);
  EXPECT_EQ(token(0).seats[0].wanter, 0U);
}

TEST_F(Cores, AMoveSeesThatARankHasLetGoOfItsOldCore) {
  enter(1, {0});
  token(0).holder = 100;
  const RankMove away{*cores_, JobId{1}, {1}, [] {}};
  EXPECT_FALSE(away.has_let_go());
  token(0).holder = 0;
  EXPECT_TRUE(away.has_let_go());
}

TEST_F(Cores, AJobThatLeavesDuringItsMoveLeavesAllCores) {
  const TestJob& stays = enter(1, {0, 1});
  enter(2, {0});
  {
    const RankMove away{*cores_, JobId{2}, {1}, [] {}};
    leave(2);
    EXPECT_TRUE(away.has_let_go());
  }
  EXPECT_EQ(stays.orders(0).shared, 0U);
  EXPECT_EQ(stays.orders(1).shared, 0U);
}

TEST_F(Cores, AStoppedJobHoldsNothingAndIsNobodysNeighbour) {
  const TestJob& first = enter(1, {0});
  const TestJob& second = enter(2, {0});
  token(0).holder = 100;
  token(0).seats[0].wanter = 100;
  token(0).seats[1].wanter = 200;
  cores_->stop(JobId{1});
  EXPECT_EQ(token(0).holder, 200U);
  EXPECT_EQ(second.orders(0).shared, 0U);
  EXPECT_TRUE(cores_->is_alone(JobId{2}));
  cores_->go_on(JobId{1});
  EXPECT_EQ(second.orders(0).shared, 1U);
  EXPECT_EQ(second.orders(0).back_end, REPLAY_VM_TOKEN);
  EXPECT_EQ(first.orders(0).shared, 1U);
}

TEST_F(Cores, ADeadRankLosesItsTokenAtOnce) {
  const TestJob& job = enter(1, {0, 0});
  token(0).holder = 101;
  token(3).seats[4].wanter = 101;
  cores_->lose_rank(JobId{1}, 1);
  EXPECT_EQ(token(0).holder, 0U);
  EXPECT_EQ(token(3).seats[4].wanter, 0U);
  EXPECT_EQ(job.orders(0).shared, 0U);
  cores_->lose_rank(JobId{1}, 1);  // a second loss changes nothing
  move(1, {2, 2});
  EXPECT_EQ(job.core(0), 2U) << "the rank that is left moves";
}

TEST_F(Cores, WhoeverGetsOtherNeighboursIsAskedForItsFiguresFirst) {
  const TestJob& near = enter(1, {0});
  const TestJob& far = enter(2, {3});
  const int before_near = near.changes;
  const int before_far = far.changes;
  enter(4, {0, 1});
  EXPECT_EQ(near.changes, before_near + 1);
  EXPECT_EQ(far.changes, before_far);
}

TEST_F(Cores, AJobWithoutVmlibIsANeighbourWithoutASeat) {
  const TestJob& job = enter(1, {0});
  cores_->enter(JobId{2}, {nullptr, {}}, {0, 0});
  EXPECT_EQ(job.orders(0).shared, 1U);
  EXPECT_EQ(job.orders(0).back_end, REPLAY_VM_TOKEN);
  EXPECT_EQ(cores_->table().free_seats(0), REPLAY_VM_SEATS - 1);
  cores_->leave(JobId{2});
  EXPECT_EQ(job.orders(0).shared, 0U);
}

TEST_F(Cores, CoresThatDoNotExistAndSeatsThatAreTakenAreNamed) {
  EXPECT_EQ(cores_->why_not(JobId{1}, {0, 4}, false), "core 4 does not exist: expected 0 to 3");
  EXPECT_EQ(cores_->why_not(JobId{1}, {-1}, false), "core -1 does not exist: expected 0 to 3");
  enter(1, CoreList(REPLAY_VM_SEATS, 1));
  EXPECT_EQ(cores_->why_not(JobId{2}, {0, 1}, true),
            "core 1 has no room for 1 more ranks: expected at most 24 on a core");
  EXPECT_EQ(cores_->why_not(JobId{2}, {0, 1}, false), std::nullopt) << "on real cores it yields";
  EXPECT_EQ(cores_->why_not(JobId{1}, CoreList(REPLAY_VM_SEATS, 1), true), std::nullopt) << "it is there already";
}

TEST_F(Cores, WhoIsNotHereIsNobody) {
  cores_->stop(JobId{9});
  cores_->go_on(JobId{9});
  cores_->lose_rank(JobId{9}, 0);
  cores_->leave(JobId{9});
  cores_->know_process(JobId{9}, 0, 1);
  bool was_bound = false;
  const RankMove move{*cores_, JobId{9}, {0}, [&was_bound] { was_bound = true; }};
  EXPECT_TRUE(was_bound);
  EXPECT_TRUE(move.has_let_go());
}

/// Random steps, after which each rank's orders must follow from the cores of all ranks.
class RandomOrders : public Cores, public testing::WithParamInterface<unsigned> {
 protected:
  struct Known {
    CoreList core_of_rank;
    bool is_stopped = false;
  };
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(chance_() % bound); }
  CoreList random_cores(std::size_t ranks) {
    CoreList found(ranks);
    for (std::int32_t& core : found) core = static_cast<std::int32_t>(below(kCores));
    return found;
  }
  void one_step() {
    const int number = static_cast<int>(below(6));
    const auto known = known_.find(number);
    if (known == known_.end()) {
      known_[number] = {random_cores(1 + below(5))};
      enter(number, known_[number].core_of_rank);
      return;
    }
    switch (below(4)) {
      case 0:
        leave(number);
        known_.erase(known);
        break;
      case 1:
        known->second.is_stopped = !known->second.is_stopped;
        known->second.is_stopped ? cores_->stop(JobId{number}) : cores_->go_on(JobId{number});
        break;
      case 2: fail_to_move(number, random_cores(known->second.core_of_rank.size())); break;
      default:
        known->second.core_of_rank = random_cores(known->second.core_of_rank.size());
        move(number, known->second.core_of_rank);
    }
  }
  void check() {
    std::set<std::uint64_t> places;
    for (const auto& [number, known] : known_) {
      for (std::uint32_t rank = 0; rank < known.core_of_rank.size(); ++rank) {
        bool is_shared = false;
        bool is_met = false;
        for (const auto& [other, theirs] : known_) {
          const auto there = std::ranges::count(theirs.core_of_rank, known.core_of_rank[rank]);
          if (theirs.is_stopped || there == 0) continue;
          is_shared = is_shared || other != number || there > 1;
          is_met = is_met || other != number;
        }
        const replay_vm_orders& orders = jobs_.at(JobId{number}).orders(rank);
        EXPECT_EQ(orders.shared == 1, is_shared) << "job " << number << " rank " << rank;
        EXPECT_EQ(orders.back_end == REPLAY_VM_TOKEN, is_met);
        EXPECT_EQ(replay_vm_core_of(orders.place), static_cast<std::uint32_t>(known.core_of_rank[rank]));
        EXPECT_TRUE(places.insert(orders.place).second) << "two at one seat";
      }
    }
  }
  std::map<int, Known> known_;
  std::mt19937 chance_{GetParam()};
};

TEST_P(RandomOrders, AreRightAtEachStepAndLeaveNothingBehind) {
  for (int step = 0; step < 400 && !HasFailure(); ++step) {
    one_step();
    check();
  }
  while (!known_.empty()) {
    leave(known_.begin()->first);
    known_.erase(known_.begin());
    check();
  }
  EXPECT_TRUE(cores_->table().is_empty());
  for (std::uint32_t core = 0; core < kCores; ++core) EXPECT_EQ(cores_->table().free_seats(core), REPLAY_VM_SEATS);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrders, testing::Range(1U, 7U));

TEST_F(Cores, WhereOthersComputeRanksUseTheTokenForAsLongAsThat) {
  const TestJob& job = enter(1, {0, 0, 1, 1});
  const auto back_ends = [&job] {
    std::vector<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < 4; ++rank) found.push_back(job.orders(rank).back_end);
    return found;
  };
  using List = std::vector<std::uint32_t>;
  cores_->set_busy({1, 3, 900});
  EXPECT_EQ(back_ends(), (List{REPLAY_VM_YIELD, REPLAY_VM_YIELD, REPLAY_VM_TOKEN, REPLAY_VM_TOKEN}));
  EXPECT_EQ(cores_->back_end(JobId{1}), REPLAY_VM_TOKEN);
  EXPECT_EQ(enter(2, {3, 3}).orders(0).back_end, REPLAY_VM_TOKEN) << "a job that comes later";
  cores_->set_busy({});
  EXPECT_EQ(back_ends(), List(4, REPLAY_VM_YIELD));
  EXPECT_EQ(cores_->back_end(JobId{1}), REPLAY_VM_YIELD);
}

TEST_F(Cores, TheProcessesOfRanksAreKnownByCore) {
  enter(1, {0, 0, 1});
  enter(2, {1});
  const std::map<std::uint32_t, std::vector<pid_t>> expected{{0, {100, 101}}, {1, {102, 200}}};
  EXPECT_EQ(cores_->processes_by_core(), expected);
}

}  // namespace
}  // namespace replay::launcher
