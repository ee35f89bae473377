// Jobs that share real cores take turns (cores/turns.hpp) where they need them (cores/demand.hpp): all processes of a job
// that is off turn are stopped by SIGSTOP, and continued for its turn. It looks twice in a turn, each millisecond while a
// job with turns seems to wait, and not at all while no two jobs share a core.
// A job that is about to end, or to be stopped by an order, leaves first, so that whatever else is done to a job finds
// its processes as they were without turns. Should this process die, the guard continues them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "launcher/agent/cores/demand.hpp"
#include "launcher/agent/cores/turns.hpp"
#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/left_processes.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

class JobTurns {
 public:
  /// REQUIRES: turn > 0; real cores.
  JobTurns(event_base* loop, NodeCores& cores, Guard& guard, std::chrono::microseconds turn);

  /// The job has started: its processes may be stopped until it leaves. It stays at its place until then.
  void join(JobContext& job);
  enum class Leaving : std::uint8_t { kRunning, kAsItIs };
  /// Its processes run, or stay stopped for an order that stops them anyway. Nothing happens to a job that is not here.
  void leave(JobId job, Leaving how = Leaving::kRunning);
  /// The cores of a job have changed.
  void look();
  /// Finds the processes that the job has started or ended since. Once a second.
  void refresh(JobId job);

 private:
  struct Seen {
    std::uint64_t at_ns = 0;
    std::uint64_t cpu_ns = 0;
    JobSegment::Waiting waiting{};
    std::uint64_t polled_ns = 0;  // last look at which it had polled in vain in this call; 0: none since it runs
  };
  /// Times in ns since its start.
  struct Counted {
    std::uint64_t at = 0, computed = 0, kept = 0, blocked = 0;
  };
  /// A process of a job, and what was last seen of it.
  struct Known {
    Process process;
    std::int64_t slot = -1;  // of its rank; -1: it has none
    Seen seen{};
    std::optional<Counted> counted{};  // none: it was stopped since, or never looked at
    Demand demand{};
  };
  struct Member {
    JobContext* job;
    std::vector<Known> processes{};
    bool is_stopped = false;
  };

  [[nodiscard]] static std::vector<Known> processes_of(const JobContext& job);
  [[nodiscard]] std::vector<Turns::Job> those_that_share();
  enum class Doing : std::uint8_t { kWaiting, kPerhapsWaiting, kComputing };
  /// The most of what its processes do.
  [[nodiscard]] static Doing look_at(Member& member);
  [[nodiscard]] static Doing look_at(Known& known, const JobSegment* segment);
  /// Nothing: it is gone, or the kernel does not count what it was kept waiting.
  [[nodiscard]] static std::optional<Counted> count(const Known& known, const JobSegment* segment);
  static void ask_demand_of(Known& known, const JobSegment* segment);
  void stop(JobId id, Member& member);
  void go_on(JobId id, Member& member);

  NodeCores& cores_;
  Guard& guard_;
  Turns turns_;
  std::chrono::milliseconds between_looks_;
  bool is_a_job_perhaps_waiting_ = false;  // at the last look
  std::map<JobId, Member> members_;
  LoopEvent timer_;
};

}  // namespace replay::launcher
