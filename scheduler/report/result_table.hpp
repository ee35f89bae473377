// The table at the end of a run: one line per policy, and with several policies a second block that says how far each is
// from the first. What a column means is in metrics.json, under the same metric's name.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "scheduler/metrics/summary.hpp"

namespace replay::report {

struct Result {
  std::string policy;
  metrics::Summary summary;  ///< all metrics
};

/// Aligned columns, units in the header, a line end behind each line; "-" for what cannot be had.
[[nodiscard]] std::string result_table(std::span<const Result> results);

/// One line for each reason why jobs ran as rigid that could have been shrunk, the commonest first; at most ten.
[[nodiscard]] std::string rigid_lines(const std::string& policy,
                                      const std::map<std::string, std::size_t>& jobs_by_reason);

/// One line on what node events did, "easy: 1 job lost, ..."; empty if there were none.
[[nodiscard]] std::string node_line(const std::string& policy, const metrics::Summary& summary);

/// An array with one object per policy: `policy`, `metrics` (every metric by name, null for what cannot be had) and, but
/// for the first, `difference_percent` (the table's columns by metric name, null where the first is 0).
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const Result> results);

}  // namespace replay::report
