// The parser of the options of `replay trace declare`; it throws UsageError where they make no sense.
#pragma once

#include <string>

#include "traces/declare/declarer.hpp"

namespace replay {

/// As given; empty: not given.
struct DeclareOptions {
  std::uint64_t seed = 1;
  std::string machine_size;
  std::string speedup, constraint, sigma_factor, moldable, malleable;
  std::string estimates;
  std::string cpu_util, serial_cpu_util, ov;
  std::string contention, size_rule;
  std::string priority;
  bool with_others = false;  ///< the caller declares something besides, so that nothing here is no mistake
};

/// Throws UsageError, also if nothing is to be declared.
[[nodiscard]] Declarations declarations_of(const DeclareOptions& given);

}  // namespace replay
