// A random generator for tests: SplitMix64, small, and the same on every machine.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace replay::test {

/// The number in this environment variable: how often, or from which seed.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 0..bound-1. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) % bound;
  }
  /// least..most, both included. REQUIRES: least <= most.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  /// True with probability 1/n.
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace replay::test
