// Tests of which jobs are asked for a rate when jobs come to shared cores and leave them.

#include "scheduler/runtime_model/shared_rates.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

namespace replay {
namespace {

constexpr JobId kOne{1}, kTwo{2}, kThree{3};

class SharedRatesOnFourCores : public ::testing::Test {
 protected:
  static Allocation on(std::initializer_list<int> cores, bool shareable = true) {
    Allocation allocation;
    for (const int core : cores) allocation.named.push_back({CoreId{core}, 1});
    allocation.cores = static_cast<CoreCount>(cores.size());
    allocation.shareable = shareable;
    return allocation;
  }
  // "1:0.5 2:0": which jobs were asked, beside which demand.
  std::string come(JobId job, const Allocation& cores, double cpu_use) {
    asked_.clear();
    rates_.come({.id = job, .behaviour = {.cpu_use = cpu_use}}, cores,
                [this](JobId id, const Allocation&, const Surroundings& around) { note(id, around.demand); });
    return asked_;
  }
  std::string leave(JobId job) {
    asked_.clear();
    rates_.leave(job, [this](JobId id, const Allocation&, const Surroundings& around) { note(id, around.demand); });
    return asked_;
  }

  Machine machine_ = Machine::cluster(1, 1, 4);
  SharedRates rates_{machine_, false};

 private:
  void note(JobId id, double demand) {
    asked_ += fmt::format("{}{}:{}", asked_.empty() ? "" : " ", static_cast<std::int64_t>(id), demand);
  }
  std::string asked_;
};

TEST_F(SharedRatesOnFourCores, AJobThatComesIsAskedForFirstThenItsNeighbours) {
  EXPECT_EQ(come(kOne, on({0, 1}), 0.75), "1:0");
  EXPECT_EQ(come(kTwo, on({2, 3}), 0.5), "2:0");
  EXPECT_EQ(come(kThree, on({1, 2}), 0.25), "3:0.75 1:0.25 2:0.25");
}

TEST_F(SharedRatesOnFourCores, NeighboursAreAskedForWhenAJobLeavesAndItIsNot) {
  come(kOne, on({0, 1}), 0.75);
  come(kTwo, on({1}), 0.5);
  EXPECT_EQ(leave(kTwo), "1:0");
  EXPECT_EQ(leave(kTwo), "") << "it is on no cores any more";
}

TEST_F(SharedRatesOnFourCores, AJobThatDoesNotShareHasNoNeighbours) {
  come(kOne, on({0, 1}), 0.75);
  EXPECT_EQ(come(kTwo, on({1}, false), 0.5), "2:0");
  EXPECT_EQ(leave(kTwo), "");
}

}  // namespace
}  // namespace replay
