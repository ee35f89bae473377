#include "scheduler/runtime_model/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {
namespace {

using nlohmann::json;

constexpr const char* kProfileFormat = "replay-profile";

using Place = JsonPlace<json>;

constexpr double kSmallest = 1e-9;
constexpr double kLongestRun = 1e6;  // s, of a run or of what it costs to start one

// ---- reading ----

Figure figure_of(const Place& place, double least, double most = 1e12) {
  Figure figure;
  figure.value = place.at("value").number(least, most);
  if (place.has("spread")) figure.spread = place.at("spread").number(0);
  if (place.has("runs")) figure.runs = place.at("runs").count();
  if (place.has("disturbed")) figure.disturbed = place.at("disturbed").flag();
  return figure;
}

std::optional<Figure> optional_figure(const Place& place, const char* key, double least, double most = 1e12) {
  if (!place.has(key)) return std::nullopt;
  return figure_of(place.at(key), least, most);
}

std::string optional_text(const Place& place, const char* key) { return place.has(key) ? place.at(key).text() : ""; }

/// The machine that a text has behind `prefix`.
Machine machine_at(const Place& place, std::string_view prefix, CoreCount cores) {
  const std::string text = place.text();
  std::optional<Machine> machine;
  try {
    if (text.starts_with(prefix)) machine = Machine::parse(text.substr(prefix.size()));
  } catch (const InputError&) {  // said below
  }
  if (!machine) place.fail(fmt::format("nodes such as {}2x1x4", prefix));
  if (machine->size() != cores) place.fail(fmt::format("nodes with {} cores", cores));
  return *machine;
}

/// Each once, and as many as there are nodes.
std::vector<std::string> hosts_of(const Place& place, std::optional<int> nodes) {
  std::vector<std::string> hosts;
  for (const Place& host : place.elements()) {
    hosts.push_back(host.text());
    if (std::ranges::count(hosts, hosts.back()) > 1) host.fail("each host once");
  }
  if (nodes && hosts.size() != static_cast<std::size_t>(*nodes))
    place.fail(fmt::format("as many as there are nodes, {}", *nodes));
  return hosts;
}

ProfileMachine machine_of(const Place& place) {
  ProfileMachine machine{.name = place.at("name").text(),
                         .cpu = optional_text(place, "cpu"),
                         .kernel = optional_text(place, "kernel"),
                         .mpi = optional_text(place, "mpi"),
                         .emulated = optional_text(place, "emulated"),
                         .cores = place.at("cores").count(),
                         .nodes = optional_text(place, "nodes")};
  std::optional<int> nodes;
  if (!machine.nodes.empty()) nodes = machine_at(place.at("nodes"), "", machine.cores).nodes();
  if (!machine.emulated.empty()) nodes = machine_at(place.at("emulated"), "emulated:", machine.cores).nodes();
  if (place.has("hosts")) machine.hosts = hosts_of(place.at("hosts"), nodes);
  return machine;
}

SelfSlowdown self_slowdown_of(const Place& place) {
  return {.two_same_package = optional_figure(place, "2_same_package", kSmallest),
          .two_different_packages = optional_figure(place, "2_different_packages", kSmallest),
          .four_same_package = optional_figure(place, "4_same_package", kSmallest),
          .four_different_packages = optional_figure(place, "4_different_packages", kSmallest)};
}

// How many nodes; more than `least`, those of the member before it, and up to `most`, of which each has a process.
int nodes_of(const Place& place, int least, int most) {
  const int nodes = place.at("nodes").count();
  if (nodes <= least) place.at("nodes").fail(fmt::format("more than {}, in ascending order", least));
  if (nodes > most) place.at("nodes").fail(fmt::format("at most {}", most));
  return nodes;
}

ProfileEntry entry_of(const Place& place) {
  ProfileEntry entry;
  entry.benchmark = place.at("benchmark").text();
  entry.problem_class = optional_text(place, "class");
  entry.processes = place.at("processes").count();
  entry.command = place.at("command").text();
  if (entry.benchmark.empty()) place.at("benchmark").fail("a name");
  if (entry.command.empty()) place.at("command").fail("a command");
  entry.runtime_s = figure_of(place.at("run_time_s"), kSmallest, kLongestRun);
  entry.cpu_use = optional_figure(place, "cpu_utilisation", 0, 1);
  entry.slowdown_mpl_2 = optional_figure(place, "slowdown_mpl_2", kSmallest);
  if (place.has("self_slowdown")) entry.self_slowdown = self_slowdown_of(place.at("self_slowdown"));
  entry.program_sha256 = optional_text(place, "program_sha256");
  if (place.has("nodes")) entry.nodes = nodes_of(place, 0, entry.processes);
  int before = entry.nodes;
  for (const Place& one : place.list("on_more_nodes")) {
    before = nodes_of(one, before, entry.processes);
    entry.on_more_nodes.push_back({before, figure_of(one.at("run_time_s"), kSmallest, kLongestRun)});
  }
  return entry;
}

ProfileSpeedup speedup_of(const Place& place) {
  ProfileSpeedup result;
  result.benchmark = place.at("benchmark").text();
  result.problem_class = optional_text(place, "class");
  for (const Place& point : place.list("points")) {
    result.points.push_back({point.at("processes").count(), point.at("speedup").number(kSmallest)});
    if (result.points.size() > 1 && result.points[result.points.size() - 2].processes >= result.points.back().processes)
      point.at("processes").fail("processes in ascending order");
  }
  const auto fit = parse_speedup(place.at("fit").text());
  if (!fit) place.at("fit").fail("a speedup such as downey:a=10:sigma=0.5");
  result.fit = *fit;
  result.residual = place.at("residual").number(0);
  return result;
}

PairSlowdown pair_of(const Place& place) {
  return {.benchmark = place.at("benchmark").text(),
          .problem_class = optional_text(place, "class"),
          .neighbour = place.at("neighbour").text(),
          .neighbour_class = optional_text(place, "neighbour_class"),
          .processes = place.at("processes").count(),
          .slowdown = figure_of(place.at("slowdown"), kSmallest)};
}

std::vector<OverheadAt> overheads_of(const Place& place, const char* key) {
  std::vector<OverheadAt> list;
  for (const Place& one : place.list(key)) {
    list.push_back({one.at("processes").count(), figure_of(one.at("seconds"), 0, kLongestRun)});
    if (list.size() > 1 && list[list.size() - 2].processes >= list.back().processes)
      one.at("processes").fail("processes in ascending order");
  }
  return list;
}

void take_costs(const Place& place, JobCosts& costs) {
  costs.launch = overheads_of(place, "launch");
  costs.end = overheads_of(place, "end");
  costs.shrink = overheads_of(place, "shrink");
  costs.expand = overheads_of(place, "expand");
}

std::vector<CostsOnNodes> over_nodes_of(const Place& place, CoreCount cores) {
  std::vector<CostsOnNodes> list;
  for (const Place& one : place.list("over_nodes")) {
    CostsOnNodes costs;
    costs.nodes = nodes_of(one, list.empty() ? 1 : list.back().nodes, cores);
    take_costs(one, costs);
    list.push_back(std::move(costs));
  }
  return list;
}

void check_kind(const Place& place) {
  const std::string expected = fmt::format("a profile of a machine (\"format\": \"{}\")", kProfileFormat);
  if (!place.has("format")) place.fail(expected);
  if (place.at("format").text() != kProfileFormat) place.at("format").fail(expected);
  if (const int version = place.at("version").count(); version != kProfileVersion)
    place.at("version").fail(fmt::format("{}: replay calibrate writes a new one", kProfileVersion));
}

// Rejects two rows with the same key: one of them would be ignored.
void refuse_repeated(const std::vector<Place>& places, const std::vector<ProfileEntry>& entries) {
  std::set<std::tuple<std::string, std::string, ProcessCount>> seen;
  std::set<std::pair<std::string, ProcessCount>> commands;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ProfileEntry& entry = entries[i];
    if (!seen.emplace(entry.benchmark, entry.problem_class, entry.processes).second)
      places[i].at("processes").fail("each benchmark, class and number of processes once");
    if (!commands.emplace(entry.command, entry.processes).second)
      places[i].at("command").fail("each command with a number of processes once");
  }
}

void refuse_repeated(const std::vector<Place>& places, const std::vector<PairSlowdown>& pairs) {
  std::set<std::tuple<std::string, std::string, std::string, std::string, ProcessCount>> seen;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PairSlowdown& pair = pairs[i];
    if (!seen.emplace(pair.benchmark, pair.problem_class, pair.neighbour, pair.neighbour_class, pair.processes).second)
      places[i].at("neighbour").fail("each pair with a number of processes once");
  }
}

// ---- writing ----

json json_of(const Figure& figure) {
  json result = {{"value", figure.value}, {"spread", figure.spread}, {"runs", figure.runs}};
  if (figure.disturbed) result["disturbed"] = true;
  return result;
}

void add(json& to, const char* key, const std::optional<Figure>& figure) {
  if (figure) to[key] = json_of(*figure);
}

void add(json& to, const char* key, const std::string& text) {
  if (!text.empty()) to[key] = text;
}

json json_of(const ProfileEntry& entry) {
  json result = {{"benchmark", entry.benchmark},
                 {"processes", entry.processes},
                 {"command", entry.command},
                 {"run_time_s", json_of(entry.runtime_s)}};
  add(result, "class", entry.problem_class);
  add(result, "cpu_utilisation", entry.cpu_use);
  add(result, "slowdown_mpl_2", entry.slowdown_mpl_2);
  add(result, "program_sha256", entry.program_sha256);
  json self = json::object();
  add(self, "2_same_package", entry.self_slowdown.two_same_package);
  add(self, "2_different_packages", entry.self_slowdown.two_different_packages);
  add(self, "4_same_package", entry.self_slowdown.four_same_package);
  add(self, "4_different_packages", entry.self_slowdown.four_different_packages);
  if (!self.empty()) result["self_slowdown"] = self;
  if (entry.nodes > 1) result["nodes"] = entry.nodes;
  for (const RunTimeOnNodes& run : entry.on_more_nodes)
    result["on_more_nodes"].push_back({{"nodes", run.nodes}, {"run_time_s", json_of(run.runtime_s)}});
  return result;
}

json json_of(const ProfileSpeedup& speedup) {
  json points = json::array();
  for (const SpeedupPoint& point : speedup.points)
    points.push_back({{"processes", point.processes}, {"speedup", point.speedup}});
  json result = {{"benchmark", speedup.benchmark},
                 {"points", points},
                 {"fit", to_text(speedup.fit)},
                 {"residual", speedup.residual}};
  add(result, "class", speedup.problem_class);
  return result;
}

json json_of(const PairSlowdown& pair) {
  json result = {{"benchmark", pair.benchmark},
                 {"neighbour", pair.neighbour},
                 {"processes", pair.processes},
                 {"slowdown", json_of(pair.slowdown)}};
  add(result, "class", pair.problem_class);
  add(result, "neighbour_class", pair.neighbour_class);
  return result;
}

json json_of(const OverheadAt& overhead) {
  return {{"processes", overhead.processes}, {"seconds", json_of(overhead.seconds)}};
}

json json_of(const CostsOnNodes& costs);

template <class Value>
void add_list(json& to, const char* key, const std::vector<Value>& values) {
  if (values.empty()) return;
  to[key] = json::array();
  for (const Value& value : values) to[key].push_back(json_of(value));
}

void add_costs(json& to, const JobCosts& costs) {
  add_list(to, "launch", costs.launch);
  add_list(to, "end", costs.end);
  add_list(to, "shrink", costs.shrink);
  add_list(to, "expand", costs.expand);
}

json json_of(const CostsOnNodes& costs) {
  json result = {{"nodes", costs.nodes}};
  add_costs(result, costs);
  return result;
}

}  // namespace

Profile profile_of(const json& value, const std::string& name) {
  const Place place(value, name, "profile");
  check_kind(place);
  Profile profile;
  profile.machine = machine_of(place.at("machine"));
  profile.date = place.at("date").text();
  if (place.has("sample")) profile.is_sample = place.at("sample").flag();
  if (place.has("spread_bound")) profile.spread_bound = place.at("spread_bound").number(0, 10);
  const std::vector<Place> entries = place.list("benchmarks");
  for (const Place& entry : entries) profile.entries.push_back(entry_of(entry));
  refuse_repeated(entries, profile.entries);
  for (const Place& speedup : place.list("speedups")) profile.speedups.push_back(speedup_of(speedup));
  const std::vector<Place> pairs = place.list("pairs");
  for (const Place& pair : pairs) profile.pairs.push_back(pair_of(pair));
  refuse_repeated(pairs, profile.pairs);
  if (place.has("turn_s")) profile.turn_s = place.at("turn_s").number(0, 1);
  take_costs(place, profile);
  profile.over_nodes = over_nodes_of(place, profile.machine.cores);
  profile.message_s = optional_figure(place, "message_s", 0);
  return profile;
}

Profile read_profile(const std::string& path) { return profile_of(read_json<json>(path, "a profile in JSON"), path); }

json to_json(const Profile& profile) {
  json result = {{"format", kProfileFormat},
                 {"version", kProfileVersion},
                 {"sample", profile.is_sample},
                 {"date", profile.date},
                 {"machine", {{"name", profile.machine.name}, {"cores", profile.machine.cores}}}};
  add(result["machine"], "cpu", profile.machine.cpu);
  add(result["machine"], "kernel", profile.machine.kernel);
  add(result["machine"], "mpi", profile.machine.mpi);
  add(result["machine"], "emulated", profile.machine.emulated);
  add(result["machine"], "nodes", profile.machine.nodes);
  if (!profile.machine.hosts.empty()) result["machine"]["hosts"] = profile.machine.hosts;
  if (profile.spread_bound > 0) result["spread_bound"] = profile.spread_bound;
  add_list(result, "benchmarks", profile.entries);
  add_list(result, "speedups", profile.speedups);
  add_list(result, "pairs", profile.pairs);
  if (profile.turn_s) result["turn_s"] = *profile.turn_s;
  add_costs(result, profile);
  add_list(result, "over_nodes", profile.over_nodes);
  add(result, "message_s", profile.message_s);
  return result;
}

void write_profile(const Profile& profile, const std::string& path) { write_json(path, to_json(profile)); }

}  // namespace replay
