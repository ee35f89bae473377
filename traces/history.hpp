// Changes of a trace's header by a tool: it adds the line that says how the trace was made, and removes counts that
// have become wrong. All notes of the source stay, above all acknowledgements.
#pragma once

#include <string_view>

#include "traces/swf_header.hpp"

namespace replay {

/// The label that says which command made a trace from another, one entry a step, oldest first.
inline constexpr std::string_view kHistoryLabel = "Note";

/// Adds "; Note: made by: COMMAND". `command` names no file, so that the same work gives the same bytes anywhere.
void note_history(SwfHeader& header, std::string_view command);

/// Removes MaxJobs, MaxRecords and EndTime: they are about all records of the source, and are not known before the last
/// record is written. For tools that leave records out, add some, or move them in time.
void forget_totals(SwfHeader& header);

}  // namespace replay
