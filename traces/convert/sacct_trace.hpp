// The conversion of a dump of Slurm's accounting to a trace: sorts its jobs by submission, gives names their numbers in
// order of first appearance, and says in the header what is known of the machine. Rows of one run, which overlapping dumps
// have several times, are one job. Holds all jobs (some 350 bytes each): the log's zero and the header need the whole
// dump, and array tasks do not come in the order of submission.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/convert/sacct_reader.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"

namespace replay::sacct {

struct TraceOptions {
  std::optional<CoreCount> machine_size{};
  std::optional<Duration> missing_limit{};  ///< time limit of jobs without one; never below their run time
};

struct Trace {
  SwfHeader header;
  std::vector<SwfRecord> records;    ///< by submission, equal ones as in the dump; numbered from 1
  std::vector<Duration> eligible;    ///< of each record: from its submission until it could start; 0 if at once
  std::int64_t most_in_use = 0;      ///< processors allocated at once
  bool was_sorted = true;            ///< the dump was in this order already
  std::uint64_t repeated = 0;        ///< rows of jobs that other rows say the same or more of
  std::uint64_t resized = 0;         ///< rows that say how their job went on at another size
  std::uint64_t unfinished = 0;      ///< jobs that waited or ran when the dump was made
  std::uint64_t without_limit = 0;   ///< jobs
  std::uint64_t later_eligible = 0;  ///< jobs
  bool sizes_are_requests = false;   ///< no column says what was allocated
};

/// Reads the dumps to their ends. Throws what Reader throws, and InputError for jobs of several clusters.
[[nodiscard]] Trace read_trace(std::span<Reader> readers, const TraceOptions& options = {});
[[nodiscard]] inline Trace read_trace(Reader& reader, const TraceOptions& options = {}) {
  return read_trace(std::span(&reader, 1), options);
}

}  // namespace replay::sacct
