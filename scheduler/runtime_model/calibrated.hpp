// The runtime model `calibrated`: how much slower a benchmark gets on fewer cores or beside a neighbour, as it was
// measured on a machine. Jobs that are no benchmark (Behaviour::application is -1) run as under `isolated`. Where
// nothing was measured the shape of formula (3) goes through the nearest point that was:
//   s(m, d) = max(1, c * max(1, m u + d)),  c = s(2, 0) as measured over max(1, 2 u), and 1 if that was not measured;
// m ranks on a core, u the CPU utilisation, d the neighbours' demand. Beside a neighbour and with a core for each rank,
// s(1, d) goes through the measured pairs instead: a neighbour is known by its demand, which is its own CPU
// utilisation, straight lines join the pairs, and beyond the first and the last of them the formula's shape goes on.
// s(1, 0) is 1.
// On another number of nodes than the run time was measured on, all that is multiplied by the measured time there, with
// launch and end, over that time; straight lines join the measured numbers of nodes. Processes never change node, so the
// number stays for the job's life. A profile without figures of several nodes leaves it at 1.
// Source of formula (3): Utrera et al. 2012, section 4.
#pragma once

#include <memory>

#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay {

/// Keeps what it needs of the profile. Applications are indices of Profile::entries. Throws UsageError without a
/// profile.
[[nodiscard]] std::unique_ptr<RuntimeModel> make_calibrated(const ModelFiles& files);

}  // namespace replay
