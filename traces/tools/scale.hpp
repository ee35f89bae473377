// Scaling of a trace: the same jobs, but closer together, longer, or on another machine. Arrivals, run times and sizes
// are multiplied; what belongs to them follows, so that the shape of each job stays: its request and CPU time follow
// its run time, its think time follows the arrivals, its limits and its speedup curve follow its size. The logged wait
// belongs to a schedule that these jobs never had, so it becomes unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/cleaning.hpp"
#include "traces/rereadable_trace.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

enum class LoadBy : std::uint8_t { kArrivals, kRuntimes };

struct ScaleOptions {
  double arrivals = 1;                      ///< > 0; submit and think times times this
  double runtimes = 1;                      ///< > 0; run, requested and average CPU times times this
  std::optional<CoreCount> sizes{};         ///< the new machine; sizes in proportion
  bool powers_of_two = false;               ///< sizes that are powers of two stay so
  bool exact = false;                       ///< times to the microsecond; else whole seconds stay whole
  std::optional<CoreCount> machine_size{};  ///< of the log; nothing: the header's
  std::optional<double> load{};             ///< offered load to reach, after the factors above
  LoadBy by = LoadBy::kArrivals;
  Oversize oversize = Oversize::kSkip;  ///< what the load has of jobs wider than the machine
};

struct ScaleResult {
  std::uint64_t records = 0;
  double arrivals = 1, runtimes = 1;  ///< the factors used, that of the load included
  std::optional<double> load_before;  ///< offered loads, where a load was asked for
  std::optional<double> load_after;
  CoreCount machine_before = 0, machine_after = 0;
  std::uint64_t sizes_changed = 0;
  std::vector<std::string> odd_lines{};  ///< odd_line_report()
};

/// `size` of a machine of `from` on one of `to` processors: nearest (half up), 1..to; -1 and 0 stay. With
/// `powers_of_two` a power of two becomes the nearest one (half up) that is not more than `to`. REQUIRES: from, to >=
/// 1.
[[nodiscard]] std::int32_t scaled_size(std::int32_t size, CoreCount from, CoreCount to, bool powers_of_two);

/// Offered load is `replay trace info`'s: work of the jobs that the default cleaning rules keep / (machine x time from
/// the first to the last submit). One pass, one more if a load is asked for, one more if nothing says how large the machine
/// is: then it is what the log shows. The header of the scaled trace has the machine that the load is of. `command` goes into
/// it too. Throws UsageError for factors that make no sense, InputError if the machine is not known and sizes are to change,
/// if there is no load, or for a time that becomes longer than SWF has.
ScaleResult scale_trace(const RereadableTrace& trace, TraceWriter& writer, const ScaleOptions& options,
                        std::string_view command);

}  // namespace replay
