// Random faults on a run over the hosts of tests/support/host-cluster: what is done, where and when follows from a seed. A
// process is killed, or stopped and continued; a host's link is cut, in one direction or both, or slow, and mended; a host
// crashes, and comes back.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/process/process.hpp"
#include "tests/support/random.hpp"

namespace replay::test {

struct HostFault {
  enum class Kind { kKill, kStop, kLink, kCrash };
  Kind kind;
  std::string host;                 ///< empty: where the daemon runs
  std::string what;                 ///< the kind of process, or the state of the link
  int after_launches;               ///< of jobs, until it comes
  std::chrono::milliseconds delay;  ///< since then
  std::chrono::milliseconds lasts;  ///< until the process is continued, the link mended, the host back; 0: for ever
  std::uint64_t lot;                ///< which of several processes

  /// "after 17 launches and 0.213 s: node2: stop rank for 1.204 s"
  [[nodiscard]] std::string to_text() const;
};

/// Five to ten faults on node1 to node`hosts` while `jobs` jobs are launched, in the order of their times. One run in six loses
/// its daemon, by the last fault; at most one host is lost for ever. Of an agent and the process at its door only one is stopped at
/// a time, so that the other one can act.
[[nodiscard]] std::vector<HostFault> draw_faults(Random& random, int hosts, int jobs);

/// Throws faults at a run as it goes on. To be used in a COMMAND of host-cluster.
class HostFaults {
 public:
  /// The run's processes carry `mark` ("NAME=value") in their environment. `on_boot` is called before a crashed host is back.
  HostFaults(std::vector<HostFault> faults, std::string mark, pid_t daemon, std::filesystem::path host_cluster,
             std::function<void(const std::string& host)> on_boot);

  /// Does what is due after so many launches. A fault for which there is no process waits for it, 3 s at most.
  void turn(int launches);
  /// Mends what lasts.
  void end();
  /// A line for each fault that has come, with what it met.
  [[nodiscard]] const std::vector<std::string>& thrown() const { return thrown_; }
  [[nodiscard]] int struck() const { return struck_; }  ///< those that have met something
  [[nodiscard]] bool has_killed_daemon() const { return has_killed_daemon_; }
  [[nodiscard]] bool is_down(const std::string& host) const;
  /// Of the run's processes, those on the host; empty: where the daemon runs.
  [[nodiscard]] std::vector<pid_t> processes_on(const std::string& host) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Mend {
    Clock::time_point at;
    HostFault fault;
    std::vector<Process> stopped;
  };

  bool strike(const HostFault& fault);
  [[nodiscard]] std::optional<Process> victim_of(const HostFault& fault) const;
  void mend(const Mend& one);
  void call(const std::string& words) const;

  std::vector<HostFault> faults_;  // to come
  std::string mark_;
  pid_t daemon_;
  std::filesystem::path host_cluster_;
  std::function<void(const std::string&)> on_boot_;
  std::optional<Clock::time_point> due_;  // of the next one
  std::vector<Mend> lasting_;
  std::vector<std::string> down_;
  std::vector<std::string> thrown_;
  int struck_ = 0;
  bool has_killed_daemon_ = false;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace replay::test
