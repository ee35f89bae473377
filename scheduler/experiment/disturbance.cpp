#include "scheduler/experiment/disturbance.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

namespace replay::experiment {

// First line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks.
std::optional<MachineTime> machine_time() {
  std::ifstream stat{"/proc/stat"};
  std::string name;
  std::uint64_t field[8] = {};
  stat >> name;
  for (std::uint64_t& value : field) stat >> value;
  if (!stat || name != "cpu") return std::nullopt;
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  MachineTime time;
  for (const std::uint64_t value : field) time.all += static_cast<double>(value) * tick;
  time.busy = time.all - static_cast<double>(field[3] + field[4]) * tick;
  return time;
}

std::optional<double> load_of_others() {
  const auto before = machine_time();
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  const auto after = machine_time();
  if (!before || !after || after->all <= before->all) return std::nullopt;
  return (after->busy - before->busy) / (after->all - before->all);
}

}  // namespace replay::experiment
