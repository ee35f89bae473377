// Which part of a runtime model answers for jobs on the same nodes. On emulated cores a run needs that part by itself: what
// jobs cost each other on the same cores comes about there, what they cost each other on the same nodes does not.
#pragma once

#include <string>
#include <string_view>

namespace replay {

/// "pairs" of "isolated+pairs"; empty if no part of the model answers for neighbours. Throws UsageError as
/// make_runtime_model() does.
[[nodiscard]] std::string neighbours_part(std::string_view model);

}  // namespace replay
