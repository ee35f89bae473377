// Decisions: what a policy says should happen. The controller checks each one, enters it in its plan, and orders a body
// to carry it out (model/order.hpp) as soon as the cores are there. A policy may leave `Allocation::named` empty where
// cores have names: the controller then chooses them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "scheduler/facts/fact.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/event.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

struct Start {
  JobId job;
  Allocation allocation;
  SizeChoice choice{};  ///< why this size; into the event log, and nowhere else
};
struct Resize {  ///< to this allocation, whatever it was
  JobId job;
  Allocation allocation;
};
struct Suspend {  ///< its cores are free when the body says Suspended
  JobId job;
};
struct Resume {  ///< on the cores it had
  JobId job;
};
struct Kill {
  JobId job;
  KillReason reason = KillReason::kPolicy;
};
struct Extend {  ///< the estimate grows
  JobId job;
  Duration by;
};
struct WakeAt {  ///< asks for a pass at `at`, even when nothing else happens then
  Instant at;
};
struct Note {  ///< into the event log, and nowhere else
  std::string text;
};
using Decision = std::variant<Start, Resize, Suspend, Resume, Kill, Extend, WakeAt, Note, Told>;

/// A reused buffer, in the order in which things should happen.
using Decisions = std::vector<Decision>;

}  // namespace replay
