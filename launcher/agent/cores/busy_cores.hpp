// On which cores others compute: processes that are no ranks of jobs here. A sched_yield there gives the core to them for
// ticks, so ranks that share such a core use its token. /proc/stat tells how long a core was busy; what its ranks used
// is taken off.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace replay::launcher {

/// Of one core since the system's start, in clock ticks (sysconf(_SC_CLK_TCK), 10 ms).
struct CoreTime {
  std::uint64_t busy = 0;
  std::uint64_t idle = 0;
  bool operator==(const CoreTime&) const = default;
};

/// By the system's number of the core. Lines that are no core's, or damaged, are left out.
[[nodiscard]] std::map<std::uint32_t, CoreTime> parse_core_times(std::string_view proc_stat);

/// What is known of the cores at one instant.
struct CoreSample {
  std::map<std::uint32_t, CoreTime> times;
  /// The ranks on each core: pid, and the CPU time of all its threads in ns.
  std::map<std::uint32_t, std::map<pid_t, std::uint64_t>> ranks;
};

/// Now. `ranks_on` names the processes of the ranks on each core; those that have gone are left out.
[[nodiscard]] CoreSample sample_cores(const std::map<std::uint32_t, std::vector<pid_t>>& ranks_on);

class BusyCores {
 public:
  /// `tick_ns`: length of a clock tick. `before`: where the first stretch begins.
  BusyCores(std::uint64_t tick_ns, CoreSample before) : tick_ns_(tick_ns), before_(std::move(before)) {}

  /// The cores on which others had at least a tenth of the time since the sample before; a core of which that cannot be
  /// told, since a rank has come or gone meanwhile or there were fewer than ten ticks, is as before.
  const std::set<std::uint32_t>& judge(CoreSample now);

 private:
  [[nodiscard]] bool is_busy(std::uint32_t core, const CoreTime& time, const CoreSample& now) const;

  std::uint64_t tick_ns_;
  CoreSample before_;
  std::set<std::uint32_t> busy_;
};

}  // namespace replay::launcher
