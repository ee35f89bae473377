// Cleaning rules 1 to 7, which the logs of the Parallel Workloads Archive require; docs/formats/swf.md has them with
// their defaults. Each record is judged in the order of is_skipped(): the first rule that skips it counts it. Rules
// that change a job count it once each.
#include "traces/workload_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/lower_case.hpp"

namespace replay {

enum class WorkloadReader::Rule : std::uint8_t {
  kPartialExecution,
  kNumberMissing,
  kSubmitMissing,
  kCancelledNeverRan,
  kRuntimeMissing,
  kSizeMissing,
  kOversizeSkipped,
  kDuplicateNumber,
  kOutOfOrderSkipped,
  kOutOfOrderSorted,
  kOversizeClamped,
  kSizeFromOtherField,
  kSizeFieldsDiffer,
  kRuntimeZero,
  kRequestMissing,
  kEstimateZero,
  kOverRequest,
  kStatusUnknown,
  kPrecedingIgnored,
  kPrecedingMissing,
  kPrecedingHonoured,
  kMemoryRequest,
  kCpuUseLogged,
  kCpuUseClamped,
  kCpuUseFallback,
  kJobTable,
  kCancelledHonoured,
  kCancelledRun,
  kEligible,
  kEligibleIgnored
};

namespace {

constexpr Duration kOneSecond = std::chrono::seconds{1};
constexpr std::size_t kExampleLines = 5;

// FCFS-malleable paper, Table 2: mean CPU use of the three logs. Elsewhere 0.6, our choice (docs/formats/swf.md).
constexpr double kCtcCpuUse = 0.57;
constexpr double kBlueHorizonCpuUse = 0.23;
constexpr double kSdscSp2CpuUse = 0.66;
constexpr double kOtherCpuUse = 0.6;

double cpu_use_of_log(const SwfHeader& header) {
  const std::string& source = header.source();
  const std::string file = source.substr(source.find_last_of('/') + 1);
  const std::string name = lower_case(fmt::format("{} {} {}", header.computer(), header.installation(), file));
  const auto says = [&name](std::string_view word) { return name.find(word) != std::string::npos; };
  if ((says("ctc") || says("cornell theory")) && says("sp2")) return kCtcCpuUse;
  if (says("sdsc") && says("blue")) return kBlueHorizonCpuUse;
  if (says("sdsc") && says("sp2")) return kSdscSp2CpuUse;
  return kOtherCpuUse;
}

struct RuleText {
  std::string_view rule, action;
  std::string text;
};

}  // namespace

WorkloadReader::WorkloadReader(TraceReader trace, CleaningRules rules)
    : trace_(std::move(trace)),
      rules_(rules),
      programs_(trace_.header().programs()),
      fallback_cpu_use_(rules.cpu_use.value_or(cpu_use_of_log(trace_.header()))),
      has_own_size_(rules.machine_size.has_value()) {
  if (!rules_.machine_size) rules_.machine_size = header().machine_size();
}

bool WorkloadReader::next(TracedJob& job, TracedJob* logged) {
  for (SwfRecord record; trace_.next(record);) {
    const auto traits = trace_.job_table() ? trace_.traits_of(record.job) : std::nullopt;
    if (!make_job(record, traits ? &*traits : nullptr, job)) continue;
    if (logged != nullptr) *logged = as_logged(record, traits ? &*traits : nullptr, job);
    return true;
  }
  end();
  return false;
}

bool WorkloadReader::next_entry(TraceEntry& entry) {
  if (trace_.next(entry)) return true;
  end();
  return false;
}

void WorkloadReader::end() {
  constexpr std::int64_t kMost = std::numeric_limits<CoreCount>::max();
  most_in_use_ = static_cast<CoreCount>(std::min(use_.most(), kMost));
}

std::optional<TracedJob> WorkloadReader::job_of(const TraceEntry& entry) {
  std::optional<TracedJob> job{std::in_place};
  if (!make_job(entry.record, &entry.traits, *job)) job.reset();
  return job;
}

bool WorkloadReader::make_job(const SwfRecord& record, const JobTraits* traits, TracedJob& job) {
  if (is_skipped(record)) return false;
  job = TracedJob{};
  job.job.id = JobId{record.job};
  job.job.submitted = Instant{record.submit};
  job.job.user = record.user;
  job.job.group = record.group;
  job.job.queue = record.queue;
  job.truth.executable = record.executable;
  set_size(job, record);
  if (is_taken_back(record))
    take_back(job, record);
  else
    set_times(job, record);
  set_cpu_use(job, record);
  set_predecessor(job, record);
  if (traits != nullptr && !traits->empty()) apply_traits(job, *traits);
  note_what_is_not_modelled(record);
  if (!rules_.machine_size) note_use(record);
  if (job.job.submitted < latest_given_) sorted_ = false;
  latest_given_ = std::max(latest_given_, job.job.submitted);
  ++kept_;
  return true;
}

TracedJob WorkloadReader::as_logged(const SwfRecord& record, const JobTraits* traits, const TracedJob& cleaned) const {
  TracedJob job = cleaned;
  if (job.follows && traits != nullptr && traits->eligible && rules_.queue_from == QueueFrom::kEligible)
    job.job.submitted += std::max(*traits->eligible, Duration::zero());  // queue_from_eligible() leaves it to that job
  job.follows.reset();
  job.think_time = {};
  job.job.flexibility = Flexibility::kRigid;
  job.job.declaration.reset();
  job.truth.cut_at_request = false;
  if (is_taken_back(record)) {  // after its wait, also where the rules have it run
    const Instant left{record.submit + std::max(record.wait, Duration::zero())};
    job.cancelled_after = std::max(left - job.job.submitted, Duration::zero());
    return job;
  }
  job.job.processes = record.allocated > 0 ? record.allocated : record.requested;
  job.truth.runtime = record.run;
  if (record.wait == kUnknownTime) return job;
  job.job.logged_start = Instant{record.submit + record.wait};
  job.job.submitted = std::min(job.job.submitted, job.job.logged_start);  // clocks of a site may differ
  return job;
}

// Whether the job was cancelled and never ran. Blue Horizon has 8,899 cancelled jobs that ran on an unknown number of
// processors: those count as jobs.
bool WorkloadReader::is_taken_back(const SwfRecord& record) const {
  const bool never_ran = record.run < Duration::zero() || (record.run == Duration::zero() && record.allocated <= 0);
  return record.status == 5 && never_ran;
}

bool WorkloadReader::is_skipped(const SwfRecord& record) {
  const bool is_partial = record.status >= 2 && record.status <= 4;
  const std::int32_t size = size_of(record);
  if (is_partial) return note(Rule::kPartialExecution);
  if (record.job < 0) return note(Rule::kNumberMissing);
  if (record.submit < Duration::zero()) return note(Rule::kSubmitMissing);
  if (is_taken_back(record)) {
    // Its run time is unknown, so the request replaces it; without a request it cannot become a job.
    const bool lacks_wait = rules_.cancelled == Cancelled::kHonour && record.wait < Duration::zero();
    if (rules_.cancelled == Cancelled::kSkip || record.requested_time <= Duration::zero() || lacks_wait)
      return note(Rule::kCancelledNeverRan);
  } else if (record.run < Duration::zero()) {
    return note(Rule::kRuntimeMissing);
  }
  if (size <= 0) return note(Rule::kSizeMissing);
  if (rules_.machine_size && size > *rules_.machine_size) {
    if (rules_.oversize == Oversize::kError)
      throw InputError(
          swf().name(), swf().line(),
          fmt::format("job {}: expected at most the machine's {} processors, found {}: try --oversize skip "
                      "or --oversize clamp",
                      record.job, *rules_.machine_size, size));
    if (rules_.oversize == Oversize::kSkip) return note(Rule::kOversizeSkipped);
  }
  const bool is_late = record.submit < latest_submit_;
  if (is_late && rules_.out_of_order == OutOfOrder::kSkip) return note(Rule::kOutOfOrderSkipped);
  if (!numbers_.insert(record.job)) return note(Rule::kDuplicateNumber);
  if (is_late) {
    note(Rule::kOutOfOrderSorted);
  }
  latest_submit_ = std::max(latest_submit_, record.submit);
  return false;
}

std::int32_t WorkloadReader::size_of(const SwfRecord& record) const {
  const bool allocated_first = rules_.size == SizeFrom::kAllocated;
  const std::int32_t first = allocated_first ? record.allocated : record.requested;
  const std::int32_t second = allocated_first ? record.requested : record.allocated;
  return first > 0 ? first : second;
}

void WorkloadReader::set_size(TracedJob& job, const SwfRecord& record) {
  const std::int32_t preferred = rules_.size == SizeFrom::kAllocated ? record.allocated : record.requested;
  job.job.processes = size_of(record);
  if (preferred <= 0) note(Rule::kSizeFromOtherField);
  if (record.allocated > 0 && record.requested > 0 && record.allocated != record.requested)
    note(Rule::kSizeFieldsDiffer);
  if (rules_.machine_size && cores_needed(job.job) > *rules_.machine_size) {
    note(Rule::kOversizeClamped);
    job.job.processes = processes_on(job.job, *rules_.machine_size);
  }
  widest_ = std::max(widest_, cores_needed(job.job));
}

void WorkloadReader::set_times(TracedJob& job, const SwfRecord& record) {
  Duration runtime = record.run;
  if (runtime == Duration::zero()) {
    note(Rule::kRuntimeZero);
    if (rules_.zero_runtime == ZeroRuntime::kClamp) runtime = kOneSecond;
  }
  Duration estimate = record.requested_time;
  if (estimate <= Duration::zero()) {
    note(Rule::kRequestMissing);
    estimate = runtime;
  }
  if (estimate == Duration::zero()) {
    note(Rule::kEstimateZero);
    estimate = kOneSecond;
  }
  if (runtime > estimate) {
    note(Rule::kOverRequest);
    job.truth.cut_at_request = rules_.over_request == OverRequest::kCut;
    if (job.truth.cut_at_request) runtime = estimate;
  }
  job.job.estimate = estimate;
  job.truth.runtime = runtime;
}

void WorkloadReader::take_back(TracedJob& job, const SwfRecord& record) {
  job.job.estimate = job.truth.runtime = record.requested_time;
  note(rules_.cancelled == Cancelled::kHonour ? Rule::kCancelledHonoured : Rule::kCancelledRun);
  if (rules_.cancelled == Cancelled::kHonour) job.cancelled_after = record.wait;
}

void WorkloadReader::set_cpu_use(TracedJob& job, const SwfRecord& record) {
  double use = job.job.processes == 1 ? 1.0 : fallback_cpu_use_;
  if (record.average_cpu > Duration::zero() && record.run > Duration::zero()) {
    note(Rule::kCpuUseLogged);
    use = static_cast<double>(record.average_cpu.count()) / static_cast<double>(record.run.count());
    if (use > 1.0) {
      note(Rule::kCpuUseClamped);
      use = 1.0;
    }
  } else {
    note(Rule::kCpuUseFallback);
  }
  job.truth.behaviour.cpu_use = use;
  job.job.declared = job.truth.behaviour;
}

// Declared values are taken as true; a study that wants them to differ perturbs the declared ones.
void WorkloadReader::apply_traits(TracedJob& job, const JobTraits& traits) {
  note(Rule::kJobTable);
  job.job.flexibility = traits.flexibility.value_or(job.job.flexibility);
  flexibilities_ += traits.flexibility ? 1u : 0u;
  job.truth.behaviour.cpu_use = traits.cpu_use.value_or(job.truth.behaviour.cpu_use);
  job.has_network_overhead = traits.network_overhead.has_value();
  job.truth.behaviour.network_overhead = traits.network_overhead.value_or(job.truth.behaviour.network_overhead);
  job.job.declared = job.truth.behaviour;
  job.job.user_priority = traits.user_priority.value_or(job.job.user_priority);
  job.job.political_priority = traits.political_priority.value_or(job.job.political_priority);
  job.job.declaration = shared(traits);
  if (traits.eligible && *traits.eligible > Duration::zero()) queue_from_eligible(job, *traits.eligible);
}

// To a scheduler, a job that cannot start yet is none: it comes into the queue when it becomes eligible. A cancellation
// counts from then.
void WorkloadReader::queue_from_eligible(TracedJob& job, Duration eligible) {
  if (rules_.queue_from == QueueFrom::kSubmit) {
    note(Rule::kEligibleIgnored);
    return;
  }
  note(Rule::kEligible);
  if (!job.follows) job.job.submitted += eligible;  // else the end of that job decides, which may come earlier here
  if (job.cancelled_after) job.cancelled_after = std::max(*job.cancelled_after - eligible, Duration::zero());
}

// Jobs that declare the same have one Declaration: in a trace without curves per job that is nearly all of them.
std::shared_ptr<const Declaration> WorkloadReader::shared(const Declaration& declaration) {
  if (declaration.is_empty()) return nullptr;
  if (last_declaration_ == nullptr || *last_declaration_ != declaration)
    last_declaration_ = std::make_shared<const Declaration>(declaration);
  return last_declaration_;
}

// A job can only follow one that stands before it in the file: so jobs cannot wait in a circle.
void WorkloadReader::set_predecessor(TracedJob& job, const SwfRecord& record) {
  if (record.preceding < 0) return;
  if (!rules_.closed_loop) {
    note(Rule::kPrecedingIgnored);
  } else if (record.preceding == record.job || !numbers_.contains(record.preceding)) {
    note(Rule::kPrecedingMissing);
  } else {
    note(Rule::kPrecedingHonoured);
    job.follows = JobId{record.preceding};
    job.think_time = std::max(record.think_time, Duration::zero());
  }
}

void WorkloadReader::note_what_is_not_modelled(const SwfRecord& record) {
  if (record.status < -1 || record.status > 5) note(Rule::kStatusUnknown);
  if (record.requested_memory > 0) note(Rule::kMemoryRequest);
  // The set is asked only where the number changes: most records have that of the record before.
  if (record.partition >= 0 && std::exchange(last_partition_, record.partition) != record.partition)
    partitions_.insert(record.partition);
  if (record.queue >= 0 && std::exchange(last_queue_, record.queue) != record.queue) queues_.insert(record.queue);
}

void WorkloadReader::note_use(const SwfRecord& record) {
  const std::int32_t size = record.allocated > 0 ? record.allocated : record.requested;
  if (record.wait >= Duration::zero() && record.run > Duration::zero() && size > 0)
    use_.add(record.submit + record.wait, record.run, size);
}

// Always true, so that a rule that skips reads as one line.
bool WorkloadReader::note(Rule rule) {
  Tally& tally = tallies_[static_cast<std::size_t>(rule)];
  ++tally.count;
  if (tally.lines.size() < kExampleLines) tally.lines.push_back(swf().line());
  return true;
}

CoreCount WorkloadReader::machine_size() const { return rules_.machine_size.value_or(std::max(widest_, most_in_use_)); }

std::string_view WorkloadReader::machine_source() const {
  if (has_own_size_) return "--machine-size";
  if (rules_.machine_size) return header().max_procs() ? "MaxProcs" : "MaxNodes";
  return most_in_use_ > widest_ ? "the most in use at one time" : "the widest job";
}

CleaningReport WorkloadReader::report() const {
  const bool clamp_zero = rules_.zero_runtime == ZeroRuntime::kClamp;
  const bool cut = rules_.over_request == OverRequest::kCut;
  const RuleText texts[] = {
      {"partial-execution", "skipped", "parts of an execution (status 2, 3, 4): the job's summary line counts"},
      {"number-missing", "skipped", "records without a job number"},
      {"submit-missing", "skipped", "records without a submit time"},
      {"cancelled-never-ran", "skipped", "cancelled jobs that never ran (status 5)"},
      {"runtime-missing", "skipped", "records without a run time"},
      {"size-missing", "skipped", "records with neither allocated nor requested processors"},
      {"oversize", "skipped", fmt::format("jobs wider than the machine of {} processors", machine_size())},
      {"duplicate-number", "skipped", "jobs whose number an earlier one has"},
      {"out-of-order", "skipped", "jobs submitted before one that stands above them"},
      {"out-of-order", "sorted", "jobs submitted before one that stands above them"},
      {"oversize", "clamped", fmt::format("jobs wider than the machine, narrowed to {} processors", machine_size())},
      {"size-other-field", "replaced",
       rules_.size == SizeFrom::kAllocated ? "sizes taken from the request: no allocated processors"
                                           : "sizes taken from the allocation: no requested processors"},
      {"size-fields-differ", "noted", "jobs that got another number of processors than they asked for"},
      {"runtime-zero", clamp_zero ? "clamped" : "kept", clamp_zero ? "run times of 0, now 1 s" : "run times of 0"},
      {"request-missing", "replaced", "missing requested times: the run time stands in"},
      {"estimate-zero", "replaced", "estimates that would be 0: 1 s stands in"},
      {"over-request", cut ? "cut" : "kept",
       cut ? "jobs that ran longer than requested, now ended at the request" : "jobs that run longer than requested"},
      {"status-unknown", "noted", "jobs with a status that the format does not have"},
      {"preceding-job", "ignored", "jobs that follow another: --closed-loop on would honour it"},
      {"preceding-missing", "ignored", "jobs that follow one which does not stand above them among the jobs kept"},
      {"preceding-job", "honoured", "jobs submitted after the one they follow has ended"},
      {"memory-request", "ignored", "jobs that request memory: memory is not modelled"},
      {"cpu-use-logged", "noted", "jobs with the CPU use of the log (field 6 / field 4)"},
      {"cpu-use-clamped", "clamped", "of these had used more CPU time than time had passed, now CPU use 1"},
      {"cpu-use-fallback", "replaced",
       fmt::format("jobs without a CPU use in the log: {} stands in, 1 for serial jobs", fallback_cpu_use_)},
      {"job-table", "noted", "jobs that the side file says more about"},
      {"cancelled", "honoured", "jobs that were cancelled while they waited, and are again after the same wait"},
      {"cancelled", "kept", "jobs that were cancelled while they waited, now run for as long as they request"},
      {"eligible", "honoured",
       "jobs that wait from when they became eligible, later than their submission (side file)"},
      {"eligible", "ignored", "jobs that became eligible later than their submission, from which they wait here"},
  };
  static_assert(std::size(texts) == kRules && static_cast<std::size_t>(Rule::kEligibleIgnored) + 1 == kRules);

  CleaningReport report;
  report.file = swf().name();
  report.read = swf().records();
  report.kept = kept_;
  report.skipped = report.read - kept_;
  report.broken = swf().broken_lines();
  report.broken_messages = swf().broken_messages();
  if (report.broken > 0)
    report.findings.push_back({"broken-line", "skipped", report.broken, "lines that do not begin with 18 numbers",
                               swf().broken_line_numbers()});
  if (swf().long_records() > 0)
    report.findings.push_back({"extra-fields", "noted", swf().long_records(),
                               fmt::format("records {}", long_record_text()), swf().long_record_lines()});
  for (std::size_t i = 0; i < kRules; ++i) {
    if (tallies_[i].count == 0) continue;
    report.findings.push_back({std::string(texts[i].rule), std::string(texts[i].action), tallies_[i].count,
                               texts[i].text, tallies_[i].lines});
  }
  if (const std::size_t unknown = trace_.unknown_jobs().count; unknown > 0)
    report.findings.push_back({"job-table-unknown", "ignored", unknown, "rows " + unknown_jobs_text(trace_), {}});
  add_header_findings(report);
  return report;
}

void WorkloadReader::add_header_findings(CleaningReport& report) const {
  const auto add = [&report](std::string rule, std::string action, std::size_t count, std::string text) {
    report.findings.push_back({std::move(rule), std::move(action), count, std::move(text), {}});
  };
  if (partitions_.size() > 1)
    add("partitions", "ignored", partitions_.size(),
        "partitions: all jobs share one machine; `replay trace cut --partition` keeps one");
  if (queues_.size() > 1) add("queues", "ignored", queues_.size(), "queues: their limits and priorities");
  const std::uint64_t lines = report.read + report.broken;
  if (const auto promised = header().max_records(); promised && std::cmp_not_equal(*promised, lines))
    add("max-records", "noted", 1, fmt::format("header says MaxRecords {}, the file has {}", *promised, lines));
  for (const std::string_view label : {"MaxProcs", "MaxNodes"})
    if (const auto value = header().find(label); value && header().number(label).value_or(0) < 1)
      add("machine-size", "ignored", 1,
          fmt::format("header label {}: expected a count, found '{}'", label, visible_text(*value, 40)));
  if (!rules_.machine_size)
    add("machine-size", "noted", 1,
        fmt::format("no MaxProcs and no MaxNodes in the header: {} processors stand in, {}", machine_size(),
                    machine_source()));
}

namespace {

LoadedWorkload read_all(WorkloadReader reader, bool with_logged = false) {
  LoadedWorkload loaded;
  TracedJobs& jobs = loaded.workload.jobs;
  // MaxRecords may be wrong, so memory is reserved in two steps: for at most a million records first, and for more when
  // a million have been read.
  constexpr std::int64_t kBelieved = 1'000'000;
  constexpr std::int64_t kMostBelieved = 64'000'000;
  const std::int64_t promised = std::clamp<std::int64_t>(reader.header().max_records().value_or(0), 0, kMostBelieved);
  jobs.reserve(static_cast<std::size_t>(std::min(promised, kBelieved)));
  TracedJob logged;
  for (TracedJob job; reader.next(job, with_logged ? &logged : nullptr);) {
    jobs.push_back(job);
    if (with_logged && (logged.job.logged_start != kNever || logged.cancelled_after))
      loaded.logged.jobs.push_back(logged);
    else if (with_logged)
      ++loaded.without_wait;
    if (jobs.size() == kBelieved) jobs.reserve(static_cast<std::size_t>(std::max(promised, kBelieved)));
  }
  if (!reader.is_sorted()) jobs.sort_by_submission();
  if (with_logged) loaded.logged.jobs.sort_by_submission();
  loaded.header = reader.header();
  loaded.workload.zero_time_of_day = loaded.logged.zero_time_of_day =
      std::chrono::seconds{loaded.header.unix_start_time().value_or(0)} % std::chrono::days{1};
  loaded.programs = reader.programs();
  loaded.report = reader.report();
  loaded.machine_size = reader.machine_size();
  loaded.machine_source = reader.machine_source();
  loaded.is_machine_seen = reader.is_machine_seen();
  loaded.without_flexibility = reader.without_flexibility();
  return loaded;
}

}  // namespace

LoadedWorkload read_workload(TraceReader trace, const CleaningRules& rules, bool with_logged) {
  return read_all(WorkloadReader(std::move(trace), rules), with_logged);
}

LoadedWorkload read_workload(std::unique_ptr<ByteSource> source, const CleaningRules& rules,
                             const SwfReaderOptions& options) {
  return read_all(WorkloadReader(std::move(source), rules, options));
}

LoadedWorkload read_workload(const std::string& path, const CleaningRules& rules, const SwfReaderOptions& options) {
  return read_all(WorkloadReader(path, rules, options));
}

}  // namespace replay
