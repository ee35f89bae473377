// The conversion of an accounting log to a trace: sorts its jobs by submission, gives names their numbers in order of
// first appearance, and says in the header what is known of the machine. Rows of one run, which overlapping logs have
// several times, are one job. Holds all jobs (some 450 bytes each): the log's zero and the header need the whole log, and
// jobs do not come in the order of submission.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/convert/accounting.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"

namespace replay::accounting {

struct TraceOptions {
  std::optional<CoreCount> machine_size{};
  std::optional<Duration> missing_limit{};  ///< time limit of jobs without one; never below their run time
};

struct Trace {
  SwfHeader header;
  std::vector<SwfRecord> records;    ///< by submission, equal ones by the system's id; numbered from 1
  std::vector<Duration> eligible;    ///< of each record: from its submission until it could start; 0 if at once
  std::int64_t most_in_use = 0;      ///< processors allocated at once
  std::int64_t last_end = 0;         ///< s since 1970; 0: no job has ended
  bool was_sorted = true;            ///< the log was in this order already
  std::uint64_t repeated = 0;        ///< rows of jobs that other rows say the same or more of
  std::uint64_t resized = 0;         ///< rows that say how their job went on at another size
  std::uint64_t unfinished = 0;      ///< jobs that waited or ran when the log was made
  std::uint64_t without_limit = 0;   ///< jobs
  std::uint64_t later_eligible = 0;  ///< jobs
  std::uint64_t followers = 0;       ///< jobs that had to wait for the end of one other that is there: fields 17 and 18
  std::uint64_t lone_runs = 0;       ///< jobs that ran before, and no row says when
  std::uint64_t without_size = 0;    ///< jobs that ran on a number of processors that the log does not say
};

/// Reads the logs, which are of one format, to their ends. Throws what Reader throws, and InputError for jobs of several
/// clusters.
[[nodiscard]] Trace read_trace(std::span<const std::unique_ptr<Reader>> readers, const TraceOptions& options = {});
[[nodiscard]] Trace read_trace(Reader& reader, const TraceOptions& options = {});

}  // namespace replay::accounting
