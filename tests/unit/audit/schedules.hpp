// Builders of schedules to audit: by hand, a job a line, or from our own simulator.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/audit/audit.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

using namespace std::chrono_literals;

/// A job submitted, started and ended at these seconds. It requested its run time, unless `estimate_s` says more.
inline audit::Job scheduled(int number, int processors, int submit_s, int start_s, int end_s, int estimate_s = -1) {
  audit::Job job;
  job.name = fmt::format("{}", number);
  job.number = number;
  job.processors = processors;
  job.submitted = at(std::chrono::seconds{submit_s});
  job.started = at(std::chrono::seconds{start_s});
  job.ended = at(std::chrono::seconds{end_s});
  job.estimate = std::chrono::seconds{estimate_s >= 0 ? estimate_s : end_s - start_s};
  return job;
}

inline audit::Schedule schedule_of(const MemoryLog& log) {
  audit::Schedule schedule;
  std::map<JobId, std::size_t> places;
  for (const log::Record& record : log.records()) {
    if (const auto* submitted = std::get_if<log::Submitted>(&record.what)) {
      places[submitted->job.id] = schedule.jobs.size();
      audit::Job job;
      job.number = static_cast<std::int64_t>(submitted->job.id);
      job.name = fmt::format("{}", job.number);
      job.submitted = record.at;
      job.processors = cores_needed(submitted->job);
      job.estimate = submitted->job.estimate;
      job.killed = submitted->truth.runtime > job.estimate;
      schedule.jobs.push_back(job);
    } else if (const auto* launched = std::get_if<log::Launched>(&record.what)) {
      schedule.jobs[places.at(launched->job)].started = record.at;
    } else if (const auto* finished = std::get_if<log::Finished>(&record.what)) {
      schedule.jobs[places.at(finished->job)].ended = record.at;
    }
  }
  return schedule;
}

/// A rule as policies are written, for example "easy:pass=instant".
inline audit::Options rule(std::string_view policy, CoreCount cores) {
  audit::Options options;
  options.machine_size = cores;
  options.most_findings = 1000;
  options.pass = policy.starts_with("fcfs") ? audit::Pass::kInstant : audit::Pass::kEvent;
  if (policy.starts_with("fcfs")) options.rule = audit::RuleName::kFcfs;
  if (policy.starts_with("conservative")) options.rule = audit::RuleName::kConservative;
  if (policy.find("pass=instant") != std::string_view::npos) options.pass = audit::Pass::kInstant;
  if (policy.find("start-order") != std::string_view::npos) options.compress = audit::Compress::kStartOrder;
  if (policy.find("every-end") != std::string_view::npos) options.compress_at = audit::CompressAt::kEveryEnd;
  return options;
}

/// The report as text, a line per finding: "30 s: job 2 against-rule: reason".
inline std::string lines(const audit::Report& report, const audit::Schedule& schedule) {
  std::string text;
  for (const audit::Finding& finding : report.first)
    text += fmt::format("{} s: job {} {}: {}\n", to_text(finding.at), schedule.jobs[finding.job].name,
                        audit::to_text(finding.kind), finding.reason);
  return text;
}

inline std::string audited(std::string_view policy, CoreCount cores, std::vector<audit::Job> jobs) {
  const audit::Schedule schedule{std::move(jobs)};
  return lines(audit::audit(schedule, rule(policy, cores)), schedule);
}

/// The first finding about a job.
inline std::optional<audit::Finding> finding_about(const audit::Report& report, audit::Index job) {
  const auto found = std::ranges::find(report.first, job, &audit::Finding::job);
  return found == report.first.end() ? std::nullopt : std::optional{*found};
}

}  // namespace replay::test
