// Events: what the bodies report to the controller. In `sim` they come from virtual time, in `live` from the executor.
// Events that only acknowledge an action (Resized, Suspended, Resumed, Started) change what is physically true, not
// what the policy has planned, so they cause no pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/node_change.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// How a job ended.
enum class Outcome : std::uint8_t {
  kCompleted,  ///< by itself, successfully
  kFailed,     ///< by itself, badly: exit code, signal, a rank that never finalized
  kOverrun,    ///< killed when its estimate was used up
  kKilled,     ///< killed by the policy, as the run was interrupted, or as it could not be resumed
  kCancelled,  ///< taken back by its user, or left the queue as the run was interrupted
  kRejected,   ///< never entered the queue: it needs more cores than the machine has
  kLost        ///< a node on which it ran went down
};

[[nodiscard]] constexpr std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted: return "completed";
    case Outcome::kFailed: return "failed";
    case Outcome::kOverrun: return "overrun";
    case Outcome::kKilled: return "killed";
    case Outcome::kCancelled: return "cancelled";
    case Outcome::kRejected: return "rejected";
    case Outcome::kLost: return "lost";
  }
  return "?";
}

/// Why a job is killed, and which outcome it has for that.
enum class KillReason : std::uint8_t {
  kPolicy,
  kOverrun,
  kCancelled,
  kInterrupted,
  kStuck  ///< it was stopped, and could not be resumed
};

[[nodiscard]] constexpr Outcome outcome_of(KillReason reason) {
  switch (reason) {
    case KillReason::kOverrun: return Outcome::kOverrun;
    case KillReason::kCancelled: return Outcome::kCancelled;
    case KillReason::kPolicy:
    case KillReason::kInterrupted:
    case KillReason::kStuck: return Outcome::kKilled;
  }
  return Outcome::kKilled;
}

[[nodiscard]] constexpr std::string_view to_text(KillReason reason) {
  switch (reason) {
    case KillReason::kPolicy: return "policy";
    case KillReason::kOverrun: return "overrun";
    case KillReason::kCancelled: return "cancelled";
    case KillReason::kInterrupted: return "interrupted";
    case KillReason::kStuck: return "stuck";
  }
  return "?";
}

/// A benchmark's check of its own result.
enum class Verification : std::uint8_t { kNone, kPassed, kFailed };

[[nodiscard]] constexpr std::string_view to_text(Verification verification) {
  switch (verification) {
    case Verification::kNone: return "none";
    case Verification::kPassed: return "passed";
    case Verification::kFailed: return "failed";
  }
  return "?";
}

/// The one record of a job's end. Cores are free when it arrives: its processes are gone.
struct JobEnd {
  Outcome outcome = Outcome::kCompleted;
  int exit_code = 0;
  Verification verification = Verification::kNone;
  double cpu_use = -1;  ///< measured CPU utilisation of formula (3), -1: not measured
  std::string reason;   ///< for a person; empty where the outcome says it all
  bool operator==(const JobEnd&) const = default;
};

struct Submit {
  const TracedJob* traced;  ///< outlives the job's Finish
};
struct Finish {
  JobId job;
  JobEnd end;
};
/// Every rank has been started: the job's time limit begins. Started implies it.
struct Begun {
  JobId job;
};
/// Every rank is registered and on its core. Comes again when the ranks of a job that did not register in time have
/// done so after all, and that counts, unless the job has refused an order.
struct Started {
  JobId job;
  bool malleable;      ///< false: it runs, but cannot share cores, so it is rigid until it is said otherwise
  std::string reason;  ///< why it is not malleable, or why it is only now
};
struct Resized {
  JobId job;
};
struct Suspended {
  JobId job;
};
struct Resumed {
  JobId job;
};
struct Measured {
  JobId job;
  double cpu_use;  ///< so far, 0..1
};
struct Cancel {  ///< a user takes back a waiting job or ends a running one
  JobId job;
};
struct ActionFailed {  ///< the job stays as it was
  JobId job;
  std::string action;  ///< "resize", "suspend" or "resume"; another one leaves an order without its answer
  std::string reason;
};
struct StartDelayed {  ///< a launched job could not be started: that is tried again, on the same cores
  JobId job;
  Duration by;         ///< its estimated end is so much later
  std::string reason;  ///< empty: as before
};
struct Requeue {  ///< a node on which it ran went down: its processes are gone, and it waits again, at its old place
  JobId job;
  std::string reason;
};
struct PutOff {  ///< a launched job cannot be started, and others can: it gives its cores back, and is held back
  JobId job;
  std::string reason;
};
struct PutBack {  ///< it can: it waits again, at its old place
  JobId job;
};
/// A job that another run has started runs as this one begins: before the first pass. It is not resized.
struct Adopted {
  const TracedJob* traced;  ///< outlives the job's Finish
  Allocation allocation;    ///< with no core of a job that was adopted before, unless both are shareable
  Instant started;          ///< by the other run; not after now
  Duration estimate;        ///< in all, with what it was extended by
  Duration left;            ///< of the work that it is estimated at; below zero: so much of its grace is over
  bool has_begun = true;    ///< false: Begun follows
  bool is_ending = false;   ///< the other run has ordered its end
  bool is_asleep = false;   ///< its resume is with the body: Resumed follows
  Allocation moving_to{};   ///< with cores: the other run has moved it there, and Resized follows
};
using Event = std::variant<Adopted, Submit, Finish, Begun, Started, Resized, Suspended, Resumed, Measured, Cancel,
                           ActionFailed, StartDelayed, NodeChange, Requeue, PutOff, PutBack>;

}  // namespace replay
