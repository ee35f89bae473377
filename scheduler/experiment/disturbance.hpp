// Is anybody else using this machine? Asked before and after a real run: a run that shared its cores with strangers
// measures the strangers too, and is marked.
#pragma once

#include <optional>

namespace replay::experiment {

/// Share of this machine's CPU time, 0..1, that others use: measured over 300 ms while this process sleeps. Counts time
/// stolen by a hypervisor. Nothing where /proc/stat cannot be read.
[[nodiscard]] std::optional<double> load_of_others();

/// CPU time of this machine since it was started, in s over all its hardware threads: what has been used, and what there
/// was to use. In steps of 10 ms. Nothing where /proc/stat cannot be read.
struct MachineTime {
  double busy = 0;
  double all = 0;
};
[[nodiscard]] std::optional<MachineTime> machine_time();

/// From this share on a run counts as disturbed.
inline constexpr double kDisturbed = 0.1;

}  // namespace replay::experiment
