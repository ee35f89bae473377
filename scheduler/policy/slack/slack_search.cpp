#include "scheduler/policy/slack/slack_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>
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

// `now` and the instants at which something begins or ends in the plan, ascending. Of the running jobs and the closed
// nodes these are the steps of `plan`: a node that is up again while a job has all its cores is none.
std::vector<Instant> instants_of(const Availability& plan, std::span<const SlackWaiting> waiting, Instant now) {
  std::vector<Instant> instants{now};
  plan.for_each_step([&](Instant begin, Instant, CoreCount) {
    if (begin > now) instants.push_back(begin);
    return true;
  });
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
  plan.reserve(waiting.start, waiting.end(), cores_needed(*waiting.job));
}

}  // namespace

SlackCandidate SlackSearch::insert(const Availability& plan, std::span<const SlackWaiting> waiting, Instant now,
                                   const Job& job, const SlackOf& slack) {
  note_prefixes(plan, waiting, now);
  SlackCandidate best;  // as conservative backfilling: no job moves
  best.at = prefixes_[waiting.size()].earliest_fit(cores_needed(job), job.estimate, now);
  best.price = price_of_waiting(cores_needed(job), seconds(best.at - now), weights_);

  sort(waiting, slack);
  std::size_t staying = 0;  // those planned before an instant keep their places
  for (const Instant at : instants_of(plan, waiting, now)) {
    while (staying < waiting.size() && waiting[staying].start < at) ++staying;
    if (!prefixes_[staying].fits(cores_needed(job), at, job.estimate)) continue;
    SlackCandidate candidate = insert_at(waiting, staying, now, at, job, slack);
    if (is_better_insert(candidate, best)) best = std::move(candidate);
  }
  return best;
}

SlackCandidate SlackSearch::insert_now(const Availability& plan, std::span<const SlackWaiting> waiting, Instant now,
                                       const Job& job, const SlackOf& slack) {
  if (!plan.fits(cores_needed(job), now, job.estimate)) return {};
  prefixes_.resize(std::max<std::size_t>(prefixes_.size(), 1));
  prefixes_[0].assign(plan);
  is_tight_.assign(waiting.size(), false);  // not worth finding out for one instant
  sort(waiting, slack);
  return insert_at(waiting, 0, now, now, job, slack);
}

// The plans of the running jobs and the first 0, 1, 2, ... of `waiting`.
void SlackSearch::note_prefixes(const Availability& plan, std::span<const SlackWaiting> waiting, Instant now) {
  prefixes_.resize(std::max(prefixes_.size(), waiting.size() + 1));
  prefixes_[0].assign(plan);
  is_tight_.clear();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto& [job, start, slack] = waiting[i];
    is_tight_.push_back(prefixes_[i].earliest_fit_before(cores_needed(*job), job->estimate, now, start) == kNever);
    prefixes_[i + 1].assign(prefixes_[i]);
    reserve(prefixes_[i + 1], waiting[i]);
  }
}

SlackCandidate SlackSearch::insert_at(std::span<const SlackWaiting> waiting, std::size_t staying, Instant now,
                                      Instant at, const Job& job, const SlackOf& slack) {
  const bool by_start = is_by_start(waiting.size() - staying);
  const std::size_t first = by_start ? first_to_move(waiting.size(), staying, at, job) : staying;
  const auto price = [&](const Order& order, SlackCandidate& candidate) {
    candidate.at = at;
    candidate.price = price_of_waiting(cores_needed(job), seconds(at - now), weights_);
    if (first == waiting.size()) return;
    scratch_.assign(prefixes_[first]);
    scratch_.reserve(at, at + job.estimate, cores_needed(job));
    place_in_order(waiting, std::span{order}.subspan(first - staying), by_start, now, slack, candidate);
  };
  return cheapest_order(waiting.size(), staying, price, is_better_insert);
}

// In the order of planned starts: the first job that may move, behind the first `staying`, when `job` is put at `at`.
// A tight one before it finds its place free, and no hole before that. O(log waiting) searches.
std::size_t SlackSearch::first_to_move(std::size_t waiting, std::size_t staying, Instant at, const Job& job) const {
  const auto loose = std::find(is_tight_.begin() + static_cast<std::ptrdiff_t>(staying), is_tight_.end(), false);
  const auto tight = std::views::iota(staying, static_cast<std::size_t>(loose - is_tight_.begin()));
  const auto fits_beside = [&](std::size_t i) { return prefixes_[i + 1].fits(cores_needed(job), at, job.estimate); };
  const auto first = std::ranges::partition_point(tight, fits_beside);
  return std::min(waiting, staying + static_cast<std::size_t>(first - tight.begin()));
}

// Places the jobs in scratch_.
void SlackSearch::place_in_order(std::span<const SlackWaiting> waiting, std::span<const std::size_t> order,
                                 bool by_start, Instant now, const SlackOf& favoured, SlackCandidate& candidate) {
  constexpr Duration kTick{1};
  Instant freed = kNever;  // what jobs that have moved left begins here
  for (const std::size_t i : order) {
    const Job& job = *waiting[i].job;
    // A tight job has no hole before its planned start, but for one that reaches into the time that has become free.
    Instant from = now;
    if (by_start && is_tight_[i])
      from = freed == kNever ? waiting[i].start : std::max(now, freed - job.estimate + kTick);
    const Instant start = scratch_.place(cores_needed(job), job.estimate, from);
    if (start == waiting[i].start) continue;
    candidate.price +=
        cost_of_moving(cores_needed(job), waiting[i].slack, seconds(start - waiting[i].start), favoured, weights_);
    if (std::isinf(candidate.price)) break;
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
  const SlackOf no_job{kAnyPriority, 0, 0, true};
  for (const std::size_t i : order) {
    const Job& job = *waiting[i].job;
    take_back(plan, job, waiting[i].start);
    const Instant start = place(plan, job, now);
    if (start == waiting[i].start) continue;
    candidate.price +=
        cost_of_moving(cores_needed(job), waiting[i].slack, seconds(start - waiting[i].start), no_job, weights_);
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
      by([](const SlackWaiting& w) { return -cores_needed(*w.job) * w.job->estimate.count(); });
      break;
    case SlackHeuristic::kDc:
      by([&](const SlackWaiting& w) { return -cost_of_moving(cores_needed(*w.job), w.slack, 1, favoured, weights_); });
      break;
    case SlackHeuristic::kDp: by([&](const SlackWaiting& w) { return std::tuple{-w.slack.p, arrival(w)}; }); break;
  }
}

}  // namespace replay
