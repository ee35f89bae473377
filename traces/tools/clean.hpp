// Cleaning of a trace: it removes what no machine can run, and flurries. The cleaning rules (traces/cleaning.hpp) that
// turn records into jobs are applied to the records themselves: what a simulation would skip is left out, what it would
// change is changed, so that the result means the same jobs to every reader. Each rule reports what it did.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/cleaning.hpp"
#include "traces/rereadable_trace.hpp"
#include "traces/tools/flurries.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

enum class FlurryAction : std::uint8_t { kRemove, kReport, kIgnore };

struct CleanOptions {
  CleaningRules rules{};
  FlurryAction flurries = FlurryAction::kReport;  ///< whether a burst is an anomaly is for people to judge
  FlurryRule flurry_rule{};
};

struct CleanResult {
  CleaningReport report;  ///< kept counts what was written; of the rules, those that concern the records
  std::vector<Flurry> flurries;
  bool sorted = false;  ///< it was out of order and had to be sorted in memory
};

/// Two passes; constant memory if the log is in order. Headers of traces without flurries and with them differ by a
/// note for each that was removed. Throws InputError if nothing is left.
CleanResult clean_trace(const RereadableTrace& trace, TraceWriter& writer, const CleanOptions& options,
                        std::string_view command);

}  // namespace replay
