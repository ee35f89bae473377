// Which jobs may be on one core, one CPU or one node at the same time, checked from an event log: the log is cut into the
// times for which each job held each core, and these are compared in pairs. what_is_wrong() counts the jobs on each core record by
// record; this check does not use its code.
#pragma once

#include <string>

#include "scheduler/model/machine.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

/// What two jobs may have in common. The default is that of all policies that share nothing: nodes and CPUs, on different
/// cores.
struct SharingRule {
  bool cores = false;    ///< two jobs on a core, if both allocations are shareable
  bool packages = true;  ///< jobs on different cores of one CPU
  int jobs_on_node = 0;  ///< at most so many; 0: any number
};

/// The first breach of the rule that lasts longer than an instant; empty if there is none. REQUIRES: the machine of the log.
[[nodiscard]] std::string sharing_error(const MemoryLog& log, const Machine& machine, const SharingRule& rule = {});

}  // namespace replay::test
