// A reader that makes jobs of a log: it reads records and what the side file adds to them, applies the cleaning rules
// and counts what they did. It gives one job at a time for callers that need not hold the whole log, or the whole
// workload in submission order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/model/workload.hpp"
#include "traces/cleaning.hpp"
#include "traces/logged_use.hpp"
#include "traces/number_set.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_record.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

class WorkloadReader {
 public:
  /// Throws what TraceReader throws, and InputError for a broken Program table.
  WorkloadReader(TraceReader trace, CleaningRules rules);
  WorkloadReader(std::unique_ptr<ByteSource> source, CleaningRules rules, SwfReaderOptions options = {})
      : WorkloadReader(TraceReader(std::move(source), {.swf = options}), rules) {}
  WorkloadReader(const std::string& path, CleaningRules rules, SwfReaderOptions options = {})
      : WorkloadReader(TraceReader(path, {.swf = options}), rules) {}

  /// The next job in the order of the file; false at the end. Throws InputError for a job wider than the machine if the
  /// rules call that an error. Submit times descend where the log's do and the rule is to sort: see is_sorted().
  /// `logged`: gets it as the log has it, see LoadedWorkload::logged; without a Job::logged_start if it waits in vain, or
  /// has run and its wait is missing.
  [[nodiscard]] bool next(TracedJob& job, TracedJob* logged = nullptr);

  /// The next entry as it stands, kept or not; next() is this and job_of() until one is kept.
  [[nodiscard]] bool next_entry(TraceEntry& entry);
  /// Applies the rules to the entry that next_entry() gave last. Nothing if a rule skips it.
  [[nodiscard]] std::optional<TracedJob> job_of(const TraceEntry& entry);

  [[nodiscard]] const SwfHeader& header() const { return trace_.header(); }
  [[nodiscard]] const std::map<std::int32_t, std::string>& programs() const { return programs_; }
  /// The rules', else the header's, else what the log itself shows: the most processors that its jobs had at one time, by
  /// their waits and run times, or the widest job (final at the end; before it, the widest job so far); >= 1.
  [[nodiscard]] CoreCount machine_size() const;
  /// Where that is from: "--machine-size", "MaxProcs", "MaxNodes", "the most in use at one time" or "the widest job".
  [[nodiscard]] std::string_view machine_source() const;
  /// Whether it is only what the log shows.
  [[nodiscard]] bool is_machine_seen() const { return !rules_.machine_size; }
  /// Whether the submissions of the jobs have not descended so far.
  [[nodiscard]] bool is_sorted() const { return sorted_; }
  /// About what was read so far.
  [[nodiscard]] CleaningReport report() const;
  [[nodiscard]] const SwfReader& swf() const { return trace_.swf(); }
  [[nodiscard]] const TraceReader& trace() const { return trace_; }
  /// Jobs given so far of which nothing says whether they are rigid, moldable or malleable.
  [[nodiscard]] std::uint64_t without_flexibility() const { return kept_ - flexibilities_; }

 private:
  enum class Rule : std::uint8_t;
  static constexpr std::size_t kRules = 30;
  struct Tally {
    std::uint64_t count = 0;
    std::vector<std::size_t> lines;
  };

  // `traits`: nullptr if there are none.
  [[nodiscard]] bool make_job(const SwfRecord& record, const JobTraits* traits, TracedJob& job);
  [[nodiscard]] TracedJob as_logged(const SwfRecord& record, const JobTraits* traits, const TracedJob& cleaned) const;
  [[nodiscard]] bool is_skipped(const SwfRecord& record);
  [[nodiscard]] bool is_taken_back(const SwfRecord& record) const;
  [[nodiscard]] std::int32_t size_of(const SwfRecord& record) const;
  void set_size(TracedJob& job, const SwfRecord& record);
  void set_times(TracedJob& job, const SwfRecord& record);
  void take_back(TracedJob& job, const SwfRecord& record);
  void set_cpu_use(TracedJob& job, const SwfRecord& record);
  void set_predecessor(TracedJob& job, const SwfRecord& record);
  void apply_traits(TracedJob& job, const JobTraits& traits);
  void queue_from_eligible(TracedJob& job, Duration eligible);
  [[nodiscard]] std::shared_ptr<const Declaration> shared(const Declaration& declaration);
  void note_what_is_not_modelled(const SwfRecord& record);
  void note_use(const SwfRecord& record);
  void end();
  bool note(Rule rule);
  void add_header_findings(CleaningReport& report) const;

  TraceReader trace_;
  CleaningRules rules_;
  std::map<std::int32_t, std::string> programs_;
  double fallback_cpu_use_;
  std::shared_ptr<const Declaration> last_declaration_;
  NumberSet numbers_;  // of the jobs kept
  std::set<std::int32_t> partitions_, queues_;
  std::int32_t last_partition_ = -1, last_queue_ = -1;
  std::array<Tally, kRules> tallies_;
  std::uint64_t kept_ = 0;
  bool has_own_size_;  // by the rules
  CoreCount widest_ = 1, most_in_use_ = 0;
  LoggedUse use_;                    // where nothing says how large the machine is
  std::uint64_t flexibilities_ = 0;  // of jobs kept: declared
  Duration latest_submit_{};         // of records
  Instant latest_given_{};           // of jobs, which may count from when they were eligible
  bool sorted_ = true;
};

struct LoadedWorkload {
  Workload workload;  ///< in submission order
  /// If it was asked for: the same jobs as the log has them, whatever the rules make of them. Each that ran has its
  /// logged_start, its allocated processors and its whole run time, follows none, declares nothing and is rigid; one that was
  /// cancelled while it waited is cancelled after that wait. Jobs that ran, and whose wait is missing, are left out.
  Workload logged{};
  std::uint64_t without_wait = 0;  ///< these
  SwfHeader header;
  std::map<std::int32_t, std::string> programs;  ///< the header's Program table
  CleaningReport report;
  CoreCount machine_size = 1;
  std::string machine_source;             ///< WorkloadReader::machine_source()
  bool is_machine_seen = false;           ///< neither the rules nor the header say how large it is
  std::uint64_t without_flexibility = 0;  ///< jobs of which nothing says whether they are rigid, moldable or malleable
};

/// Reads all of it. A log that is out of order is sorted by (submit, job number); the others stay in the file's order.
[[nodiscard]] LoadedWorkload read_workload(const std::string& path, const CleaningRules& rules = {},
                                           const SwfReaderOptions& options = {});
/// `with_logged`: makes LoadedWorkload::logged.
[[nodiscard]] LoadedWorkload read_workload(TraceReader trace, const CleaningRules& rules = {},
                                           bool with_logged = false);
[[nodiscard]] LoadedWorkload read_workload(std::unique_ptr<ByteSource> source, const CleaningRules& rules = {},
                                           const SwfReaderOptions& options = {});

}  // namespace replay
