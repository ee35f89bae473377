#include "scheduler/report/page/run_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/log/node_names.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/report/page/run_parts.hpp"

namespace replay::report {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kMostExact = std::int64_t{1} << 53;  // larger numbers are not exact as doubles

template <class Values>
ordered_json column(Columns& columns, const Values& values) {
  return columns.add(std::span<const typename Values::value_type>{values});
}

void add_ids(ordered_json& json, const std::vector<JobId>& ids, Columns& columns) {
  std::vector<double> values;
  for (const JobId id : ids) values.push_back(static_cast<double>(number(id)));
  json["id"] = column(columns, values);
  if (std::ranges::all_of(ids, [](JobId id) { return -kMostExact <= number(id) && number(id) <= kMostExact; })) return;
  std::vector<std::string> texts;
  for (const JobId id : ids) texts.push_back(std::to_string(number(id)));
  json["id_text"] = column(columns, texts);
}

ordered_json header_json(const log::Header& header) {
  ordered_json json = ordered_json::array();
  for (const auto& [name, value] : header.entries) json.push_back({clean_line(name), clean_line(value)});
  return json;
}

ordered_json shape_json(const Machine& machine) {
  ordered_json json{{"cores", machine.size()}, {"nodes", machine.names_cores() ? machine.nodes() : 0}};
  if (const NodeGroup& all = machine.groups().front(); machine.has_equal_nodes()) {
    json["packages"] = all.packages;
    json["cores_per_package"] = all.cores_per_package;
  } else {
    json["groups"] = ordered_json::array();
    for (const NodeGroup& group : machine.groups())
      json["groups"].push_back(ordered_json::array({group.nodes, group.packages, group.cores_per_package}));
  }
  return json;
}

ordered_json warnings_json(const std::vector<PageWarning>& warnings) {
  ordered_json json = ordered_json::array();
  for (const PageWarning& warning : warnings) {
    ordered_json& entry = json.emplace_back(ordered_json{{"kind", warning.kind}, {"text", clean_line(warning.text)}});
    if (warning.job >= 0) entry["job"] = warning.job;
    if (!std::isnan(warning.at)) entry["at"] = warning.at;
  }
  return json;
}

// "mean bounded slowdown" of "mean_bounded_slowdown".
std::string label_of(std::string_view name) {
  std::string label{name};
  std::ranges::replace(label, '_', ' ');
  return label;
}

ordered_json metrics_json(const RunData& run) {
  ordered_json json = ordered_json::array();
  for (const metrics::Metric& metric : run.summary.metrics) {
    ordered_json& entry = json.emplace_back(ordered_json{{"name", metric.name},
                                                         {"label", label_of(metric.name)},
                                                         {"unit", metric.unit},
                                                         {"value", number_or_null(metric.value)},
                                                         {"definition", metric.definition}});
    const auto found = std::ranges::find(run.intervals, metric.name, &MetricInterval::metric);
    if (found == run.intervals.end()) continue;
    entry["mean"] = number_or_null(found->mean);
    entry["low"] = number_or_null(found->low);
    entry["high"] = number_or_null(found->high);
  }
  return json;
}

ordered_json levels_json(const std::vector<Level>& levels, Columns& columns) {
  ordered_json json = ordered_json::array();
  for (const Level& level : levels)
    json.push_back({{"second_per_pixel", level.cell_seconds},
                    {"cores_per_row", level.cell_cores},
                    {"stretches", stretches_json(level.stretches, columns)}});
  return json;
}

ordered_json groups_json(const std::vector<PageGroup>& groups) {
  ordered_json json = ordered_json::array();
  for (const PageGroup& group : groups)
    json.push_back({{"from", group.from}, {"to", group.to}, {"primary", group.primary}, {"jobs", group.jobs}});
  return json;
}

ordered_json slices_json(const std::vector<PageSlice>& slices) {
  ordered_json json = ordered_json::array();
  for (const PageSlice& slice : slices)
    json.push_back({{"class", slice.job_class}, {"from", slice.from}, {"to", slice.to}});
  return json;
}

ordered_json closed_json(const std::vector<PageClosed>& closed) {
  ordered_json json = ordered_json::array();
  for (const PageClosed& span : closed)
    json.push_back({{"from", span.from},
                    {"to", span.to},
                    {"first", span.first},
                    {"last", span.last},
                    {"text", clean_line(span.text)}});
  return json;
}

ordered_json distributions_json(const std::vector<Distribution>& distributions, Columns& columns) {
  ordered_json json = ordered_json::array();
  for (const Distribution& curve : distributions)
    json.push_back({{"of", curve.of},
                    {"by", curve.by},
                    {"name", curve.name},
                    {"median", curve.median},
                    {"x", column(columns, curve.x)},
                    {"y", column(columns, curve.y)}});
  return json;
}

ordered_json class_names() {
  ordered_json json = ordered_json::array();
  for (std::size_t i = 0; i < kJobClasses; ++i) json.push_back(to_text(static_cast<JobClass>(i)));
  return json;
}

ordered_json outcome_names() {
  ordered_json json = ordered_json::array();
  for (std::size_t i = 0; i < enum_count<Outcome>(); ++i) json.push_back(to_text(Outcome(i)));
  return json;
}

const char* classes_from(const RunData& run) { return run.has_classes ? "log" : "runtime"; }

}  // namespace

ordered_json stretches_json(const StretchColumns& stretches, Columns& columns) {
  return {{"job", column(columns, stretches.job)},   {"from", column(columns, stretches.from)},
          {"to", column(columns, stretches.to)},     {"first", column(columns, stretches.first)},
          {"last", column(columns, stretches.last)}, {"flags", column(columns, stretches.flags)},
          {"mpl", column(columns, stretches.mpl)},   {"processes", column(columns, stretches.processes)}};
}

ordered_json jobs_json(const JobColumns& jobs, Columns& columns) {
  ordered_json json;
  add_ids(json, jobs.id, columns);
  const auto add = [&](const char* name, const auto& values) { json[name] = column(columns, values); };
  const auto add_if_known = [&](const char* name, const std::vector<std::int32_t>& values) {
    if (std::ranges::any_of(values, [](std::int32_t value) { return value >= 0; })) add(name, values);
  };
  add_if_known("user", jobs.user);
  add("class", jobs.job_class);
  add_if_known("queue", jobs.queue);
  add("submit", jobs.submit);
  add("start", jobs.start);
  add("end", jobs.end);
  add("estimate", jobs.estimate);
  add("runtime", jobs.runtime);
  add("processes", jobs.processes);
  add("given", jobs.given);
  add_if_known("optimal", jobs.optimal);
  add("cores", jobs.cores);
  add("max_mpl", jobs.max_mpl);
  add("wait", jobs.wait);
  add("response", jobs.response);
  add("bounded_slowdown", jobs.bounded_slowdown);
  add("shrunk_time", jobs.shrunk_time);
  add("suspended_time", jobs.suspended_time);
  add("group_time", jobs.group_time);
  add("outcome", jobs.outcome);
  add("node_share", jobs.node_share);
  if (!jobs.reason.empty()) add("reason", jobs.reason);
  return json;
}

ordered_json resizes_json(const ResizeColumns& resizes, Columns& columns) {
  return {{"job", column(columns, resizes.job)},
          {"at", column(columns, resizes.at)},
          {"from", column(columns, resizes.from)},
          {"to", column(columns, resizes.to)},
          {"for", column(columns, resizes.in_favour_of)}};
}

ordered_json series_json(const SeriesColumns& series, Columns& columns) {
  return {{"time", column(columns, series.time)},
          {"queued", column(columns, series.queued)},
          {"waiting_processors", column(columns, series.waiting_processors)},
          {"busy", column(columns, series.busy)},
          {"mpl", column(columns, series.mpl)},
          {"free_while_queued", column(columns, series.free_while_queued)}};
}

ordered_json facts_json(const RunData& run, Columns& columns) {
  return {{"begin", run.begin},
          {"warnings", warnings_json(run.warnings)},
          {"metrics", metrics_json(run)},
          {"jobs_in_all", run.jobs_in_all},
          {"classes_from", classes_from(run)},
          {"groups", groups_json(run.groups)},
          {"slices", slices_json(run.slices)},
          {"closed", closed_json(run.closed)},
          {"ecdf", distributions_json(run.distributions, columns)}};
}

ordered_json run_json(const RunData& run, Columns& columns) {
  ordered_json json;
  json["name"] = clean_line(run.name);
  json["folder"] = clean_line(run.path);
  for (const char* name : {"body", "policy", "trace", "machine"}) json[name] = clean_line(run.header.value(name));
  json["header"] = header_json(run.header);
  json["shape"] = shape_json(run.machine);
  const log::NodeNames names{run.header, run.machine};
  if (!names.hosts().empty()) json["hosts"] = names.hosts();
  json["complete"] = run.is_complete;
  json["end"] = run.end;
  json["jobs"] = jobs_json(run.jobs, columns);
  json["classes"] = class_names();
  json["outcomes"] = outcome_names();
  json["why"] = {{"job", column(columns, run.why.job)}, {"text", column(columns, run.why.text)}};
  json["resizes"] = resizes_json(run.resizes, columns);
  json["stretches"] = stretches_json(run.stretches, columns);
  json["levels"] = levels_json(run.levels, columns);
  json["series"] = series_json(run.series, columns);
  json.update(facts_json(run, columns));
  json["limits"] = ordered_json::array();
  for (const std::string& limit : run.limits) json["limits"].push_back(clean_line(limit));
  return json;
}

}  // namespace replay::report
