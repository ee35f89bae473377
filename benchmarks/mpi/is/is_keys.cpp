// Borders are found in one walk along the buckets, as they only move up from rank to rank.
#include "benchmarks/mpi/is/is_keys.hpp"

#include <numeric>

#include "benchmarks/mpi/common/nas_random.hpp"

namespace replay::bench {

std::vector<Key> draw_keys(Block part, Key key_limit) {
  constexpr std::uint64_t kSeed = 314159265;
  constexpr Key kNumbersPerKey = 4;
  NasRandom random{kSeed, kNasMultiplier};
  random.skip(kNumbersPerKey * static_cast<std::uint64_t>(part.begin));
  const double scale = static_cast<double>(key_limit) / kNumbersPerKey;
  std::vector<Key> keys(static_cast<std::size_t>(part.size()));
  for (Key& key : keys) {
    double sum = random.next();
    sum += random.next();
    sum += random.next();
    sum += random.next();
    key = static_cast<Key>(scale * sum);
  }
  return keys;
}

std::vector<std::size_t> divide_buckets(std::span<const std::int32_t> bucket_sizes, int ranks) {
  const std::int64_t total = std::accumulate(bucket_sizes.begin(), bucket_sizes.end(), std::int64_t{0});
  std::vector<std::size_t> first{0};
  std::size_t bucket = 0;
  std::int64_t before = 0;  // keys in buckets below `bucket`
  for (int rank = 1; rank < ranks; ++rank) {
    const std::int64_t wanted = total * rank / ranks;
    while (bucket < bucket_sizes.size() && before + bucket_sizes[bucket] / 2 < wanted) before += bucket_sizes[bucket++];
    first.push_back(bucket);
  }
  first.push_back(bucket_sizes.size());
  return first;
}

std::uint64_t fingerprint(std::span<const Key> keys) {
  std::uint64_t sum = 0;
  for (const std::uint64_t key : keys) {
    std::uint64_t mixed = (key + 1) * 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
    mixed ^= mixed >> 32;
    sum += mixed * mixed;
  }
  return sum;
}

}  // namespace replay::bench
