// A forecast that was learned from a training workload before the run: the means of each class and the counts of each
// slot of the day. Its file is forecast_file.hpp's.
// Source: SCOJO-P paper, section 4.3.
#pragma once

#include <array>
#include <cstdint>

#include "scheduler/model/workload.hpp"
#include "scheduler/policy/moldable/forecast.hpp"
#include "scheduler/policy/view/training.hpp"

namespace replay {

/// The jobs of a class in the training workload; means are 0 where there are no jobs.
struct TrainedClass {
  std::int64_t jobs = 0;
  double optimum = 0;       ///< mean N_opt
  double at_optimum_s = 0;  ///< mean T(N_opt), by estimate
  double least = 0;         ///< mean sizes that they offer
  double most = 0;
  std::int64_t downey_jobs = 0;  ///< those of them with Downey's curve, and
  double downey_a = 0;           ///< their mean A, each the machine at most
  double downey_sigma = 0;
  std::array<std::int64_t, kForecastSlots> submitted{};  ///< by slot of the day; `jobs` in all

  bool operator==(const TrainedClass&) const = default;
};

struct TrainedForecast {
  Training training;
  std::array<TrainedClass, kJobClasses> classes{};  ///< short, medium, long
  std::array<Duration, kForecastSlots> watched{};   ///< how long each slot of the day was, in all

  bool operator==(const TrainedForecast&) const = default;
};

/// Learns what `predict=past` has learned when the last job is submitted: of all jobs that are submitted before that
/// instant, watched from the trace's zero to it. `training` says which trace that is and which machine; its jobs are
/// counted. Jobs at one instant only: nothing is learned.
[[nodiscard]] TrainedForecast learned_from(const Workload& workload, Training training);

/// The forecast that a policy asks.
[[nodiscard]] Forecast forecast_of(const TrainedForecast& trained);

}  // namespace replay
