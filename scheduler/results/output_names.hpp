// The names of the files that a run can leave, as --outputs takes them.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace replay::results {

/// The names that --outputs takes: run, events, jobs, swf, metrics, series.
[[nodiscard]] const std::set<std::string>& output_names();

/// "all" (also ""), "none", or names joined by commas. Throws UsageError for an unknown one.
[[nodiscard]] std::set<std::string> parse_outputs(std::string_view list);

}  // namespace replay::results
