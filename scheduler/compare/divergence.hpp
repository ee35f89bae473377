// Explains why a simulated and a real run of the same jobs part: the first decision without an equal, and the events
// before it. A policy decides the same on the same events in the same order, so where two runs part either two events
// have changed places, or none has and a job ended so much earlier or later that the decisions after it are out of
// step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/compare/decision_list.hpp"
#include "scheduler/compare/first_difference.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

/// A job's submission or its end, in both runs.
struct MovedEvent {
  enum class Kind : std::uint8_t { kSubmission, kEnd } kind{};
  JobId job{};
  Instant simulated{}, real{};
};

/// `first` came before `second` in the simulation, or at the same instant; in the real run it did not, or strictly so.
struct OrderChange {
  MovedEvent first, second;
};

struct Divergence {
  Parting parting;                     ///< a: the simulation, b: the real run
  std::optional<OrderChange> order{};  ///< the change of order nearest to the parting, of those before it
  std::optional<MovedEvent> moved{};   ///< no change of order: the last event before that came at another instant
  Duration tolerance{};
};

/// Nothing: each decision has its equal within the tolerance. Looks for changes of order among the events that lie no
/// further before the parting than any event has moved by then, 1000 at most. O(n log n) for n decisions and jobs.
[[nodiscard]] std::optional<Divergence> first_divergence(const DecisionList& simulated, const DecisionList& real,
                                                         Duration tolerance);

/// What happened, in three sentences: what the simulator did, what the real run did, which event came earlier and by how
/// much. Seconds of trace time.
[[nodiscard]] std::string explain(const Divergence& divergence);

}  // namespace replay::compare
