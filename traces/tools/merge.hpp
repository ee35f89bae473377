// Several traces as one, for a machine or a grid that gets all their jobs: by submit time on a common clock. Job
// numbers are renewed, 1, 2, ...; field 17 follows. User, group, executable, queue and partition n of source s (0, 1,
// ...) of K become n K + s, so that numbers of different sources stay distinct and the source can be read off (n mod
// K); queue 0 stays 0, which the format calls interactive. Where no source has partitions, the partition is the
// source's number, from 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/rereadable_trace.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

enum class Align : std::uint8_t { kStart, kUnix };
enum class MergedMachine : std::uint8_t { kSum, kLargest };

struct MergeOptions {
  Align align = Align::kStart;  ///< the zeros of all logs are one; or UnixStartTime counts
  MergedMachine machine = MergedMachine::kSum;
};

struct MergeResult {
  std::vector<std::uint64_t> records;    ///< of each source
  std::uint64_t orphans = 0;             ///< fields 17 that named no job above
  CoreCount machine = 0;                 ///< 0: a source does not tell
  std::vector<std::string> odd_lines{};  ///< odd_line_report() of all sources
};

/// Every source is read twice: first to see whether it is in order and what it uses. Constant memory, except for a
/// source that uses field 17: some 50 bytes a job. Throws InputError for a source with submit times that descend or are
/// missing, for numbers that do not fit, and for a missing UnixStartTime with Align::kUnix. REQUIRES: two sources at
/// least.
MergeResult merge_traces(const std::vector<RereadableTrace>& sources, TraceWriter& writer, const MergeOptions& options,
                         std::string_view command);

}  // namespace replay
