// Tests of the keys of is: any cut of the sequence gives the same keys; borders between ranks follow the keys, not the
// values.
#include "benchmarks/mpi/is/is_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace replay::bench {
namespace {

TEST(IsKeys, PartsOfTheSequenceAddUpToTheWhole) {
  const std::vector<Key> whole = draw_keys({0, 1000}, 1 << 11);
  std::vector<Key> joined;
  for (int rank = 0; rank < 7; ++rank) {
    const std::vector<Key> part = draw_keys(block_of(1000, rank, 7), 1 << 11);
    joined.insert(joined.end(), part.begin(), part.end());
  }
  EXPECT_EQ(joined, whole);
}

TEST(IsKeys, KeysAreSumsOfFourUniformNumbers) {
  constexpr double kLimit = 1 << 16;
  const std::vector<Key> keys = draw_keys({0, 100'000}, 1 << 16);
  double mean = 0;
  for (const Key key : keys) mean += key / kLimit / static_cast<double>(keys.size());
  double variance = 0;
  for (const Key key : keys)
    variance += (key / kLimit - mean) * (key / kLimit - mean) / static_cast<double>(keys.size());
  EXPECT_LT(*std::ranges::max_element(keys), Key{1} << 16);
  EXPECT_NEAR(mean, 0.5, 0.002);
  EXPECT_NEAR(variance, 1.0 / 48, 0.0005);  // the variance of a uniform number, divided by 4
}

TEST(IsKeys, AFingerprintKnowsKeysButNotTheirOrder) {
  std::vector<Key> keys = draw_keys({0, 1000}, 1 << 16);
  const std::uint64_t before = fingerprint(keys);
  std::ranges::sort(keys);
  EXPECT_EQ(fingerprint(keys), before);
  EXPECT_EQ(fingerprint(std::span{keys}.first(300)) + fingerprint(std::span{keys}.subspan(300)), before);
  ++keys[0];
  --keys[1];  // the sum of the keys stays the same
  EXPECT_NE(fingerprint(keys), before);
}

std::int64_t keys_of(const std::vector<std::int32_t>& sizes, std::size_t begin, std::size_t end) {
  return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(begin),
                         sizes.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{0});
}

TEST(IsBuckets, NobodyGetsMoreThanAShareAndABucket) {
  std::vector<std::int32_t> sizes(1024);
  for (const Key key : draw_keys({0, 1 << 16}, 1 << 16)) ++sizes[key >> 6];
  const std::int64_t largest = *std::ranges::max_element(sizes);
  for (const int ranks : {1, 2, 3, 5, 6, 64, 1000, 1024}) {
    const std::vector<std::size_t> first = divide_buckets(sizes, ranks);
    ASSERT_EQ(first.size(), static_cast<std::size_t>(ranks) + 1);
    EXPECT_EQ(first.front(), 0U);
    EXPECT_EQ(first.back(), sizes.size());
    for (std::size_t rank = 0; rank + 1 < first.size(); ++rank) {
      ASSERT_LE(first[rank], first[rank + 1]);
      EXPECT_LE(keys_of(sizes, first[rank], first[rank + 1]), (1 << 16) / ranks + largest + 1) << ranks << ' ' << rank;
    }
  }
}

TEST(IsBuckets, OneBucketWithAllKeysGoesToOneRank) {
  const std::vector<std::int32_t> sizes{0, 0, 90, 0};
  const std::vector<std::size_t> first = divide_buckets(sizes, 3);
  int owners = 0;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const std::int64_t keys = keys_of(sizes, first[rank], first[rank + 1]);
    EXPECT_TRUE(keys == 0 || keys == 90);
    owners += keys == 90 ? 1 : 0;
  }
  EXPECT_EQ(owners, 1);
}

TEST(IsBuckets, NoKeysAtAllStillGiveEveryBucketToOneRank) {
  const std::vector<std::int32_t> sizes(8);
  const std::vector<std::size_t> first = divide_buckets(sizes, 5);
  EXPECT_TRUE(std::ranges::is_sorted(first));
  EXPECT_EQ(first.back(), 8U);
}

}  // namespace
}  // namespace replay::bench
