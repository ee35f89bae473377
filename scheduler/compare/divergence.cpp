#include "scheduler/compare/divergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace replay::compare {
namespace {

using metrics::JobRow;

constexpr std::size_t kMostEvents = 1000;
constexpr std::size_t kMostDecisions = 4;  // of one run, that are shown

Duration shift(const MovedEvent& event) { return apart(event.simulated, event.real); }
// ---- events ----

// The events that happened in both runs, without those after `last` in both.
std::vector<MovedEvent> events_until(const metrics::JobTable& simulated, const metrics::JobTable& real, Instant last) {
  std::vector<MovedEvent> events;
  const auto add = [&](MovedEvent::Kind kind, JobId job, Instant in_s, Instant in_r) {
    if (in_s != kNever && in_r != kNever && std::min(in_s, in_r) <= last) events.push_back({kind, job, in_s, in_r});
  };
  for (const JobRow& s : simulated.rows()) {
    const JobRow* const r = real.find(s.job);
    if (r == nullptr) continue;
    add(MovedEvent::Kind::kSubmission, s.job, s.submitted, r->submitted);
    add(MovedEvent::Kind::kEnd, s.job, s.finished, r->finished);
  }
  return events;
}

// The events near the parting. Only an event that is no further from it than events have moved can have changed places
// with one at the parting.
std::vector<MovedEvent> near(std::vector<MovedEvent> events, Instant parting, Duration tolerance) {
  Duration furthest = tolerance;
  for (const MovedEvent& event : events) furthest = std::max(furthest, shift(event));
  const auto distance = [&](const MovedEvent& e) {
    return std::min(apart(e.simulated, parting), apart(e.real, parting));
  };
  std::erase_if(events, [&](const MovedEvent& event) { return distance(event) > furthest; });
  if (events.size() > kMostEvents) {
    std::ranges::nth_element(events, events.begin() + kMostEvents, {}, distance);
    events.resize(kMostEvents);
  }
  std::ranges::sort(events, [](const MovedEvent& a, const MovedEvent& b) {
    return std::tie(a.simulated, a.real, a.job, a.kind) < std::tie(b.simulated, b.real, b.job, b.kind);
  });
  return events;
}

bool changed_places(const MovedEvent& first, const MovedEvent& second) {
  const bool tie = first.simulated == second.simulated;
  return tie ? first.real != second.real : first.real >= second.real;
}

// Orders the candidates: the smallest is most likely the cause. One instant of the simulation is always several in a
// real run, so such a pair comes after one that really has changed places. Then by its nearest instant, as the decision
// followed one of the two events, then by all four.
std::tuple<bool, Duration, Duration> distance_of(const OrderChange& pair, Instant parting) {
  const Duration all[] = {apart(pair.first.simulated, parting), apart(pair.first.real, parting),
                          apart(pair.second.simulated, parting), apart(pair.second.real, parting)};
  return {pair.first.simulated == pair.second.simulated, std::ranges::min(all), all[0] + all[1] + all[2] + all[3]};
}

std::optional<OrderChange> nearest_change(const std::vector<MovedEvent>& events, Instant parting) {
  std::optional<OrderChange> nearest;
  for (std::size_t i = 0; i < events.size(); ++i)
    for (std::size_t k = i + 1; k < events.size(); ++k) {
      if (!changed_places(events[i], events[k])) continue;
      const OrderChange pair{events[i], events[k]};
      if (!nearest || distance_of(pair, parting) < distance_of(*nearest, parting)) nearest = pair;
    }
  return nearest;
}

std::optional<MovedEvent> last_moved(const std::vector<MovedEvent>& events, Instant parting) {
  std::optional<MovedEvent> last;
  const auto when = [](const MovedEvent& event) { return std::min(event.simulated, event.real); };
  for (const MovedEvent& event : events)
    if (event.simulated != event.real && when(event) <= parting && (!last || when(event) >= when(*last))) last = event;
  return last;
}

// ---- words ----

std::string at_text(Instant at) { return fmt::format("at {:.2f} s", seconds(at)); }

std::string side_text(std::string_view name, const PartingSide& side) {
  std::string text{name};
  if (!side.did.empty()) {
    for (std::size_t i = 0; i < std::min(side.did.size(), kMostDecisions); ++i)
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", text_of(side.did[i], DecisionDetails::kBrief),
                          at_text(side.did[i].at));
    if (side.did.size() > kMostDecisions) text += fmt::format(", and {} more", side.did.size() - kMostDecisions);
    return text;
  }
  if (!side.decision) return text + " does nothing of that kind";
  return text +
         fmt::format(" {} only {}", text_of(*side.decision, DecisionDetails::kBrief), at_text(side.decision->at));
}

std::string event_text(const MovedEvent& event) {
  return fmt::format("job {} {}", number(event.job), event.kind == MovedEvent::Kind::kSubmission ? "came" : "ended");
}

// "job 3 ended 1.20 s before job 8 came (at 348.90 s)"
std::string order_text(const MovedEvent& earlier, const MovedEvent& later, Instant MovedEvent::*run) {
  const Duration gap = later.*run - earlier.*run;
  if (gap == Duration::zero())
    return fmt::format("{} and {} at the same instant ({})", event_text(earlier), event_text(later),
                       at_text(earlier.*run));
  return fmt::format("{} {:.3f} s before {} ({})", event_text(earlier), seconds(gap), event_text(later),
                     at_text(earlier.*run));
}

std::string cause_text(const Divergence& divergence) {
  if (divergence.order) {
    const auto& [first, second] = *divergence.order;
    const bool same_way = first.real <= second.real;  // only where the simulation had them at one instant
    return fmt::format(
        "In the simulation {}; in the real run {}.", order_text(first, second, &MovedEvent::simulated),
        same_way ? order_text(first, second, &MovedEvent::real) : order_text(second, first, &MovedEvent::real));
  }
  if (!divergence.moved) return "All events before came at the same instants in both.";
  const MovedEvent& event = *divergence.moved;
  return fmt::format("No two events near it changed places; {} {:.3f} s {} in the real run ({}).", event_text(event),
                     seconds(shift(event)), event.real > event.simulated ? "later" : "earlier", at_text(event.real));
}

}  // namespace

std::optional<Divergence> first_divergence(const DecisionList& simulated, const DecisionList& real,
                                           Duration tolerance) {
  auto parting = first_difference(simulated, real, {.tolerance = tolerance});
  if (!parting) return std::nullopt;
  Divergence result{std::move(*parting), {}, {}, tolerance};
  const Instant at = result.parting.at;
  const auto events = near(events_until(simulated.jobs(), real.jobs(), at + tolerance), at, tolerance);
  result.order = nearest_change(events, at);
  if (!result.order) result.moved = last_moved(events, at);
  return result;
}

std::string explain(const Divergence& divergence) {
  const std::string within = divergence.tolerance > Duration::zero()
                                 ? fmt::format(" (within {} s)", to_text(divergence.tolerance))
                                 : std::string{};
  return fmt::format("They decide the same{} until {:.2f} s, job {}: {}; {}. {}", within,
                     seconds(divergence.parting.at), number(divergence.parting.job),
                     side_text("the simulator", divergence.parting.a), side_text("the real run", divergence.parting.b),
                     cause_text(divergence));
}

}  // namespace replay::compare
