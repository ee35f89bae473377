// `replay trace info --plot`: the log on one page. Sizes and run times of jobs and of work, arrivals by hour and weekday,
// load over time.
#pragma once

#include <string>

#include "traces/statistics/statistics.hpp"

namespace replay::report {

/// As the ending of `name` says: .svg, .pdf, .tikz or .tex, or a page for .html.
[[nodiscard]] std::string draw_trace(const TraceInfo& info, const std::string& name = "trace.svg");

/// Writes it to `path`. Throws UsageError for any other ending, InputError if the file is there already and `force` is not given,
/// or cannot be written.
void write_plot(const TraceInfo& info, const std::string& path, bool force);

}  // namespace replay::report
