// Puts records into the order that the format asks for: by submit time, then job number. All of them are in memory.
// A record without a submit time (the later bursts of a partial execution, above all) stays below the record it stands
// below.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/trace_stream.hpp"

namespace replay {

struct SortOptions {
  bool renumber = false;  ///< job numbers 1, 2, ... in the new order; fields 17 follow
};

struct SortResult {
  std::uint64_t records = 0;
  std::uint64_t moved = 0;    ///< records that had stood below one that is submitted later
  std::uint64_t orphans = 0;  ///< fields 17 that name no job of the trace, now -1 (only with renumber)
};

/// Sorts entries in memory; returns how many were out of order.
std::uint64_t sort_entries(std::vector<TraceEntry>& entries);

/// `command` goes into the header; the result's `moved` is 0 if the trace already was in order.
SortResult sort_trace(TraceReader& reader, TraceWriter& writer, const SortOptions& options, std::string_view command);

}  // namespace replay
