#include "traces/models/logged_days.hpp"

#include <fmt/format.h>

#include <utility>

#include "traces/local_time.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

constexpr LocalSeconds kFirstMonday = LocalSeconds{4} * 86400;  // 1970-01-05

}  // namespace

LoggedDays read_logged_days(TraceReader trace) {
  WorkloadReader reader(std::move(trace), CleaningRules{});
  std::vector<SampledJob> jobs = read_logged_jobs(reader);
  const auto clock = LogClock::of(reader.header());
  if (!clock)
    return {reader.header(),
            "days were cut at 05:00; the log does not say when it began: its time 0 was taken for a Monday, 00:00",
            Resampler(std::move(jobs), [](Duration t) { return static_cast<std::int64_t>(seconds(t)); }),
            reader.report(), odd_line_report(reader.trace())};
  return {reader.header(),
          fmt::format("days were cut at 05:00 local time, {}",
                      clock->has_time_zone() ? fmt::format("time zone {}", reader.header().time_zone())
                                             : std::string("as StartTime of the log shows it")),
          Resampler(std::move(jobs), [clock](Duration t) { return clock->local(t) - kFirstMonday; }), reader.report(),
          odd_line_report(reader.trace())};
}

void write_set(const LoggedDays& log, const ResampledSet& set, double factor, std::string_view command,
               TraceWriter& writer) {
  writer.write(resampled_header(log.header, set.jobs.size(), command, log.clock_note));
  std::uint64_t job = 0;
  for (const ResampledJob& placed : set.jobs)
    writer.write(resampled_entry(log.resampler.jobs()[placed.logged], ++job, placed.submit, factor));
}

}  // namespace replay
