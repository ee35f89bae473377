// What policies that put several jobs on a node, or give the machine to one class of jobs at a time, say about it in the
// event log. None of it changes what jobs hold: that follows from starts, suspensions and resumptions.
// Source: G-LOMARC-TS paper, sections 4.1 to 4.7.
#pragma once

#include <string_view>
#include <vector>

#include "scheduler/base/text/field_rule.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// From now on these jobs share nodes: the primary with each of the matched ones, which are in the order of the group.
struct GroupFormed {
  static constexpr std::string_view kWord = "group";
  JobId primary;
  std::vector<JobId> matched;
  int way;      ///< case of the paper: 1 all waited, 2 a waiting primary joins running jobs, 3 a running one is joined
  double gain;  ///< utilisation gain, formula (6)

  static void fields(auto& line, auto& fact) {
    line.field("primary", fact.primary);
    line.field("matched", fact.matched);
    line.field("way", fact.way, FieldRule{"a case, 1 or more", [](int way) { return way >= 1; }});
    line.field("gain", fact.gain);
  }
};
/// The primary or all of its matched jobs have ended; what is left runs on by itself.
struct GroupEnded {
  static constexpr std::string_view kWord = "ungroup";
  JobId primary;

  static void fields(auto& line, auto& fact) { line.field("primary", fact.primary); }
};
/// A group that was not formed, because `delayed` would have had `response`, more than its `limit` R_max (formula 4).
/// Both are in the clock of its virtual machine.
struct MatchRefused {
  static constexpr std::string_view kWord = "refused";
  JobId primary;
  std::vector<JobId> matched;
  double gain;
  JobId delayed;
  Duration response, limit;

  static void fields(auto& line, auto& fact) {
    line.field("primary", fact.primary);
    line.field("matched", fact.matched);
    line.field("gain", fact.gain);
    line.field("delayed", fact.delayed);
    line.field("response", fact.response);
    line.field("limit", fact.limit);
  }
};
/// R_est: the response time estimated at submission, in the clock of its virtual machine.
struct ResponseExpected {
  static constexpr std::string_view kWord = "expected";
  JobId job;
  Duration response;

  static void fields(auto& line, auto& fact) {
    line.field("job", fact.job);
    line.field("response", fact.response);
  }
};
/// The job belongs to the virtual machine of this class.
struct ClassAssigned {
  static constexpr std::string_view kWord = "class";
  JobId job;
  JobClass job_class;

  static void fields(auto& line, auto& fact) {
    line.field("job", fact.job);
    line.field("class", fact.job_class);
  }
};
/// The machine belongs to one class: its jobs run in [begins, ends), and until `begins` jobs are exchanged.
struct SliceBegun {
  static constexpr std::string_view kWord = "slice";
  JobClass job_class;
  Instant begins, ends;

  static void fields(auto& line, auto& fact) {
    constexpr FieldRule kSinceZero{"seconds, 0 or more", [](Instant at) { return at >= Instant{}; }};
    line.field("class", fact.job_class);
    line.field("begins", fact.begins, kSinceZero);
    line.field("ends", fact.ends, kSinceZero);
  }
};

}  // namespace replay
