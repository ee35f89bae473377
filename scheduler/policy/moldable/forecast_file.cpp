#include "scheduler/policy/moldable/forecast_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "scheduler/base/json/json_place.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/json/write_json.hpp"

namespace replay {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;  // members are written in the order in which they are read best

using Place = JsonPlace<json>;

constexpr const char* kForecastFormat = "replay-forecast";
constexpr std::int64_t kMostJobs = 1'000'000'000'000;
constexpr double kLongestTime = 1e9;  // s, of a job at its optimum and of a slot: exact to a microsecond
constexpr double kLargestSigma = 1e6;

// ---- reading ----

std::int64_t jobs_at(const Place& place, const char* key) {
  const Place at = place.at(key);
  const auto fail = [&] { at.fail("a count of jobs"); };
  if (!at.value().is_number_integer()) fail();
  const auto jobs = at.value().get<std::int64_t>();
  if (jobs < 0 || jobs > kMostJobs) fail();
  return jobs;
}

Training training_of(const Place& place) {
  Training training;
  training.trace = place.at("trace").text();
  if (training.trace.empty()) place.at("trace").fail("the name of a file");
  training.sha256 = place.at("sha256").text();
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (training.sha256.size() != 64 || !std::ranges::all_of(training.sha256, is_digit))
    place.at("sha256").fail("64 hexadecimal digits, as sha256sum prints them");
  training.jobs = jobs_at(place, "jobs");
  training.machine = place.at("machine").count();
  return training;
}

TrainedClass class_of(const Place& place, CoreCount machine) {
  TrainedClass means;
  means.jobs = jobs_at(place, "jobs");
  if (means.jobs == 0) return means;
  means.optimum = place.at("mean_optimum").number(1, machine);
  means.at_optimum_s = place.at("mean_time_at_optimum_s").number(0, kLongestTime);
  means.least = place.at("mean_least").number(1, machine);
  means.most = place.at("mean_most").number(means.least, machine);
  means.downey_jobs = place.has("downey_jobs") ? jobs_at(place, "downey_jobs") : 0;
  if (means.downey_jobs > means.jobs)
    place.at("downey_jobs").fail(fmt::format("at most the {} jobs of the class", means.jobs));
  if (means.downey_jobs == 0) return means;
  means.downey_a = place.at("mean_a").number(1, machine);
  means.downey_sigma = place.at("mean_sigma").number(0, kLargestSigma);
  return means;
}

void read_slots(const Place& place, TrainedForecast& forecast) {
  const std::vector<Place> slots = place.elements();
  if (slots.size() != kForecastSlots) place.fail(fmt::format("{} half hours", kForecastSlots));
  for (std::size_t i = 0; i < kForecastSlots; ++i) {
    if (slots[i].at("time").text() != time_of_slot(i)) slots[i].at("time").fail(fmt::format("\"{}\"", time_of_slot(i)));
    forecast.watched[i] = Duration{std::llround(slots[i].at("watched_s").number(0, kLongestTime) * 1e6)};
    for (std::size_t c = 0; c < kJobClasses; ++c)
      forecast.classes[c].submitted[i] = jobs_at(slots[i], to_text(static_cast<JobClass>(c)).data());
  }
}

// Counts stand there twice: of one of them it would not be known which one is wrong.
void expect_sums(const Place& place, const TrainedForecast& forecast) {
  std::int64_t all = 0;
  for (std::size_t c = 0; c < kJobClasses; ++c) {
    std::int64_t submitted = 0;
    for (const std::int64_t jobs : forecast.classes[c].submitted) submitted += jobs;
    if (submitted != forecast.classes[c].jobs)
      place.at("classes")
          .at(to_text(static_cast<JobClass>(c)).data())
          .at("jobs")
          .fail(fmt::format("the {} jobs of all its slots", submitted));
    all += submitted;
  }
  if (all != forecast.training.jobs)
    place.at("trained_on").at("jobs").fail(fmt::format("the {} jobs of all classes", all));
}

// ---- writing ----

ordered_json json_of(const TrainedClass& means) {
  ordered_json members = {{"jobs", means.jobs}};
  if (means.jobs == 0) return members;
  members["mean_optimum"] = means.optimum;
  members["mean_time_at_optimum_s"] = means.at_optimum_s;
  members["mean_least"] = means.least;
  members["mean_most"] = means.most;
  members["downey_jobs"] = means.downey_jobs;
  if (means.downey_jobs == 0) return members;
  members["mean_a"] = means.downey_a;
  members["mean_sigma"] = means.downey_sigma;
  return members;
}

}  // namespace

std::string time_of_slot(std::size_t slot) { return fmt::format("{:02}:{:02}", slot / 2, slot % 2 * 30); }

TrainedForecast trained_forecast_of(const json& value, const std::string& name) {
  const Place place(value, name, "forecast");
  const std::string expected = fmt::format("a forecast (\"format\": \"{}\")", kForecastFormat);
  if (!place.has("format")) place.fail(expected);
  if (place.at("format").text() != kForecastFormat) place.at("format").fail(expected);
  if (const int version = place.at("version").count(); version != kForecastVersion)
    place.at("version").fail(fmt::format("{}: replay trace forecast writes a new one", kForecastVersion));
  TrainedForecast forecast{.training = training_of(place.at("trained_on"))};
  for (std::size_t c = 0; c < kJobClasses; ++c)
    forecast.classes[c] =
        class_of(place.at("classes").at(to_text(static_cast<JobClass>(c)).data()), forecast.training.machine);
  read_slots(place.at("slots"), forecast);
  expect_sums(place, forecast);
  return forecast;
}

TrainedForecast read_forecast(const std::string& path) {
  return trained_forecast_of(read_json<json>(path, "a forecast in JSON"), path);
}

ordered_json to_json(const TrainedForecast& forecast) {
  const Training& training = forecast.training;
  ordered_json json = {{"format", kForecastFormat},
                       {"version", kForecastVersion},
                       {"trained_on",
                        {{"trace", training.trace},
                         {"sha256", training.sha256},
                         {"jobs", training.jobs},
                         {"machine", training.machine}}}};
  for (std::size_t c = 0; c < kJobClasses; ++c)
    json["classes"][std::string{to_text(static_cast<JobClass>(c))}] = json_of(forecast.classes[c]);
  for (std::size_t i = 0; i < kForecastSlots; ++i) {
    ordered_json slot = {{"time", time_of_slot(i)}, {"watched_s", seconds(forecast.watched[i])}};
    for (std::size_t c = 0; c < kJobClasses; ++c)
      slot[std::string{to_text(static_cast<JobClass>(c))}] = forecast.classes[c].submitted[i];
    json["slots"].push_back(std::move(slot));
  }
  return json;
}

void write_forecast(const TrainedForecast& forecast, const std::string& path) { write_json(path, to_json(forecast)); }

}  // namespace replay
