// The searches of slack-based backfilling: of all schedules that take in a new job, or that use time which has become
// free, the cheapest one. A new job is tried at each instant at which something begins or ends in the plan; jobs
// planned for then or later make room in one order, which a heuristic chooses, or in all orders.
// Source: Talby and Feitelson 1999, sections 4.2 (insert, remove), 4.5 (all orders) and 4.6 (heuristics). We differ in
// `remove`: jobs are lifted out one by one, as plain re-insertion made all heuristics but AST worse than conservative
// backfilling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/slack/slack_price.hpp"

namespace replay {

/// Which job is placed first among those that make room: by ascending scheduled time, ascending arrival time,
/// descending utilisation, descending cost, descending priority; kAll tries every order of up to kMostPermuted jobs,
/// and AST of more.
enum class SlackHeuristic : std::uint8_t { kAst, kAat, kDu, kDc, kDp, kAll };
inline constexpr std::size_t kMostPermuted = 6;

/// A waiting job and its place in the plan.
struct SlackWaiting {
  const Job* job;
  Instant start;  ///< te
  SlackOf slack;

  [[nodiscard]] Instant end() const { return start + job->estimate; }
};

/// A candidate schedule: the start of the new job, and the jobs that move.
struct SlackCandidate {
  struct Move {
    std::size_t which;  ///< of the waiting jobs
    Instant start;
  };
  double price = kImpossible;
  Instant at{};        ///< of the new job; meaningless where there is none
  double earlier = 0;  ///< compress() only: by how many microseconds jobs start earlier, in total
  std::vector<Move> moves;
};

/// Each search finds in `plan` the running jobs and nothing else, and leaves it so; `waiting` is sorted by start.
class SlackSearch {
 public:
  SlackSearch(SlackHeuristic heuristic, const SlackWeights& weights, bool only_full_compression)
      : heuristic_(heuristic), weights_(weights), only_full_compression_(only_full_compression) {}

  /// O(instants x orders x waiting) searches in the plan: each order may end in another
  /// schedule, and its price is known only when all have been placed.
  [[nodiscard]] SlackCandidate insert(const Availability& plan, std::span<const SlackWaiting> waiting, Instant now,
                                      const Job& job, const SlackOf& slack);
  /// The same with the new job at `now`, whatever jobs have to make room; kImpossible if there is no such schedule.
  [[nodiscard]] SlackCandidate insert_now(const Availability& plan, std::span<const SlackWaiting> waiting, Instant now,
                                          const Job& job, const SlackOf& slack);
  /// Time has become free: jobs planned at some instant or later move up. "No job moves" is one of the candidates;
  /// among equal prices the one wins that starts jobs earlier, then the one that moves fewer.
  [[nodiscard]] SlackCandidate compress(Availability& plan, std::span<const SlackWaiting> waiting, Instant now);

  /// How many schedules have been priced so far.
  [[nodiscard]] std::size_t priced() const { return priced_; }

 private:
  using Order = std::vector<std::size_t>;

  void sort(std::span<const SlackWaiting> waiting, const SlackOf& favoured);
  // Whether so many jobs that make room are placed in the order of their planned starts.
  [[nodiscard]] bool is_by_start(std::size_t jobs) const {
    return heuristic_ == SlackHeuristic::kAst || (heuristic_ == SlackHeuristic::kAll && jobs > kMostPermuted);
  }
  template <class Price, class IsBetter>
  SlackCandidate cheapest_order(std::size_t waiting, std::size_t staying, Price price, IsBetter is_better);
  void note_prefixes(const Availability& plan, std::span<const SlackWaiting> waiting, Instant now);
  SlackCandidate insert_at(std::span<const SlackWaiting> waiting, std::size_t staying, Instant now, Instant at,
                           const Job& job, const SlackOf& slack);
  [[nodiscard]] std::size_t first_to_move(std::size_t waiting, std::size_t staying, Instant at, const Job& job) const;
  void place_in_order(std::span<const SlackWaiting> waiting, std::span<const std::size_t> order, bool by_start,
                      Instant now, const SlackOf& favoured, SlackCandidate& candidate);
  void move_up_in_order(Availability& plan, std::span<const SlackWaiting> waiting, const Order& order, Instant now,
                        SlackCandidate& candidate) const;

  SlackHeuristic heuristic_;
  SlackWeights weights_;
  bool only_full_compression_;
  std::size_t priced_ = 0;
  std::vector<Availability> prefixes_;  // plans of the running jobs and the first 0, 1, 2, ... of the waiting ones
  // Whether a job has no hole before its planned start beside the running jobs and those planned to start before it.
  std::vector<bool> is_tight_;
  Order sorted_;                             // by the heuristic
  Order order_;                              // of those that make room
  Availability scratch_{0, Instant::min()};  // while an order is priced
};

}  // namespace replay
