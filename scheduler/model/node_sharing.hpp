// What policies that put several jobs on a node, or give the machine to one class of jobs at a time, say about it in the
// event log. None of it changes what jobs hold: that follows from starts, suspensions and resumptions.
// Source: G-LOMARC-TS paper, sections 4.1 to 4.7.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// From now on these jobs share nodes: the primary with each of the matched ones, which are in the order of the group.
struct GroupFormed {
  JobId primary;
  std::vector<JobId> matched;
  int way;      ///< case of the paper: 1 all waited, 2 a waiting primary joins running jobs, 3 a running one is joined
  double gain;  ///< utilisation gain, formula (6)
};
/// The primary or all of its matched jobs have ended; what is left runs on by itself.
struct GroupEnded {
  JobId primary;
};
/// A group that was not formed, because `delayed` would have had `response`, more than its `limit` R_max (formula 4).
/// Both are in the clock of its virtual machine.
struct MatchRefused {
  JobId primary;
  std::vector<JobId> matched;
  double gain;
  JobId delayed;
  Duration response, limit;
};
/// R_est: the response time estimated at submission, in the clock of its virtual machine.
struct ResponseExpected {
  JobId job;
  Duration response;
};
/// The job belongs to the virtual machine of this class.
struct ClassAssigned {
  JobId job;
  JobClass job_class;
};
/// The machine belongs to one class: its jobs run in [begins, ends), and until `begins` jobs are exchanged.
struct SliceBegun {
  JobClass job_class;
  Instant begins, ends;
};

}  // namespace replay
