// What a job declares about its sizes and about its neighbours: how many processes it can be started with, how its speed
// depends on them, and how much it slows down beside others. Most jobs declare nothing of this.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/speedup.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// Everything is optional: "not stated" is not a value.
struct Declaration {
  std::optional<ProcessCount> least{}, most{};  ///< sizes a moldable or malleable job runs at: least..most, both >= 1
  std::vector<ProcessCount> sizes{};            ///< the only sizes it runs at, ascending; empty: all from least to most
  std::optional<SpeedupCurve> speedup{};        ///< the logged run time is that of the logged size
  std::optional<double> same_cpu_slowdown{};    ///< SL_scr of G-LOMARC-TS: several processes of the job per CPU, > 0
  std::optional<double> same_node_slowdown{};   ///< SL_sno: several of its processes per node, > 0
  std::optional<std::uint64_t> pair_key{};  ///< SL_cos of two jobs is drawn from their keys: co_scheduling_slowdown()

  [[nodiscard]] bool is_empty() const { return *this == Declaration{}; }
  bool operator==(const Declaration&) const = default;
};

/// How sizes change when a trace is brought to another machine.
struct SizeChange {
  double factor;                                     ///< machine after over machine before
  std::function<ProcessCount(ProcessCount)> own;     ///< of a submitted size, and of the optimum of a curve
  std::function<ProcessCount(ProcessCount)> others;  ///< of the other sizes that a job offers; never falls
};

/// Scales sizes and curve; `submitted` is the job's own size before, and stays one of those that it offers. The curve's
/// speedup at the new size is as near to `factor` times the old one as its law can be: the job gets as much slower on
/// half its processors as before.
void scale_sizes(Declaration& declaration, ProcessCount submitted, const SizeChange& change);

/// "4|8|16": a list of sizes as text, and back; nothing if `text` is no ascending list of counts >= 1.
[[nodiscard]] std::string sizes_text(const std::vector<ProcessCount>& sizes);
[[nodiscard]] std::optional<std::vector<ProcessCount>> parse_sizes(std::string_view text);

}  // namespace replay
