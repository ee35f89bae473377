#include "scheduler/base/percentile.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace replay {
namespace {

constexpr int kLeadingBits = 14;  // sign, exponent and two bits behind it
constexpr std::size_t kBuckets = std::size_t{1} << kLeadingBits;

// Ascends with the value: bits of negative numbers descend.
std::size_t bucket_of(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return static_cast<std::size_t>(((bits & kSign) != 0 ? ~bits : bits | kSign) >> (64 - kLeadingBits));
}

}  // namespace

Percentiles::Percentiles(std::span<double> values) : values_(values), counts_(kBuckets) {
  for (const double value : values) ++counts_[bucket_of(value)];
}

double Percentiles::at(double q) {
  if (values_.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double rank = q * static_cast<double>(values_.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto [at, next] = two_from(below);
  const double share = rank - static_cast<double>(below);
  return share == 0 ? at : at + (next - at) * share;
}

// Brings those of the bucket to the front: needs no memory, which is short where there are very many values.
std::span<double> Percentiles::inside(std::size_t bucket) {
  std::partition(values_.begin(), values_.end(), [bucket](double value) { return bucket_of(value) == bucket; });
  return values_.first(counts_[bucket]);
}

// The value at `place` and the one behind it; twice the last one. REQUIRES: place < size of the values.
std::pair<double, double> Percentiles::two_from(std::size_t place) {
  std::size_t bucket = 0;
  for (; place >= counts_[bucket]; ++bucket) place -= counts_[bucket];
  const std::span<double> values = inside(bucket);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(values, at);
  const double found = *at;
  if (at + 1 != values.end()) return {found, *std::min_element(at + 1, values.end())};
  do ++bucket;
  while (bucket < kBuckets && counts_[bucket] == 0);
  return {found, bucket < kBuckets ? std::ranges::min(inside(bucket)) : found};
}

}  // namespace replay
