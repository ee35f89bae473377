#include "traces/models/random.hpp"

#include <bit>

#include "scheduler/base/mix_bits.hpp"

namespace replay {

Rng::Rng(Seed seed, std::string_view stream) {
  std::uint64_t state = static_cast<std::uint64_t>(seed);
  for (const char c : stream) state = mix_bits(state ^ static_cast<unsigned char>(c));
  for (std::uint64_t& word : state_) {
    word = mix_bits(state);
    state += 0x9E3779B97F4A7C15U;
  }
}

std::uint64_t Rng::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

}  // namespace replay
