// A log as the source of job sets: read once, it gives any number of them. resampling.hpp has the method.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/cleaning.hpp"
#include "traces/models/resampling.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

inline constexpr std::uint64_t kUsualSetJobs = 10'000;
inline constexpr double kUsualTolerance = 2;                             ///< per cent
inline constexpr double kLeastTolerance = 0.01, kMostTolerance = 100.0;  ///< per cent

struct LoggedDays {
  SwfHeader header;
  std::string clock_note;  ///< where the local time came from
  Resampler resampler;
  CleaningReport report{};
  std::vector<std::string> odd_lines{};  ///< odd_line_report()
};

/// All jobs that the usual cleaning rules keep. Throws InputError.
[[nodiscard]] LoggedDays read_logged_days(TraceReader trace);

/// Header and jobs, submit times multiplied by `factor`. The writer is not closed. `command` made the set.
void write_set(const LoggedDays& log, const ResampledSet& set, double factor, std::string_view command,
               TraceWriter& writer);

}  // namespace replay
