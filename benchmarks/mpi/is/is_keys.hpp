// The keys of NAS IS, and their division among the processes. A key is the scaled sum of four uniform numbers, so most
// keys are in the middle of their range: equal ranges of values would leave the outer ranks idle. Values are therefore
// cut into buckets, more than there are ranks, and each rank gets a run of neighbouring buckets with about its share of
// keys. Source: Bailey et al. 1994, RNR-94-007; the buckets: NAS Parallel Benchmarks 2 and later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/mpi/common/common.hpp"

namespace replay::bench {

using Key = std::uint32_t;

/// Keys number `part.begin` to `part.end` - 1 of the sequence; each from 0 to `key_limit` - 1. O(part.size()).
/// REQUIRES: `key_limit` is a multiple of 4.
std::vector<Key> draw_keys(Block part, Key key_limit);

/// For each of `ranks` ranks the first bucket that it ranks, and behind them the number of buckets: rank r has
/// [first[r], first[r + 1]), which may be empty. A border is put where the number of keys before it is nearest to r
/// shares, so a rank has at most its share and one bucket more. O(buckets + ranks). REQUIRES: no negative size.
std::vector<std::size_t> divide_buckets(std::span<const std::int32_t> bucket_sizes, int ranks);

/// A sum over hashes of all keys, independent of their order: other keys have another sum, except by chance. Sums of
/// parts add up, modulo 2^64.
std::uint64_t fingerprint(std::span<const Key> keys);

}  // namespace replay::bench
