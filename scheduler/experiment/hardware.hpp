// What a simulation may ask of the computer that it runs on: its cores as a machine. A build that starts real programs answers
// with hwloc; one that only simulates (REPLAY_RUNTIME=OFF) has no hwloc, and takes machines by their numbers alone.
#pragma once

#include <string>

#include "scheduler/model/machine.hpp"

namespace replay::experiment {

/// A machine by "local", "local:CORES", or hwloc's synthetic notation. Throws InputError.
using HardwareReader = Machine (*)(const std::string& text);

/// From now on this is the reader. At program start, before any thread.
void use_hardware_reader(HardwareReader reader);

/// The reader's answer. Throws UsageError in a build without one.
[[nodiscard]] Machine machine_by_hardware(const std::string& text);

/// Cores of this computer that jobs may run on; without a reader the CPUs that this process may use.
[[nodiscard]] CoreCount cores_here();

}  // namespace replay::experiment
