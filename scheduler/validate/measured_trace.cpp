#include "scheduler/validate/measured_trace.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "scheduler/experiment/prepared.hpp"
#include "traces/history.hpp"
#include "traces/trace_stream.hpp"

namespace replay::validate {
namespace {

// The CPU time that gives the CPU use `use` over the run time `run`.
Duration cpu_time(double use, Duration run) { return Duration{std::llround(use * static_cast<double>(run.count()))}; }

void put(SwfRecord& record, const TracedJob& traced, const compare::MeasuredJob& measured) {
  record.submit = measured.submitted.time_since_epoch();
  record.wait = kUnknownTime;
  record.preceding = -1;  // submit instants do not depend on other jobs
  record.think_time = kUnknownTime;
  const Duration run = measured.work.value_or(traced.truth.runtime);
  record.run = run;
  record.average_cpu = cpu_time(traced.truth.behaviour.cpu_use, run);
  record.requested_time = std::max(traced.job.estimate, run);
}

}  // namespace

void write_measured_trace(const std::filesystem::path& file, const experiment::RunSpec& run, const Workload& workload,
                          const compare::MeasuredWork& measured) {
  std::unordered_map<std::int64_t, TracedJob> jobs;
  for (const TracedJob& traced : workload.jobs) jobs[static_cast<std::int64_t>(traced.job.id)] = traced;
  TraceReader reader(run.trace,
                     {.swf = {.strict = run.strict}, .job_table = experiment::side_file_of(run.trace, run.jobs_from)});
  TraceWriter writer(file.string(), {.force = true});
  SwfHeader header = reader.header();
  note_history(header, "replay validate (submit instants, run times and CPU times as measured in a real run)");
  writer.write(header);
  for (TraceEntry entry; reader.next(entry);) {
    const auto traced = jobs.find(entry.record.job);
    const compare::MeasuredJob* const found =
        traced == jobs.end() ? nullptr : measured.find(static_cast<JobId>(entry.record.job));
    if (found != nullptr) put(entry.record, traced->second, *found);
    writer.write(entry);
  }
  writer.close();
}

}  // namespace replay::validate
