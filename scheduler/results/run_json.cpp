#include "scheduler/results/run_json.hpp"

#include <nlohmann/json.hpp>

namespace replay::results {
namespace {

nlohmann::ordered_json named_values(const std::vector<std::pair<std::string, std::string>>& pairs) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : pairs) json[name] = value;
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const RunInfo& info) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  const auto measured = [](double load) { return load < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(load); };
  nlohmann::ordered_json json;
  json["format"] = "replay-run 1";
  json["command"] = info.command;
  json["run"] = info.words;
  json["working_folder"] = info.working_folder;
  json["versions"] = named_values(info.versions);
  json["body"] = info.body;
  json["machine"] = info.machine;
  if (info.stated_cores) json["stated_cores"] = *info.stated_cores;
  if (!info.hosts.empty()) json["hosts"] = info.hosts;
  json["policy"] = info.policy;
  json["parameters"] = named_values(info.parameters);
  json["runtime_model"] = info.runtime_model;
  json["seed"] = info.seed;
  json["time_scale"] = info.time_scale;
  json["settings"] = named_values(info.settings);
  json["inputs"] = nlohmann::ordered_json::array();
  for (const InputFile& input : info.inputs)
    json["inputs"].push_back({{"path", input.path}, {"sha256", input.sha256}, {"bytes", input.bytes}});
  json["jobs"] = info.jobs ? ordered_json(*info.jobs) : ordered_json();
  json["started"] = info.started;
  json["ended"] = or_null(info.ended);
  json["interrupted"] = info.interrupted;
  json["lost"] = or_null(info.lost);
  json["fault"] = or_null(info.fault);
  json["broken_off"] = or_null(info.broken_off);
  json["unwritten"] = info.unwritten;
  json["disturbed"] = info.disturbed ? ordered_json(*info.disturbed) : ordered_json();
  json["load_of_others"] = {{"before", measured(info.load_before)}, {"after", measured(info.load_after)}};
  json["notes"] = info.notes;
  return json;
}

}  // namespace replay::results
