// Feeds bytes to the reader of traces in CSV. Whatever they are, the answer is entries or an InputError; and entries that
// were read come back the same after writing, the lines of the header too.
#include <string>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "tests/fuzz/targets.hpp"
#include "traces/convert/trace_csv.hpp"

namespace replay::fuzz {
namespace {

void read_write_read(std::string_view bytes) {
  std::string text;
  TraceCsvReader reader(memory_source(bytes));
  TraceCsvWriter writer(string_sink(text));
  writer.write(reader.header(), true);
  TraceEntry entry;
  while (reader.next(entry)) writer.write(entry);
  writer.close();

  TraceCsvReader first(memory_source(bytes));
  TraceCsvReader second(memory_source(text));
  check(second.header().lines() == first.header().lines());
  TraceEntry again;
  while (first.next(entry)) check(second.next(again) && again.record == entry.record && again.traits == entry.traits);
  check(!second.next(again));
}

}  // namespace

void trace_csv(std::string_view bytes) {
  try {
    read_write_read(bytes);
  } catch (const InputError&) {  // an answer, not a failure
  }
}

}  // namespace replay::fuzz
