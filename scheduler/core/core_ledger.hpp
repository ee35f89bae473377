// The ledger of cores: which ones are free by the plan, and which ones are free in truth.
//
// Invariant, between any two calls:
//   planned  = the machine without the allocations of the started jobs, except those suspended or gone in plan;
//   physical = the machine without what all Holdings have.
// A core enters a Holding when an order that needs it goes to the body, and leaves it when the body has answered that
// the job's processes are gone from it. So a core is in two Holdings only where both jobs share it, and an order never
// brings a job to a core that another job has not left. FreeCores stops the program when a core is taken twice.
// docs/adr/0005-planned-and-physical-cores.md has the reasons for two ledgers.
#pragma once

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {

/// The cores that one job really has. Only the ledger changes them.
class Holding {
 public:
  /// None before the launch, while suspended and after the end. While a resize is with the body: also the cores that it
  /// adds.
  [[nodiscard]] const Allocation& cores() const { return cores_; }
  /// Those that it had when it was suspended, and comes back to. REQUIRES: it is suspended.
  [[nodiscard]] const Allocation& before() const { return before_; }

 private:
  friend class CoreLedger;

  Allocation cores_;
  Allocation moving_to_;  // while a resize is with the body
  Allocation before_;     // cores_ before the resize that is under way, or before the suspension
};

class CoreLedger {
 public:
  /// All of `machine`, which must outlive this.
  explicit CoreLedger(const Machine& machine) : planned_(machine), physical_(machine) {}

  /// What policies see as free.
  [[nodiscard]] const FreeCores& planned() const { return planned_; }
  [[nodiscard]] const FreeCores& physical() const { return physical_; }

  /// A decision gives a job these cores, or takes them from it. REQUIRES: planned().has_room() for plan(), and planned
  /// before for give_up().
  void plan(const Allocation& allocation) { planned_.take(allocation); }
  void give_up(const Allocation& allocation) { planned_.release(allocation); }

  /// Cores that come free there stay away until open().
  void close(NodeId node, Instant until) { planned_.close(node, until), physical_.close(node, until); }
  void open(NodeId node) { planned_.open(node), physical_.open(node); }

  // Cores that a job comes to: false, and nothing is changed, while others still have them. With true the order has to
  // go to the body.
  /// REQUIRES: it has none.
  [[nodiscard]] bool launch(Holding& holding, const Allocation& on);
  /// REQUIRES: it has some, and no resize is with the body.
  [[nodiscard]] bool begin_resize(Holding& holding, const Allocation& to);
  /// On the cores that it had. REQUIRES: suspended.
  [[nodiscard]] bool resume(Holding& holding);

  // Cores that a job has left, as the body says.
  /// REQUIRES: begin_resize().
  void end_resize(Holding& holding);
  /// The resize has failed: the job is where it was. REQUIRES: begin_resize().
  void undo_resize(Holding& holding);
  void suspend(Holding& holding);
  /// The holding can be launched again, for another job.
  void end(Holding& holding);

 private:
  FreeCores planned_;
  FreeCores physical_;
};

}  // namespace replay
