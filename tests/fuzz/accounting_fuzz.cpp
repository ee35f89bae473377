// Fuzz targets of the readers of accounting logs: arbitrary bytes give a trace or an InputError; a trace is in order,
// numbered from 1, and is the same after writing and reading it as SWF.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/memory_bytes.hpp"
#include "traces/convert/accounting_trace.hpp"
#include "traces/convert/lsf_reader.hpp"
#include "traces/convert/pbs_reader.hpp"
#include "traces/convert/sacct_reader.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_writer.hpp"

namespace replay::fuzz {
namespace {

void convert(accounting::Reader& reader) {
  const accounting::Trace trace = accounting::read_trace(reader);
  check(reader.tally().jobs == trace.records.size() + trace.repeated + trace.resized && trace.most_in_use >= 0 &&
        trace.eligible.size() == trace.records.size());
  std::string text;
  SwfWriter writer(test::string_sink(text));
  writer.write(trace.header);
  for (const SwfRecord& record : trace.records) writer.write(record);
  writer.close();
  SwfReader again(test::memory_source(text), {.strict = true});
  SwfRecord record;
  Duration last{};
  for (std::size_t i = 0; i < trace.records.size(); ++i) {
    check(again.next(record) && record.job == static_cast<std::int64_t>(i + 1) && record.submit >= last);
    check(record.run == trace.records[i].run && record.wait == trace.records[i].wait);
    check(record.allocated == trace.records[i].allocated && record.user == trace.records[i].user);
    last = record.submit;
  }
  check(!again.next(record));
}

// An error is a valid result, not a failure.
template <class Reader, class Source>
void read(Source source) {
  try {
    Reader reader(std::move(source), {.time_zone = "Europe/Stockholm"});
    convert(reader);
  } catch (const InputError&) {
  }
}

}  // namespace

void sacct(std::string_view bytes) { read<sacct::Reader>(test::memory_source(bytes)); }

void pbs(std::string_view bytes) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  sources.push_back(test::memory_source(bytes));
  read<pbs::Reader>(std::move(sources));
}

void lsf(std::string_view bytes) { read<lsf::Reader>(test::memory_source(bytes)); }

}  // namespace replay::fuzz
