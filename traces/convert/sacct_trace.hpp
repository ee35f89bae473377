// The conversion of a dump of Slurm's accounting to a trace: sorts its jobs by submission, gives names their numbers in
// order of first appearance, and says in the header what is known of the machine. Holds all jobs (some 150 bytes each):
// the log's zero and the header need the whole dump, and array tasks do not come in the order of submission.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/convert/sacct_reader.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"

namespace replay::sacct {

struct Trace {
  SwfHeader header;
  std::vector<SwfRecord> records;  ///< by submission, equal ones as in the dump; numbered from 1
  std::int64_t most_in_use = 0;    ///< processors allocated at once
  bool was_sorted = true;          ///< the dump was in this order already
};

/// Reads the dump to its end. Throws what Reader throws.
[[nodiscard]] Trace read_trace(Reader& reader, std::optional<CoreCount> machine_size = {});

}  // namespace replay::sacct
