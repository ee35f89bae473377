// Text report of a calibration: tables of a profile's figures, with formula (3) beside the measured values.
#pragma once

#include <string>

#include "scheduler/calibrate/calibration.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay::calibrate {

/// Lines, each ended. `spread` is the bound by which figures are marked.
[[nodiscard]] std::string profile_text(const Profile& profile, double spread);

/// What could not be measured, what did not settle, what there was no time for. Empty when there is nothing to say.
[[nodiscard]] std::string result_text(const CalibrationResult& result, double spread);

}  // namespace replay::calibrate
