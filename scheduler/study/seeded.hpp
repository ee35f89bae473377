// The options of studies whose jobs are drawn from seeds.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace replay::study {

struct SeededOptions {
  std::uint64_t seeds = 1;  ///< 1 .. seeds
  std::uint64_t jobs = 10'000;
  bool quick = false;  ///< without what takes longest
};
inline constexpr SeededOptions kQuickOptions{.seeds = 1, .jobs = 2'000, .quick = true};

[[nodiscard]] inline std::string seeds_text(const SeededOptions& options) {
  return options.seeds == 1 ? "seed 1" : fmt::format("seeds 1 to {}", options.seeds);
}
[[nodiscard]] inline std::string quick_text(const SeededOptions& options, std::string_view left_out) {
  return fmt::format("--quick: {}, {} jobs, {}",
                     options.seeds == 1 ? "one seed" : fmt::format("{} seeds", options.seeds), options.jobs, left_out);
}

}  // namespace replay::study
