#include "scheduler/core/core_ledger.hpp"

#include <utility>

namespace replay {

bool CoreLedger::launch(Holding& holding, const Allocation& on) {
  if (!physical_.has_room(on)) return false;
  physical_.take(on);
  holding.cores_ = on;
  return true;
}

bool CoreLedger::begin_resize(Holding& holding, const Allocation& to) {
  const Allocation added = cores_added(holding.cores_, to);
  if (!physical_.has_room(added)) return false;
  physical_.take(added);
  holding.before_ = holding.cores_;
  holding.cores_.cores += added.cores;
  holding.cores_.named.append(added.named);
  holding.moving_to_ = to;
  return true;
}

bool CoreLedger::resume(Holding& holding) {
  if (!physical_.has_room(holding.before_)) return false;
  physical_.take(holding.before_);
  holding.cores_ = holding.before_;
  return true;
}

void CoreLedger::end_resize(Holding& holding) {
  physical_.release(cores_added(holding.moving_to_, holding.cores_));
  holding.cores_ = std::move(holding.moving_to_);
}

void CoreLedger::undo_resize(Holding& holding) {
  physical_.release(cores_added(holding.before_, holding.cores_));
  holding.cores_ = std::move(holding.before_);
}

void CoreLedger::suspend(Holding& holding) {
  physical_.release(holding.cores_);
  holding.before_ = std::exchange(holding.cores_, Allocation{});
}

void CoreLedger::end(Holding& holding) {
  physical_.release(holding.cores_);
  holding.cores_ = Allocation{};
}

}  // namespace replay
