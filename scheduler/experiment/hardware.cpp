#include "scheduler/experiment/hardware.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay::experiment {
namespace {

HardwareReader the_reader = nullptr;  // set at program start, only read afterwards

}  // namespace

void use_hardware_reader(HardwareReader reader) { the_reader = reader; }

Machine machine_by_hardware(const std::string& text) {
  if (the_reader == nullptr)
    throw UsageError(
        fmt::format("--machine {}: this build only simulates and has no hwloc (REPLAY_RUNTIME=OFF); expected "
                    "NODESxPACKAGESxCORES such as 1x1x2, or flat:CORES",
                    text));
  return the_reader(text);
}

CoreCount cores_here() {
  if (the_reader != nullptr) return the_reader("local").size();
  cpu_set_t mine;
  return ::sched_getaffinity(0, sizeof mine, &mine) == 0 ? std::max(1, CPU_COUNT(&mine)) : 1;
}

}  // namespace replay::experiment
