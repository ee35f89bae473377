#include "scheduler/policy/slack/slack_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "scheduler/policy/plan/running_plan.hpp"

namespace replay {
namespace {

// By price; prices that are equal but for rounding go by `tie`, lower first.
template <class Tie>
bool is_cheaper(const SlackCandidate& a, const SlackCandidate& b, Tie tie) {
  if (std::isinf(a.price) || std::isinf(b.price)) return a.price < b.price;
  constexpr double kRelative = 1e-9;
  const double tolerance = kRelative * std::max(std::abs(a.price), std::abs(b.price));
  if (std::abs(a.price - b.price) > tolerance) return a.price < b.price;
  return tie(a) < tie(b);
}

// A new job: equal prices go to the schedule that moves fewer jobs, then to the earlier start.
bool is_better_insert(const SlackCandidate& a, const SlackCandidate& b) {
  return is_cheaper(a, b, [](const SlackCandidate& c) { return std::tuple{c.moves.size(), c.at}; });
}

// Free time: equal prices go to the schedule that starts jobs earlier, then to the one that moves fewer. Without the
// first rule jobs beyond their quota, which move at no price, would never move up.
bool is_better_compression(const SlackCandidate& a, const SlackCandidate& b) {
  return is_cheaper(a, b, [](const SlackCandidate& c) { return std::tuple{-c.earlier, c.moves.size()}; });
}

// `now` and the instants at which a job begins or ends in the plan, ascending.
std::vector<Instant> instants_of(std::span<const SlackWaiting> waiting, std::span<const Instant> ends, Instant now) {
  std::vector<Instant> instants{now};
  for (const Instant end : ends)
    if (end > now) instants.push_back(end);
  for (const SlackWaiting& one : waiting) {
    instants.push_back(std::max(one.start, now));
    instants.push_back(one.end());
  }
  std::ranges::sort(instants);
  const auto again = std::ranges::unique(instants);
  instants.erase(again.begin(), again.end());
  return instants;
}

void reserve(Availability& plan, const SlackWaiting& waiting) {
  plan.reserve(waiting.start, waiting.end(), waiting.job->processes);
}

}  // namespace

SlackCandidate SlackSearch::insert(Availability& plan, std::span<const SlackWaiting> waiting,
                                   std::span<const Instant> ends, Instant now, const Job& job, const SlackOf& slack) {
  is_tight_.clear();
  for (const SlackWaiting& one : waiting) {
    is_tight_.push_back(plan.earliest_fit_before(one.job->processes, one.job->estimate, now, one.start) == kNever);
    reserve(plan, one);
  }
  SlackCandidate best;  // as conservative backfilling: no job moves
  best.at = plan.earliest_fit(job.processes, job.estimate, now);
  best.price = price_of_waiting(job.processes, seconds(best.at - now), weights_);
  for (const SlackWaiting& one : waiting) take_back(plan, *one.job, one.start);

  sort(waiting, slack);
  std::size_t staying = 0;  // those planned before an instant keep their places
  for (const Instant at : instants_of(waiting, ends, now)) {
    for (; staying < waiting.size() && waiting[staying].start < at; ++staying) reserve(plan, waiting[staying]);
    if (!plan.fits(job.processes, at, job.estimate)) continue;
    SlackCandidate candidate = insert_at(plan, waiting, staying, now, at, job, slack);
    if (is_better_insert(candidate, best)) best = std::move(candidate);
  }
  for (std::size_t i = 0; i < staying; ++i) take_back(plan, *waiting[i].job, waiting[i].start);
  return best;
}

SlackCandidate SlackSearch::insert_now(Availability& plan, std::span<const SlackWaiting> waiting, Instant now,
                                       const Job& job, const SlackOf& slack) {
  if (!plan.fits(job.processes, now, job.estimate)) return {};
  is_tight_.assign(waiting.size(), false);  // not worth finding out for one instant
  sort(waiting, slack);
  return insert_at(plan, waiting, 0, now, now, job, slack);
}

SlackCandidate SlackSearch::insert_at(Availability& plan, std::span<const SlackWaiting> waiting, std::size_t staying,
                                      Instant now, Instant at, const Job& job, const SlackOf& slack) {
  plan.reserve(at, at + job.estimate, job.processes);
  const auto price = [&](const Order& order, SlackCandidate& candidate) {
    candidate.at = at;
    candidate.price = price_of_waiting(job.processes, seconds(at - now), weights_);
    place_in_order(plan, waiting, order, now, slack, candidate);
  };
  SlackCandidate best = cheapest_order(waiting.size(), staying, price, is_better_insert);
  take_back(plan, job, at);
  return best;
}

void SlackSearch::place_in_order(Availability& plan, std::span<const SlackWaiting> waiting, const Order& order,
                                 Instant now, const SlackOf& favoured, SlackCandidate& candidate) {
  constexpr Duration kTick{1};
  const bool by_start = is_by_start(order.size());
  Instant freed = kNever;  // what jobs that have moved left begins here
  scratch_.assign(plan);
  for (const std::size_t i : order) {
    const Job& job = *waiting[i].job;
    Instant from = now;
    if (by_start && is_tight_[i])
      from = freed == kNever ? waiting[i].start : std::max(now, freed - job.estimate + kTick);
    const Instant start = scratch_.place(job.processes, job.estimate, from);
    candidate.price +=
        cost_of_moving(job.processes, waiting[i].slack, seconds(start - waiting[i].start), favoured, weights_);
    if (std::isinf(candidate.price)) break;
    if (start == waiting[i].start) continue;
    candidate.moves.push_back({i, start});
    freed = std::min(freed, waiting[i].start);
  }
}

SlackCandidate SlackSearch::compress(Availability& plan, std::span<const SlackWaiting> waiting, Instant now) {
  constexpr double kAnyPriority = 0.5;  // in favour of no job: the same factor in all prices
  sort(waiting, {kAnyPriority, 0, 0, true});
  for (const SlackWaiting& one : waiting) reserve(plan, one);
  const auto price = [&](const Order& order, SlackCandidate& candidate) {
    candidate.price = 0;
    move_up_in_order(plan, waiting, order, now, candidate);
  };
  SlackCandidate best;
  best.price = 0;  // no job moves
  for (std::size_t staying = 0; staying < waiting.size(); ++staying) {
    if (staying > 0 && waiting[staying].start == waiting[staying - 1].start) continue;
    SlackCandidate candidate = cheapest_order(waiting.size(), staying, price, is_better_compression);
    if (is_better_compression(candidate, best)) best = std::move(candidate);
    if (only_full_compression_) break;
  }
  for (const SlackWaiting& one : waiting) take_back(plan, *one.job, one.start);
  return best;
}

// Takes jobs out of the plan one by one and places each at its earliest hole.
void SlackSearch::move_up_in_order(Availability& plan, std::span<const SlackWaiting> waiting, const Order& order,
                                   Instant now, SlackCandidate& candidate) const {
  constexpr double kAnyPriority = 0.5;
  const SlackOf nobody{kAnyPriority, 0, 0, true};
  for (const std::size_t i : order) {
    const Job& job = *waiting[i].job;
    take_back(plan, job, waiting[i].start);
    const Instant start = place(plan, job, now);
    if (start == waiting[i].start) continue;
    candidate.price +=
        cost_of_moving(job.processes, waiting[i].slack, seconds(start - waiting[i].start), nobody, weights_);
    candidate.earlier += static_cast<double>((waiting[i].start - start).count());
    candidate.moves.push_back({i, start});
  }
  for (const auto& move : candidate.moves) take_back(plan, *waiting[move.which].job, move.start);
  for (const auto& move : candidate.moves) reserve(plan, waiting[move.which]);
}

// `price` fills in a candidate for an order of the jobs behind the first `staying`.
template <class Price, class IsBetter>
SlackCandidate SlackSearch::cheapest_order(std::size_t waiting, std::size_t staying, Price price, IsBetter is_better) {
  SlackCandidate best;
  const auto try_order = [&] {
    SlackCandidate candidate;
    price(order_, candidate);
    ++priced_;
    if (is_better(candidate, best)) best = std::move(candidate);
  };
  order_.clear();
  std::ranges::copy_if(sorted_, std::back_inserter(order_), [&](std::size_t i) { return i >= staying; });
  if (heuristic_ != SlackHeuristic::kAll || waiting - staying > kMostPermuted) {
    try_order();
    return best;
  }
  do try_order();
  while (std::ranges::next_permutation(order_).found);
  return best;
}

// Section 4.6.
void SlackSearch::sort(std::span<const SlackWaiting> waiting, const SlackOf& favoured) {
  sorted_.resize(waiting.size());
  std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
  const auto by = [&](auto key) {
    std::ranges::stable_sort(sorted_, {}, [&](std::size_t i) { return key(waiting[i]); });
  };
  const auto arrival = [](const SlackWaiting& w) { return std::tuple{w.job->submitted, w.job->id}; };
  switch (heuristic_) {
    case SlackHeuristic::kAst:
    case SlackHeuristic::kAll: break;
    case SlackHeuristic::kAat: by(arrival); break;
    case SlackHeuristic::kDu:
      by([](const SlackWaiting& w) { return -w.job->processes * seconds(w.job->estimate); });
      break;
    case SlackHeuristic::kDc:
      by([&](const SlackWaiting& w) { return -cost_of_moving(w.job->processes, w.slack, 1, favoured, weights_); });
      break;
    case SlackHeuristic::kDp: by([&](const SlackWaiting& w) { return std::tuple{-w.slack.p, arrival(w)}; }); break;
  }
}

}  // namespace replay
