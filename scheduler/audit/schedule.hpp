// A schedule as an audit reads it: when each job was submitted, started and ended, and what it requested. It does not
// matter which scheduler made it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::audit {

struct Job {
  std::string name;         ///< as the schedule has it, for messages
  std::int64_t number = 0;  ///< orders jobs that were submitted at one instant
  Instant submitted{};
  Instant started = kNever;  ///< kNever: it never ran
  Instant since = kNever;    ///< another scheduler has started it then, and this one has it from `started` on
  Instant ended = kNever;    ///< >= started; kNever: it had not ended when the schedule did
  Instant left = kNever;     ///< of a job that never ran: when it left the queue; kNever: it waited to the end
  CoreCount processors = 1;  ///< >= 1
  Duration estimate{};       ///< > 0; what it asked for
  bool killed =
      false;  ///< by the scheduler when its estimate was over; that comes after the other events of an instant
};

/// A job's place in `Schedule::jobs`.
using Index = std::uint32_t;

struct Schedule {
  std::vector<Job> jobs;  ///< in the order of the file
};

}  // namespace replay::audit
