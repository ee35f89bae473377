// Measures the load of other processes on this machine, before and after a real run: a run that shared its cores with
// them measures them too, and is marked as disturbed.
#pragma once

#include <optional>

namespace replay::experiment {

/// Share of this machine's CPU time, 0..1, that other processes use: measured over 300 ms while this process sleeps.
/// Counts time stolen by a hypervisor. Nothing where /proc/stat cannot be read.
[[nodiscard]] std::optional<double> load_of_others();

/// CPU time of this machine since boot, used and total, in s over all its hardware threads. In steps of 10 ms. Nothing
/// where /proc/stat cannot be read.
struct MachineTime {
  double busy = 0;
  double all = 0;
};
[[nodiscard]] std::optional<MachineTime> machine_time();

/// From this share on a run counts as disturbed.
inline constexpr double kDisturbed = 0.1;

}  // namespace replay::experiment
