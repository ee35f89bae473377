// The parameters of g-lomarc-ts: Table 6 of the paper, and its variants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/model/units.hpp"

namespace replay::sharing {

/// Section 5.1.
enum class Variant : std::uint8_t {
  kFull,            ///< GLTS
  kSpaceSharing,    ///< SSP
  kBestPair,        ///< CST
  kFirstPair,       ///< CSTWS
  kFirstBlockOnly,  ///< FBO
  kUnsorted,        ///< NS
  kFirstGroup       ///< NH
};

struct Settings {
  Variant variant = Variant::kFull;
  double max_slowdown = 1.25;     ///< MAX_SL
  double max_self = 1.12;         ///< SELF_SL_2
  double min_gain = 0.45;         ///< MIN_UTILGAIN
  std::size_t block = 16;         ///< BLOCK_SIZE
  double matched_larger = 0.125;  ///< MATCHED_LARGER
  std::size_t running = 8;        ///< RUNNING_PRIM_NUM
  Duration matched_longer{};      ///< MATCHED_LONGER
  double slack = 1.5;             ///< F_slack
  double estimate_factor = 0.75;  ///< section 5.1
  Duration short_up_to{}, medium_up_to{};

  [[nodiscard]] bool only_pairs() const { return variant == Variant::kBestPair || variant == Variant::kFirstPair; }
  /// The first suitable one is taken, and not the best.
  [[nodiscard]] bool takes_first() const { return variant == Variant::kFirstPair || variant == Variant::kFirstGroup; }
};

/// Gains and slowdowns that differ by less are equal: they are sums and quotients of rounded numbers.
inline constexpr double kTolerance = 1e-9;

}  // namespace replay::sharing
