// What a job declares about itself beyond what a log has fields for: how it can change its size, how its speed depends
// on it, how it gets along with others, how much it matters. Everything is optional: "not stated" is not a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/speedup.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

struct JobTraits {
  std::optional<Flexibility> flexibility{};
  std::optional<ProcessCount> least{}, most{};  ///< sizes a moldable or malleable job runs at: least..most, both >= 1
  std::vector<ProcessCount> sizes{};            ///< the only sizes it runs at, ascending; empty: all from least to most
  std::optional<SpeedupCurve> speedup{};        ///< the logged run time is that of the logged size
  std::optional<double> cpu_use{};              ///< CPUUtil of formula (3) of the FCFS-malleable paper, 0..1
  std::optional<double> network_overhead{};     ///< OV of its formula (4), 0..1
  std::optional<double> user_priority{};        ///< UP of the slack paper, 0..1
  std::optional<double> political_priority{};  ///< PP of the slack paper, 0..1, or -infinity for a job beyond its quota
  std::optional<double> same_cpu_slowdown{};   ///< SL_scr of G-LOMARC-TS: several processes of the job per CPU, > 0
  std::optional<double> same_node_slowdown{};  ///< SL_sno: several of its processes per node, > 0
  std::optional<std::uint64_t> pair_key{};  ///< SL_cos of two jobs is drawn from their keys: co_scheduling_slowdown()

  [[nodiscard]] bool empty() const { return *this == JobTraits{}; }
  bool operator==(const JobTraits&) const = default;
};

}  // namespace replay
