#include "scheduler/report/page/seeds.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/results/run_folder.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using Place = JsonPlace<ordered_json>;

double number_or_nan(const Place& place, const char* key) {
  return place.has(key) && !place.at(key).is_null() ? place.at(key).as<double>("a number")
                                                    : std::numeric_limits<double>::quiet_NaN();
}

std::vector<MetricInterval> intervals_of(const Place& metrics) {
  std::vector<MetricInterval> intervals;
  if (!metrics.value().is_object()) metrics.fail("an object");
  for (const auto& [name, value] : metrics.value().items()) {
    const Place place = metrics.at(name.c_str());
    intervals.push_back(
        {name, number_or_nan(place, "mean"), number_or_nan(place, "low"), number_or_nan(place, "high")});
  }
  return intervals;
}

}  // namespace

std::optional<SeedsOfRun> seeds_of(const fs::path& run) {
  const fs::path file = run.parent_path().parent_path() / "seeds.json";
  std::error_code error;
  if (!run.parent_path().filename().string().starts_with("seed-") || !fs::exists(file, error)) return std::nullopt;
  const auto object = read_json<ordered_json>(file);
  const std::string name = file.string();
  const Place all(object, name);
  for (const Place& policy : all.list("policies"))
    if (results::folder_name(policy.at("policy").as<std::string>("a policy")) == run.filename().string())
      return SeedsOfRun{all.list("seeds").size(), intervals_of(policy.at("metrics"))};
  return std::nullopt;
}

}  // namespace replay::report
