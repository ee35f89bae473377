#include "scheduler/results/schedule_swf.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace replay::results {
namespace {

using metrics::JobRow;

// SWF field 11: 1 completed, 0 failed, 5 cancelled, that is: ended by others. An overrun is the job's own failure.
std::int32_t swf_status(const JobRow& row) {
  if (!row.has_ended()) return -1;
  switch (row.outcome) {
    case Outcome::kCompleted: return 1;
    case Outcome::kFailed:
    case Outcome::kOverrun: return 0;
    case Outcome::kKilled:
    case Outcome::kLost:
    case Outcome::kCancelled:
    case Outcome::kRejected: return 5;
  }
  return -1;
}

SwfRecord swf_record(const JobRow& row) {
  SwfRecord record;
  record.job = static_cast<std::int64_t>(row.job);
  record.submit = row.submitted.time_since_epoch();
  record.requested = row.processes;
  record.requested_time = row.estimate;
  record.status = swf_status(row);
  record.user = row.user;
  record.group = row.group;
  record.executable = row.executable;
  record.queue = row.queue;
  if (row.has_started()) {
    record.wait = row.wait();
    record.allocated = row.most_cores;
  } else if (row.has_ended() && row.outcome == Outcome::kCancelled) {
    record.wait = row.response();  // until it left the queue
  }
  if (row.ran()) {
    record.run = row.execution();
    if (row.cpu_use >= 0) record.average_cpu = from_seconds(seconds(row.execution()) * row.cpu_use);
  }
  return record;
}

constexpr std::size_t kMostJobs = 999'999'999'999;  // reserves room for the count where it is not known
constexpr const char* kCounts[] = {"MaxJobs", "MaxRecords"};

SwfHeader swf_header(const log::Header& run, CoreCount cores, std::size_t jobs) {
  SwfHeader header;
  header.add("Version", "2.2");
  header.add("Computer", run.value("machine"));
  header.add("Conversion", "replay, from an event log");
  for (const char* label : kCounts) header.add(label, fmt::to_string(jobs));
  const std::string& zero = run.value("unix-start-time");
  header.add("UnixStartTime", zero.empty() ? "0" : zero);
  header.add("MaxProcs", fmt::to_string(cores));
  header.add("Note", fmt::format("trace {}, policy {}, {}", run.value("trace"), run.value("policy"),
                                 run.value("body") == "live" ? "run for real" : "simulated"));
  header.add("Note", "run time is wall time on the cores given; field 5 is the most cores the job ever had");
  return header;
}

}  // namespace

ScheduleSwf::ScheduleSwf(const std::filesystem::path& file, const log::Header& header, CoreCount cores,
                         std::optional<std::size_t> jobs)
    : header_(swf_header(header, cores, jobs.value_or(kMostJobs))),
      writer_(file.string()),
      expected_(jobs.value_or(kMostJobs)) {
  writer_.write(header_);
}

void ScheduleSwf::put(const JobRow& row) {
  writer_.write(swf_record(row));
  ++jobs_;
}

// After a run that ended early, overwrites the job counts in the header with the smaller ones, padded to the same
// width.
void ScheduleSwf::close() {
  if (jobs_ < expected_) {
    const std::size_t width = fmt::to_string(expected_).size();
    for (const char* label : kCounts) header_.set(label, fmt::format("{:<{}}", jobs_, width));
    writer_.overwrite(header_);
  }
  writer_.close();
}

}  // namespace replay::results
