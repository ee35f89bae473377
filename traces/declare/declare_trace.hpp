// Declarations for a whole trace: reads it, and writes it with what its jobs declare.
#pragma once

#include "traces/declare/declarer.hpp"
#include "traces/declare/tsafrir.hpp"
#include "traces/rereadable_trace.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

/// What a model of estimates needs before the first job can be declared: the run times of all jobs, in one pass. Nothing if the
/// declarations have no such model. Throws InputError.
[[nodiscard]] std::optional<AssignedEstimates> assigned_estimates(const Declarations& declarations,
                                                                  const RereadableTrace& trace);

/// Writes `header`, then the records with what they declare. The writer is not closed. Throws InputError.
void declare_trace(TraceReader& reader, Declarer& declarer, const SwfHeader& header, TraceWriter& writer);

}  // namespace replay
