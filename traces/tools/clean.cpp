#include "traces/tools/clean.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "scheduler/base/error.hpp"
#include "traces/history.hpp"
#include "traces/tools/sort.hpp"
#include "traces/tools/survivors.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

// Rules about what a simulation does with a job, not about what is wrong with its record.
constexpr std::array<std::string_view, 8> kNotAboutRecords = {"preceding-job", "memory-request", "partitions",
                                                              "queues",        "cpu-use-logged", "cpu-use-fallback",
                                                              "job-table",     "max-records"};

// ---- the first pass ----

struct FirstLook {
  std::vector<Flurry> flurries;
  bool sorted = true;
};

FirstLook look_at(const RereadableTrace& trace, const CleanOptions& options) {
  WorkloadReader reader(trace.open(), options.rules);
  FlurryFinder finder(options.flurry_rule);
  for (TracedJob job; reader.next(job);)
    if (options.flurries != FlurryAction::kIgnore) finder.add(job);
  return {finder.finish(), reader.is_sorted()};
}

// ---- a record ----

struct Changes {
  std::uint64_t negatives = 0;
  std::uint64_t statuses = 0;
};

template <class... Values>
bool make_unknown(Values&... values) {
  bool changed = false;
  const auto check = [&changed](auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    Value unknown{-1};
    if constexpr (std::is_same_v<Value, Duration>) unknown = kUnknownTime;
    if (value < Value{} && value != unknown) value = unknown, changed = true;
  };
  (check(values), ...);
  return changed;
}

// Negative numbers mean "unknown"; the format writes that as -1.
void tidy(SwfRecord& r, Changes& changes) {
  if (make_unknown(r.wait, r.average_cpu, r.used_memory, r.requested, r.requested_memory, r.user, r.group, r.executable,
                   r.queue, r.partition, r.preceding, r.think_time))
    ++changes.negatives;
  if (r.status >= -1 && r.status <= 5) return;
  r.status = -1;
  ++changes.statuses;
}

// Writes into the record what the rules made of it. The CPU time keeps its ratio to the run time, which is the job's
// CPU use; more CPU time than run time is cut to the run time.
void apply(SwfRecord& r, const TracedJob& job) {
  const Duration run = job.truth.runtime;
  if (r.average_cpu > Duration::zero() && r.run > Duration::zero()) {
    const double use = static_cast<double>(r.average_cpu.count()) / static_cast<double>(r.run.count());
    if (use > 1)
      r.average_cpu = run;
    else if (run != r.run)
      r.average_cpu = from_seconds(use * seconds(run));
  }
  r.run = run;
  r.requested_time = job.job.estimate;
  r.allocated = job.job.processes;
}

// ---- the report ----

std::string in_words(const Flurry& f) {
  return fmt::format("user={} and (job>={} and job<={}) ({} jobs)", f.user, f.first_job, f.last_job, f.jobs);
}

SwfHeader cleaned_header(SwfHeader header, const CleanOptions& options, const FirstLook& look,
                         std::string_view command) {
  forget_totals(header);
  if (options.rules.machine_size) header.set("MaxProcs", fmt::format("{}", *options.rules.machine_size));
  note_history(header, command);
  if (options.flurries == FlurryAction::kRemove)
    for (const Flurry& flurry : look.flurries) header.add(kHistoryLabel, "flurry removed: " + in_words(flurry));
  return header;
}

void tell(CleanResult& result, const Changes& changes, std::uint64_t orphans) {
  std::vector<Finding>& findings = result.report.findings;
  std::erase_if(findings,
                [](const Finding& f) { return std::ranges::find(kNotAboutRecords, f.rule) != kNotAboutRecords.end(); });
  for (Finding& finding : findings)
    if (finding.rule == "status-unknown") finding.action = "replaced";
  const auto add = [&findings](const char* rule, const char* action, std::uint64_t count, const char* text) {
    if (count > 0) findings.push_back({rule, action, count, text, {}});
  };
  add("negative-value", "replaced", changes.negatives, "records with negative values other than -1, now -1");
  add("preceding-missing", "replaced", orphans,
      "jobs that follow one which does not stand above them among the jobs kept, now without a preceding job");
}

class Output {
 public:
  Output(TraceWriter& writer, bool sorted) : writer_(writer), sorted_(sorted) {}
  void add(TraceEntry entry) {
    if (sorted_)
      write(entry);
    else
      waiting_.push_back(std::move(entry));
  }
  void finish() {
    sort_entries(waiting_);
    for (TraceEntry& entry : waiting_) write(entry);
  }
  [[nodiscard]] std::uint64_t orphans() const { return survivors_.orphans(); }

 private:
  void write(TraceEntry& entry) {
    survivors_.keep(entry.record);
    writer_.write(entry);
  }

  TraceWriter& writer_;
  bool sorted_;
  Survivors survivors_;
  std::vector<TraceEntry> waiting_;
};

}  // namespace

CleanResult clean_trace(const RereadableTrace& trace, TraceWriter& writer, const CleanOptions& options,
                        std::string_view command) {
  FirstLook look = look_at(trace, options);
  WorkloadReader reader(trace.open(), options.rules);
  writer.write(cleaned_header(reader.header(), options, look, command));
  const bool removes = options.flurries == FlurryAction::kRemove;
  FlurryFilter filter(look.flurries);
  Output output(writer, look.sorted);
  Changes changes;
  std::uint64_t kept = 0, in_flurries = 0;
  for (TraceEntry entry; reader.next_entry(entry);) {
    const auto job = reader.job_of(entry);
    if (!job) continue;
    if (removes && filter.takes(*job)) {
      ++in_flurries;
      continue;
    }
    tidy(entry.record, changes);
    apply(entry.record, *job);
    if (options.rules.machine_size || reader.header().machine_size())
      entry.record.requested = std::min<std::int32_t>(entry.record.requested, reader.machine_size());
    output.add(std::move(entry));
    ++kept;
  }
  output.finish();
  CleanResult result{reader.report(), std::move(look.flurries), !look.sorted};
  result.report.kept = kept;
  result.report.skipped = result.report.read - kept;
  tell(result, changes, output.orphans());
  if (in_flurries > 0) result.report.findings.push_back({"flurry", "skipped", in_flurries, "jobs in flurries", {}});
  if (kept == 0)
    throw InputError(fmt::format("{}: nothing is left: {}", result.report.file, result.report.to_lines().front()));
  return result;
}

}  // namespace replay
