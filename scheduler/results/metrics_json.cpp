#include "scheduler/results/metrics_json.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "scheduler/base/json/write_json.hpp"

namespace replay::results {

void write_metrics_json(const std::filesystem::path& file, const log::Header& header, const metrics::JobSums& sums,
                        const metrics::Series& series, const metrics::Summary& summary) {
  const metrics::SummaryOptions& options = sums.options();
  nlohmann::ordered_json json;
  json["format"] = "replay-metrics 1";
  for (const char* name : {"trace", "policy", "machine", "body"}) json[name] = header.value(name);
  if (!header.value("stated-cores").empty()) json["stated_cores"] = series.cores();
  json["options"] = {{"bounded_slowdown_bound_s", seconds(options.bound)},
                     {"trim_percent", options.trim_percent},
                     {"completed_only", options.completed_only},
                     {"high_load_queue", series.options().high_load_queue}};
  for (const auto& [name, unit, definition, value] : summary.metrics)
    json["metrics"][std::string{name}] = {{"value", value}, {"unit", unit}, {"definition", definition}};
  for (const auto& [name, value] : metrics::batsim_summary(sums, series)) json["batsim"][std::string{name}] = value;
  write_json(file, json);
}

}  // namespace replay::results
