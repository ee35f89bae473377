#include "traces/declare/declare_trace.hpp"

#include <variant>
#include <vector>

namespace replay {

std::optional<AssignedEstimates> assigned_estimates(const Declarations& declarations, const RereadableTrace& trace) {
  const auto* rule = declarations.estimates ? std::get_if<TsafrirRule>(&*declarations.estimates) : nullptr;
  if (rule == nullptr) return std::nullopt;
  TraceReader reader = trace.open();
  JobFilter filter;
  std::vector<Duration> runtimes;
  for (TraceEntry entry; reader.next(entry);)
    if (filter.is_job(entry.record)) runtimes.push_back(entry.record.run);
  return model_estimates(runtimes, *rule, declarations.seed);
}

void declare_trace(TraceReader& reader, Declarer& declarer, const SwfHeader& header, TraceWriter& writer) {
  writer.write(header);
  copy_entries(reader, writer, [&declarer](TraceEntry& entry) { declarer.declare(entry); });
}

}  // namespace replay
