// User estimates, SWF field 9: those of the log, perfect ones, a multiple of the run time, or Tsafrir's model.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "traces/declare/tsafrir.hpp"

namespace replay {

struct LoggedEstimates {};   ///< field 9 stays as it is
struct PerfectEstimates {};  ///< the run time
struct FactorEstimates {
  double factor = 1;  ///< times the run time
};
using EstimateRule = std::variant<LoggedEstimates, PerfectEstimates, FactorEstimates, TsafrirRule>;

/// "log", "perfect", "factor:2.5", or "tsafrir" with ":parameters=kth" and ":emax=60h" if wanted. Throws UsageError.
[[nodiscard]] EstimateRule parse_estimates(std::string_view text);
[[nodiscard]] std::string to_text(const EstimateRule& rule);

}  // namespace replay
