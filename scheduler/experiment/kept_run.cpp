#include "scheduler/experiment/kept_run.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"

namespace replay::experiment {
namespace {

using nlohmann::json;
using std::chrono::microseconds;

std::string boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string id;
  std::getline(file, id);
  return id;
}

template <class Clock>
std::int64_t us_of(Clock now) {
  return std::chrono::duration_cast<microseconds>(now.time_since_epoch()).count();
}

template <std::size_t Size>
std::string to_hex(const std::array<std::uint8_t, Size>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

template <std::size_t Size>
std::array<std::uint8_t, Size> bytes_in(const JsonPlace<json>& place) {
  const std::string text = place.text();
  std::array<std::uint8_t, Size> bytes{};
  if (text.size() != 2 * Size || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    place.fail(fmt::format("{} hexadecimal digits", 2 * Size));
  for (std::size_t i = 0; i < Size; ++i)
    bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

json to_json(const KeptAgents::Node& node) {
  return {{"host", node.host},
          {"agent", node.address},
          {"session", to_hex(node.session)},
          {"cores", node.hello.cores},
          {"packages", node.hello.packages},
          {"emulated", node.hello.emulated},
          {"node", node.hello.host},
          {"started", node.is_started_by_us}};
}

KeptAgents::Node node_of(const JsonPlace<json>& place) {
  KeptAgents::Node node;
  node.host = place.at("host").text();
  node.address = place.at("agent").text();
  node.session = bytes_in<std::tuple_size_v<protocol::SessionId>>(place.at("session"));
  node.hello.cores = place.at("cores").as<std::vector<std::int32_t>>("a list of cores");
  node.hello.packages = place.at("packages").count();
  node.hello.emulated = place.at("emulated").flag();
  node.hello.host = place.at("node").text();
  node.is_started_by_us = place.at("started").flag();
  return node;
}

}  // namespace

KeptRun KeptRun::now(KeptAgents agents) {
  return {boot_id(), us_of(std::chrono::steady_clock::now()), us_of(std::chrono::system_clock::now()),
          std::move(agents)};
}

KeptRun KeptRun::parse(const std::string& text, const std::string& file) {
  json value;
  try {
    value = parse_json<json>(text);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
  const JsonPlace<json> all{value, file};
  KeptRun run;
  run.boot = all.at("boot").text();
  run.steady_us = all.at("steady_us").as<std::int64_t>("microseconds");
  run.unix_us = all.at("unix_us").as<std::int64_t>("microseconds");
  run.agents.key = bytes_in<std::tuple_size_v<protocol::LinkKey>>(all.at("key"));
  for (const auto& node : all.list("nodes")) run.agents.nodes.push_back(node_of(node));
  if (run.agents.nodes.empty()) all.fail("a node");
  return run;
}

std::string KeptRun::to_text() const {
  json nodes = json::array();
  for (const KeptAgents::Node& node : agents.nodes) nodes.push_back(to_json(node));
  return json{{"boot", boot},
              {"steady_us", steady_us},
              {"unix_us", unix_us},
              {"key", to_hex(agents.key)},
              {"nodes", std::move(nodes)}}
      .dump();
}

std::chrono::steady_clock::time_point KeptRun::started() const {
  const auto now = std::chrono::steady_clock::now();
  if (boot == boot_id()) return std::chrono::steady_clock::time_point{microseconds{steady_us}};
  return now - microseconds{us_of(std::chrono::system_clock::now()) - unix_us};
}

}  // namespace replay::experiment
