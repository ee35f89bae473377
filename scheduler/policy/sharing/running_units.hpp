// All units that run, with their companies, kept from pass to pass; and the nodes of jobs that the policy did not start,
// which hold them until their estimated end and are never matched.
#pragma once

#include <span>
#include <vector>

#include "scheduler/base/pool.hpp"
#include "scheduler/policy/sharing/party.hpp"
#include "scheduler/policy/sharing/units.hpp"
#include "scheduler/policy/view/decision.hpp"

namespace replay::sharing {

class RunningUnits {
 public:
  explicit RunningUnits(Slowdowns& slowdowns) : party_(slowdowns) {}

  /// `job` starts now with nodes for itself.
  Unit& start(KnownJob& job, int per_node, std::vector<Seat> seats, Instant now);
  /// A unit of a group that starts: join_up() says the rest.
  Unit& add(KnownJob& job, int per_node, std::vector<Seat> seats);
  /// These units, which ran alone or start now, are a group from now on. `party` has foreseen it.
  void join_up(std::span<Unit* const> units, const Party& party);
  /// The serial job joins a bundle. `party` has foreseen it.
  void join(KnownJob& job, Unit& bundle, const Party& party);

  /// Jobs whose mark is not `running` have ended. Adds the GroupEnded of groups that are over.
  void follow(Instant now, std::uint64_t running, Decisions& facts);

  [[nodiscard]] std::span<Company* const> companies() const { return companies_; }
  /// Until when nodes are held; without the companies of `but`.
  void held(std::span<const Release> others, std::span<Unit* const> but, Releases& out) const;

 private:
  Company& company_of(Unit& unit);
  void remove_ended(Company& company, Instant now, std::uint64_t running, Decisions& facts);
  void disband(Company& company);
  void foresee(Company& company, Instant now);
  void take_over(Company& company, const Party& party);
  void give_back(Company& company);

  Party party_;
  Pool<Unit> units_;
  Pool<Company> pool_;
  std::vector<Company*> companies_;  // in the order in which they came about
  std::vector<Company*> split_;      // of one follow()
};

/// Adds unit and its mates to `party`, as the first unit or one that shares `covered` nodes with the first.
inline void add_to(Party& party, const Unit& unit, int covered) {
  party.add(unit.jobs, unit.per_node, unit.nodes(), covered);
}

}  // namespace replay::sharing
