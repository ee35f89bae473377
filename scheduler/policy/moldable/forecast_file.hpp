// Reads and writes the file of a forecast that was learned from a training workload, NAME.forecast.json: JSON, versioned
// (docs/formats/forecast.md). A file of another version or kind, or with an impossible figure, is refused with the place
// in it and what was expected there.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "scheduler/policy/moldable/trained_forecast.hpp"

namespace replay {

inline constexpr int kForecastVersion = 1;

/// Throws InputError "file: place: expected ..., found ...".
[[nodiscard]] TrainedForecast read_forecast(const std::string& path);
/// `name`: the file's name in messages.
[[nodiscard]] TrainedForecast trained_forecast_of(const nlohmann::json& json, const std::string& name);

/// What is read back from it is equal to the forecast.
[[nodiscard]] nlohmann::ordered_json to_json(const TrainedForecast& forecast);
/// Replaces the file when the new one is complete. Throws InputError when it cannot be written.
void write_forecast(const TrainedForecast& forecast, const std::string& path);

/// When a slot of the day begins: "00:30".
[[nodiscard]] std::string time_of_slot(std::size_t slot);

}  // namespace replay
