// The search for jobs that are worth sharing their nodes with a primary job: steps 1 to 5 of G-LOMARC-TS, section 4.5.
// Fairness, step 6, needs the plan and is tested by the caller.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "scheduler/policy/sharing/party.hpp"
#include "scheduler/policy/sharing/settings.hpp"
#include "scheduler/policy/sharing/units.hpp"

namespace replay::sharing {

/// A waiting job or a running unit that may be in a group.
struct Candidate {
  Unit* running = nullptr;  ///< null: it waits
  std::span<KnownJob* const> jobs;
  int per_node = 1;
  int nodes = 1;
  double remaining = 0;  ///< budget left at PPN 1, in microseconds; a bundle's longest
  std::tuple<Instant, JobId> arrival;
  std::int64_t delay = 0;    ///< KnownJob::delay() if it runs
  double slows_primary = 1;  ///< SL(A, i)
};
[[nodiscard]] Candidate candidate_of(KnownJob& waiting);
[[nodiscard]] Candidate candidate_of(Unit& running, Instant now);

/// Cases 1, 2 and 3 of section 4.4.
enum class Way : std::uint8_t { kWaitingWithWaiting = 1, kWaitingWithRunning = 2, kRunningWithWaiting = 3 };

struct Group {
  Way way{};
  Candidate primary;
  std::vector<Candidate> matched;
  double gain = 0;
};

class GroupSearch {
 public:
  GroupSearch(const Settings& settings, Slowdowns& slowdowns)
      : settings_(settings), slowdowns_(slowdowns), party_(slowdowns) {}

  /// The best groups of `primary` with jobs of `pool`, which are of its class: those that could start on `free` nodes
  /// and have the least gain that is asked for. Each is to be tried, by decreasing gain or, if Settings::takes_first(),
  /// in this order. `pool`: waiting jobs by arrival, or running units. `forced`: in every group, null: none.
  /// The result is valid until the next call.
  std::span<const Group> find(Way way, const Candidate& primary, std::span<const Candidate> pool,
                              const Candidate* forced, int free, Instant now);

  /// Whether `candidate` may be in a group with `primary`: step 1.
  [[nodiscard]] bool suits(const Candidate& primary, Candidate& candidate);

 private:
  using Set = std::vector<Candidate>;
  void select(const Candidate& primary, std::span<const Candidate> pool);
  void sort_blocks();
  void slide(std::size_t first_end);
  void extend(std::size_t from);
  void purify(Group& group);
  void consider(const Set& set);
  [[nodiscard]] bool fits(int nodes) const;
  [[nodiscard]] bool can_start(int nodes) const;
  [[nodiscard]] double gain_of(const Set& set);
  [[nodiscard]] static int nodes_of(const Set& set);

  const Settings& settings_;
  Slowdowns& slowdowns_;
  Party party_;

  // Of the search that is under way.
  Way way_{};
  Candidate primary_;
  std::optional<Candidate> forced_;
  int free_ = 0;
  Instant now_{};
  std::vector<Candidate> kept_;
  std::vector<Group> found_;
  Set set_;
};

}  // namespace replay::sharing
