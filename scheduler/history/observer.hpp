// What is told of the changes in a run: the base of all that makes tables, figures, pictures or files of an event log.
#pragma once

#include <type_traits>
#include <vector>

#include "scheduler/history/job_state.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::history {

/// Of each record all observers of a Follower are told in their order: first of its job, then of the load, then of the record
/// itself. References are valid during the call.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Once, before everything else.
  virtual void on_begin(const log::Header& /*header*/, const Machine& /*machine*/) {}
  /// Before the first record of each instant but the first one: what was told last holds until `now`.
  virtual void on_time(Instant /*now*/) {}
  virtual void on_submit(Instant /*at*/, const JobState& /*job*/) {}
  /// It was launched, resized, suspended, resumed or requeued.
  virtual void on_change(Instant /*at*/, const Before& /*before*/, const JobState& /*job*/) {}
  /// It has ended, as `end` says. `job` is as it was at its end: its cores are free afterwards.
  virtual void on_end(Instant /*at*/, const JobState& /*job*/, const JobEnd& /*end*/) {}
  /// The load from `at` on, after each of the three above, also when it is as before. Of one instant the last one counts.
  virtual void on_load(Instant /*at*/, const Load& /*load*/) {}
  /// A record of one of records(). `job`: the one that it is about, after it; nullptr: it is about none, or about one that has
  /// ended before.
  virtual void on_record(const log::Record& /*record*/, const JobState* /*job*/) {}
  /// The kinds that on_record() is to be called with, always the same.
  [[nodiscard]] virtual log::Kinds records() const { return {}; }
};

/// An observer, and which of its functions do something: the others are not called. Made of a pointer to its own class.
struct ObserverRef {
  template <class Own>
  ObserverRef(Own* own)  // NOLINT(google-explicit-constructor): the same thing
      : observer(own),
        heeds_time(!kIsBase<decltype(&Own::on_time), decltype(&Observer::on_time)>),
        heeds_jobs(!kIsBase<decltype(&Own::on_submit), decltype(&Observer::on_submit)> ||
                   !kIsBase<decltype(&Own::on_change), decltype(&Observer::on_change)> ||
                   !kIsBase<decltype(&Own::on_end), decltype(&Observer::on_end)>),
        heeds_load(!kIsBase<decltype(&Own::on_load), decltype(&Observer::on_load)>) {}

  Observer* observer;
  bool heeds_time, heeds_jobs, heeds_load;

 private:
  // A function that a class does not override has the type of its base.
  template <class Function, class OfBase>
  static constexpr bool kIsBase = std::is_same_v<Function, OfBase>;
};

/// In the order in which they are told.
using Observers = std::vector<ObserverRef>;

/// The cores that figures of a run are shares of: those of its machine, or fewer, where the header states them
/// (`stated-cores`): the log whose schedule it repeats had jobs beside each other that its machine has no cores for.
/// Throws log::BadRecord.
[[nodiscard]] CoreCount stated_cores(const log::Header& header, const Machine& machine);

}  // namespace replay::history
