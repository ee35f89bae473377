// Fuzz target of the reader of traces in CSV: arbitrary bytes give entries or an InputError; entries and the lines of
// the header are the same after writing and reading.
#include <string>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/memory_bytes.hpp"
#include "traces/convert/trace_csv.hpp"

namespace replay::fuzz {
namespace {

void read_write_read(std::string_view bytes) {
  std::string text;
  TraceCsvReader reader(test::memory_source(bytes));
  TraceCsvWriter writer(test::string_sink(text));
  writer.write(reader.header(), true);
  TraceEntry entry;
  while (reader.next(entry)) writer.write(entry);
  writer.close();

  TraceCsvReader first(test::memory_source(bytes));
  TraceCsvReader second(test::memory_source(text));
  check(second.header().lines() == first.header().lines());
  TraceEntry again;
  while (first.next(entry)) check(second.next(again) && again.record == entry.record && again.traits == entry.traits);
  check(!second.next(again));
}

}  // namespace

void trace_csv(std::string_view bytes) {
  try {
    read_write_read(bytes);
  } catch (const InputError&) {  // a valid result, not a failure
  }
}

}  // namespace replay::fuzz
