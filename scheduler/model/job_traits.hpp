// What a job declares about itself beyond what a log has fields for: how it can change its size, how its speed depends
// on it, how it gets along with others, how much it matters. Everything is optional: "not stated" is not a value.
#pragma once

#include <optional>

#include "scheduler/model/declaration.hpp"
#include "scheduler/model/job.hpp"

namespace replay {

/// A row of a side file: a Declaration, and values that go before those of the log.
struct JobTraits : Declaration {
  std::optional<Flexibility> flexibility{};
  std::optional<double> cpu_use{};             ///< CPUUtil of formula (3) of the FCFS-malleable paper, 0..1
  std::optional<double> network_overhead{};    ///< OV of its formula (4), 0..1
  std::optional<double> user_priority{};       ///< UP of the slack paper, 0..1
  std::optional<double> political_priority{};  ///< PP of the slack paper, 0..1, or -infinity for a job beyond its quota
  std::optional<Duration> eligible{};          ///< from the submission until it waits: dependency, begin, hold; >= 0

  [[nodiscard]] bool empty() const { return *this == JobTraits{}; }
  bool operator==(const JobTraits&) const = default;
};

}  // namespace replay
