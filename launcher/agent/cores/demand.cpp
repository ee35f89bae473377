#include "launcher/agent/cores/demand.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

constexpr Demand::Time kWindow = 250ms;  // of ten iterations or so of a job that sleeps in short portions
constexpr double kIdleShare = 0.01;      // a process that wants less is a shell or the like
constexpr double kFits = 1.1;      // 1, and what MPI and the switches between processes add to a job's own computing
constexpr double kComputes = 0.8;  // a job that wants less sleeps now and then, and would do so in its turns

}  // namespace

void Demand::add(const Use& use) {
  window_.length += use.length;
  window_.computed += use.computed;
  window_.kept += use.kept;
  window_.blocked += use.blocked;
  if (window_.length < kWindow) return;
  const Use whole = std::exchange(window_, {});
  const Time wanted = whole.computed + whole.blocked, had = whole.length - whole.kept;
  share_ = wanted < had ? static_cast<double>(wanted.count()) / static_cast<double>(had.count()) : 1;
}

double demand_of_job(std::vector<double> of_processes, std::size_t cores) {
  std::erase_if(of_processes, [](double share) { return share < kIdleShare; });
  std::ranges::sort(of_processes, std::greater{});
  const std::size_t on_a_core = (of_processes.size() + cores - 1) / cores;
  of_processes.resize(on_a_core);
  return std::min(1.0, std::accumulate(of_processes.begin(), of_processes.end(), 0.0));
}

void keep_contended(std::vector<Turns::Job>& jobs) {
  struct Core {
    double demand = 0, most = 0;
    [[nodiscard]] bool needs_turns() const { return most > kComputes && demand > kFits; }
  };
  std::map<std::uint32_t, Core> cores;
  for (const Turns::Job& job : jobs)
    for (const std::uint32_t core : job.cores) {
      cores[core].demand += job.demand;
      cores[core].most = std::max(cores[core].most, job.demand);
    }
  for (Turns::Job& job : jobs) std::erase_if(job.cores, [&](std::uint32_t core) { return !cores[core].needs_turns(); });
  std::erase_if(jobs, [](const Turns::Job& job) { return job.cores.empty(); });
}

}  // namespace replay::launcher
