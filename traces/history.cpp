#include "traces/history.hpp"

#include <fmt/core.h>

namespace replay {

void note_history(SwfHeader& header, std::string_view command) {
  header.add(kHistoryLabel, fmt::format("made by: {}", command));
}

void forget_totals(SwfHeader& header) {
  for (const std::string_view label : {"MaxJobs", "MaxRecords", "EndTime"}) header.remove(label);
}

}  // namespace replay
