// Fuzz target of the SWF reader: arbitrary bytes, read as a plain or gzip file, give records or an InputError; records
// are the same after writing and reading.
#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/memory_bytes.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_writer.hpp"
#include "traces/workload_reader.hpp"

namespace replay::fuzz {
namespace {

void read_write_read(std::string_view bytes) {
  std::string text;
  SwfReader reader(test::memory_source(bytes));
  SwfWriter writer(test::string_sink(text));
  writer.write(reader.header());
  SwfRecord record;
  while (reader.next(record)) {
    for (const std::string& comment : reader.comments()) writer.write_comment(comment);
    writer.write(record);
  }
  writer.close();

  SwfReader first(test::memory_source(bytes));
  SwfReader second(test::memory_source(text));
  SwfRecord again;
  while (first.next(record)) check(second.next(again) && again == record);
  check(!second.next(again) && second.broken_lines() == 0);
  check(second.header().lines() == first.header().lines());
}

void clean(std::string_view bytes) {
  WorkloadReader reader(test::memory_source(bytes), {.closed_loop = true});
  std::uint64_t kept = 0;
  for (TracedJob job; reader.next(job); ++kept) {
    check(job.job.processes >= 1 && cores_needed(job.job) <= reader.machine_size());
    check(job.job.estimate > Duration::zero() && job.truth.runtime >= Duration::zero());
    check(job.job.submitted >= Instant{} && job.truth.behaviour.cpu_use >= 0 && job.truth.behaviour.cpu_use <= 1);
  }
  const CleaningReport report = reader.report();
  check(report.kept == kept && report.kept + report.skipped == report.read);
  check(!report.to_lines().empty());
}

}  // namespace

void swf(std::string_view bytes) {
  try {
    read_write_read(bytes);
  } catch (const InputError&) {  // a valid result, not a failure
  }
  try {
    clean(bytes);
  } catch (const InputError&) {
  }
}

}  // namespace replay::fuzz
