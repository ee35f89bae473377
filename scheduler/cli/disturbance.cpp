#include "scheduler/cli/disturbance.hpp"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

namespace replay::cli {
namespace {

struct CpuTime {
  std::uint64_t busy;
  std::uint64_t all;
};

// First line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks.
std::optional<CpuTime> read_cpu_time() {
  std::ifstream stat{"/proc/stat"};
  std::string name;
  std::uint64_t field[8] = {};
  stat >> name;
  for (std::uint64_t& value : field) stat >> value;
  if (!stat || name != "cpu") return std::nullopt;
  CpuTime time{0, 0};
  for (const std::uint64_t value : field) time.all += value;
  time.busy = time.all - field[3] - field[4];
  return time;
}

}  // namespace

std::optional<double> load_of_others() {
  const auto before = read_cpu_time();
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  const auto after = read_cpu_time();
  if (!before || !after || after->all <= before->all) return std::nullopt;
  return static_cast<double>(after->busy - before->busy) / static_cast<double>(after->all - before->all);
}

}  // namespace replay::cli
