// What the accounting of a batch system says about jobs, whichever system it is: the row that the readers of sacct, PBS
// and LSF fill, the counts of what they read, and the reader as the conversion to a trace sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/local_time.hpp"

namespace replay::accounting {

inline constexpr std::size_t kMostMessages = 5;    ///< of broken rows, kept
inline constexpr std::size_t kLongestName = 1024;  ///< of a user, a program and so on; each job keeps its own
inline constexpr std::int64_t kMostProcessors = 2'147'483'647;
inline constexpr double kMostKilobytes = 9e15;  ///< both as in SWF

/// How a job ended, as far as field 11 of SWF can express it.
/// kResized: this is the run at one size; the job goes on at another one, in a row of its own.
enum class Fate : std::uint8_t { kCompleted, kFailed, kCancelled, kResized, kUnfinished };

/// What the log says about one run of a job. Nothing: it does not say, or says that there is no such value.
struct Job {
  std::string id;                          ///< the system's, such as "1234_7"; the leader's of a heterogeneous job
  std::string after;                       ///< id of the one job whose end this one had to wait for; empty: none
  std::int64_t submit = 0;                 ///< s since 1970
  std::optional<std::int64_t> eligible;    ///< s since 1970; where it is later than the submission
  std::optional<std::int64_t> start, end;  ///< s since 1970
  std::optional<Duration> elapsed;         ///< of a job that has ended, or of its run at one size
  std::optional<std::int64_t> allocated;   ///< processors; > 0
  std::optional<std::int64_t> requested;   ///< processors; > 0
  bool has_allocation_column = true;       ///< false: the log never says what was allocated
  std::optional<Duration> total_cpu;       ///< of all processors; > 0, as 0 means that it was not measured
  std::optional<Duration> time_limit;
  std::optional<double> requested_memory;  ///< KB per processor
  std::optional<double> used_memory;       ///< KB: sacct of the task that used most, PBS and LSF per processor
  std::optional<Fate> fate;
  std::int64_t restarts = 0;  ///< runs before this one
  std::string user, group, name, queue, partition, cluster;
};

/// Counts of what was read.
struct Tally {
  std::uint64_t jobs = 0;                    ///< rows given
  std::uint64_t steps = 0;                   ///< folded into their jobs
  std::uint64_t lone_steps = 0;              ///< without their job in front of them: left out
  std::uint64_t components = 0;              ///< of heterogeneous jobs, folded into the first one
  std::uint64_t without_submit = 0;          ///< left out
  std::uint64_t of_other_clusters = 0;       ///< jobs; left out
  std::uint64_t continued = 0;               ///< lines that go on with the text at the end of a row; left out
  std::uint64_t other_records = 0;           ///< of kinds that say nothing about when jobs waited and ran; passed over
  std::uint64_t unknown_states = 0;          ///< jobs whose state was not known when this was written
  std::string unknown_state;                 ///< the first such state
  std::uint64_t broken = 0;                  ///< rows; left out
  std::vector<std::string> broken_messages;  ///< of the first few

  Tally& operator+=(const Tally& other);
};

struct ReaderOptions {
  std::string time_zone = "UTC";
  bool strict = false;    ///< throw at the first broken row
  std::string cluster{};  ///< sacct: only its jobs; empty: all
};

/// A log of one system. Throws UsageError for an unknown zone.
class Reader {
 public:
  explicit Reader(const ReaderOptions& options) : clock_(options.time_zone), strict_(options.strict) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  /// The next row in the order of the log; false at the end. Throws InputError for a broken row if the reader is
  /// strict, and at the end of a log without any job.
  [[nodiscard]] virtual bool next(Job& job) = 0;
  /// "sacct", "pbs" or "lsf".
  [[nodiscard]] virtual std::string_view format() const = 0;
  [[nodiscard]] virtual const std::string& name() const = 0;

  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] const LocalClock& clock() const { return clock_; }

 protected:
  /// Counts a broken row; throws InputError if the reader is strict.
  void note_broken(const std::string& file, std::size_t line, const std::string& message);
  /// Throws InputError: "log: no jobs: expected `rows`, found ...".
  [[noreturn]] void fail_without_jobs(std::string_view rows, std::string_view otherwise) const;

  LocalClock clock_;
  Tally tally_;

 private:
  bool strict_;
};

}  // namespace replay::accounting
