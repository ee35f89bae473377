#include "scheduler/model/job_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace replay {
namespace {

TEST(JobIndex, FindsNumbersNearFarAndNegativeInTheOrderTheyCame) {
  JobIndex index;
  std::vector<JobId> jobs = {JobId{5}, JobId{900'000}, JobId{-1}, JobId{INT64_MAX}};
  for (int i = 0; i < 200'000; ++i) jobs.push_back(JobId{10 + i});
  for (const JobId job : jobs) {
    EXPECT_EQ(index.find(job), JobIndex::kNone);
    index.add(job);
  }
  for (std::uint32_t row = 0; row < jobs.size(); ++row) ASSERT_EQ(index.find(jobs[row]), row);
  EXPECT_EQ(index.find(JobId{6}), JobIndex::kNone);
}

TEST(JobIndex, AFarNumberStaysFoundWhenThereArePagesUpToIt) {
  JobIndex index;
  index.add(JobId{100'000});
  for (int i = 0; i < 100'000; ++i) index.add(JobId{i});
  index.add(JobId{700'000});
  EXPECT_EQ(index.find(JobId{100'000}), 0u);
}

// A moving window of live jobs, some of which stay long; numbers with gaps, far and negative ones too.
TEST(JobIndex, IsAMapThatForgets) {
  std::mt19937 chance{1};
  const auto draw = [&chance](std::int64_t below) {
    return std::uniform_int_distribution<std::int64_t>{0, below - 1}(chance);
  };
  for (const std::int64_t gap : {1, 3, 1000}) {
    JobIndex index;
    std::map<JobId, std::uint32_t> map;
    for (std::int64_t i = 0; i < 30'000; ++i) {
      const std::int64_t number = i % 50 == 49 ? -i : i % 50 == 48 ? i * 1'000'000'007 : i * gap;
      index.set(JobId{number}, static_cast<std::uint32_t>(i));
      map.emplace(JobId{number}, static_cast<std::uint32_t>(i));
      while (map.size() > 300) {
        const auto gone = std::next(map.begin(), draw(300));
        ASSERT_EQ(index.erase(gone->first), gone->second);
        ASSERT_EQ(index.erase(gone->first), JobIndex::kNone);
        map.erase(gone);
      }
      if (i % 100 == 0) {
        for (const auto& [job, row] : map) ASSERT_EQ(index.find(job), row);
      }
      const JobId any{draw(40'000 * gap)};
      ASSERT_EQ(index.find(any), map.contains(any) ? map.at(any) : JobIndex::kNone);
    }
  }
}

}  // namespace
}  // namespace replay
