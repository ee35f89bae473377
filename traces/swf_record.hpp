// One line of a log in the Standard Workload Format, version 2.2: 18 fields, -1 where a value is unknown. A record
// holds what the file says, invalid values included; the cleaning rules decide which jobs result from it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "scheduler/model/units.hpp"

namespace replay {

/// "-1" in a field that holds a time.
inline constexpr Duration kUnknownTime = std::chrono::seconds{-1};

/// Times beyond this many seconds (317 years) either way are broken: sums of them would not fit a Duration.
inline constexpr std::int64_t kMostSwfSeconds = 10'000'000'000;
/// No job runs or asks for longer than a hundred years (fields 4 and 9): even thousands of them in sequence end at an
/// Instant that can be stored.
inline constexpr std::int64_t kMostSwfRunSeconds = 3'155'760'000;
/// The largest value of a field that holds a time.
[[nodiscard]] constexpr std::int64_t most_swf_seconds(int field) {
  return field == 4 || field == 9 ? kMostSwfRunSeconds : kMostSwfSeconds;
}

/// Decimals of times are exact to the microsecond, those of memory as far as a double goes.
struct SwfRecord {
  std::int64_t job = -1;                   ///< 1
  Duration submit = kUnknownTime;          ///< 2, since the log's own zero
  Duration wait = kUnknownTime;            ///< 3
  Duration run = kUnknownTime;             ///< 4
  std::int32_t allocated = -1;             ///< 5, processors
  Duration average_cpu = kUnknownTime;     ///< 6, CPU time per allocated processor
  double used_memory = -1;                 ///< 7, KB per processor
  std::int32_t requested = -1;             ///< 8, processors
  Duration requested_time = kUnknownTime;  ///< 9, wall clock as a rule; the header says if it is CPU time
  double requested_memory = -1;            ///< 10, KB per processor
  std::int32_t status = -1;                ///< 11: 1 completed, 0 failed, 5 cancelled, 2 3 4 partial executions
  std::int32_t user = -1;                  ///< 12
  std::int32_t group = -1;                 ///< 13
  std::int32_t executable = -1;            ///< 14
  std::int32_t queue = -1;                 ///< 15; 0 is interactive by convention
  std::int32_t partition = -1;             ///< 16
  std::int64_t preceding = -1;             ///< 17, the job that has to end before this one is submitted
  Duration think_time = kUnknownTime;      ///< 18, from the end of that job to this submission

  bool operator==(const SwfRecord&) const = default;
};

inline constexpr int kSwfFields = 18;

/// The names messages and tables use: "job number" for field 1, and so on.
inline constexpr std::array<std::string_view, kSwfFields> kSwfFieldNames = {"job number",
                                                                            "submit time",
                                                                            "wait time",
                                                                            "run time",
                                                                            "allocated processors",
                                                                            "average CPU time",
                                                                            "used memory",
                                                                            "requested processors",
                                                                            "requested time",
                                                                            "requested memory",
                                                                            "status",
                                                                            "user",
                                                                            "group",
                                                                            "executable",
                                                                            "queue",
                                                                            "partition",
                                                                            "preceding job number",
                                                                            "think time"};

}  // namespace replay
