// Sources of random numbers. Every model draws from a UniformSource; ours is Rng, and the drand48 of the C library
// exists to repeat what the original C program of Lublin and Feitelson prints. Each purpose has a stream of its own,
// named, so that drawing estimates for a workload does not change its arrivals.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace replay {

enum class Seed : std::uint64_t {};

class UniformSource {
 public:
  UniformSource() = default;
  UniformSource(const UniformSource&) = default;
  UniformSource& operator=(const UniformSource&) = default;
  virtual ~UniformSource() = default;

  /// Uniform in [0,1).
  [[nodiscard]] virtual double uniform() = 0;

  /// Uniform in 0 .. count-1. REQUIRES: 1 <= count <= 2^48; the bias is below count / 2^48.
  [[nodiscard]] std::uint64_t below(std::uint64_t count) {
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(count));
  }
};

/// xoshiro256++ (Blackman and Vigna 2021), its state filled by splitmix64 from the seed and the stream's name. The same
/// numbers on every machine and with every compiler; 53 random bits each.
class Rng final : public UniformSource {
 public:
  explicit Rng(Seed seed, std::string_view stream = "");
  [[nodiscard]] double uniform() override { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// 64 random bits.
  [[nodiscard]] std::uint64_t next();

 private:
  std::array<std::uint64_t, 4> state_{};
};

/// drand48 seeded by srand48(seed), as POSIX defines it: 48-bit linear congruential, here without global state.
class Drand48 final : public UniformSource {
 public:
  explicit Drand48(Seed seed) : state_(((static_cast<std::uint64_t>(seed) & 0xFFFFFFFFU) << 16) | 0x330EU) {}
  [[nodiscard]] double uniform() override {
    state_ = (state_ * 0x5DEECE66DU + 0xBU) & ((std::uint64_t{1} << 48) - 1);
    return static_cast<double>(state_) * 0x1p-48;
  }

 private:
  std::uint64_t state_;
};

}  // namespace replay
