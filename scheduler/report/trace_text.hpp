// The figures of a trace as a page of text, and as JSON: `replay trace info`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "traces/statistics/statistics.hpp"

namespace replay::report {

using replay::to_text;  // the overloads for times, which the next one would hide
/// At most 100 columns, UTF-8. Names from the trace are as they were: clean_lines() before it is printed.
[[nodiscard]] std::string to_text(const TraceInfo& info);
[[nodiscard]] nlohmann::json to_json(const TraceInfo& info);

}  // namespace replay::report
