// The journal of a service: every job that was accepted, from its submission to its end, in one SQLite file that outlives
// the daemon. What the service promises a user is written here first. Each call that changes something is one transaction,
// on disk when it returns (WAL, synchronous=FULL). The numbers of jobs outlive the loss of its newest part. Docs: docs/formats/service-journal.md.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/event.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/service/last_number.hpp"
#include "scheduler/service/messages.hpp"

struct sqlite3;

namespace replay::service {

/// A job at its submission.
struct NewJob {
  JobRequest request;  ///< with a time limit
  uid_t user = 0;
  gid_t group = 0;
  Instant submitted{};
};

/// What the scheduler has to know of a job that waits.
struct WaitingJob {
  JobId id{};
  uid_t user = 0;
  gid_t group = 0;
  ProcessCount processes = 1;
  Duration time_limit{};
  bool is_rigid = false;
  bool requeue = false;
  std::int32_t queue = -1;
  Instant submitted{};
};

struct EndOfJob {
  JobId job{};
  Instant at{};
  JobEnd end;
};

/// What became of a job that left a run.
struct LeftJob {
  EndOfJob end;
  bool by_service = false;  ///< its end is that of the service, and not its own
  bool was_launched = false;
};
inline constexpr std::string_view kStoppedWithService = "the service was stopped while it ran";

/// A row of the journal without what only the start needs.
struct StoredJob {
  WaitingJob job;
  std::string name;
  std::vector<std::string> command;
  std::string directory;
  bool is_cancelled = false;       ///< its user has asked for its end
  std::optional<Instant> started;  ///< the last time
  std::optional<Instant> ended;
  Outcome outcome = Outcome::kCompleted;  ///< of an ended one, as the next two
  int exit_code = 0;
  std::string reason;
};

/// What starts a job.
struct Program {
  std::vector<std::string> command;
  std::string directory;
  std::vector<std::string> environment;
};

/// How the last period of the service was left.
struct Recovered {
  std::size_t failed = 0;     ///< jobs that ran, and are recorded as failed now
  std::size_t read_back = 0;  ///< jobs that ran, and whose ends the event log had
  std::size_t requeued = 0;   ///< jobs that ran, and wait again
  std::size_t cancelled = 0;
  std::size_t damaged = 0;  ///< jobs whose rows another program has made unreadable: recorded as failed
};

/// All functions throw InputError naming the file if SQLite reports an error, such as on a full disk; then nothing of the
/// call has happened.
class Journal {
 public:
  /// Makes the file if it is not there, and a LastNumber beside it; `now` then becomes instant zero of the service. Throws InputError for a file that
  /// is no journal, or one of another version.
  Journal(const std::filesystem::path& file, UnixTime now);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Instant zero of all periods.
  [[nodiscard]] UnixTime zero() const { return zero_; }
  [[nodiscard]] Instant instant_of(UnixTime at) const { return Instant{at - zero_}; }
  [[nodiscard]] UnixTime unix_time_of(Instant at) const { return zero_ + at.time_since_epoch(); }
  /// The latest instant that it mentions, so that time never goes back.
  [[nodiscard]] Instant latest() const;

  /// Before the first period's events. A job of which a start and no end is known has the end that the event log of the last
  /// period tells in `left`. Otherwise it ended with that period, at `now` at the latest: it waits again if it was to be
  /// queued again, or else it has failed. Those in `running` run on.
  Recovered recover(Instant now, std::span<const LeftJob> left = {}, std::span<const JobId> running = {});
  /// The largest number that a job has or had.
  [[nodiscard]] std::int64_t last_job() const;
  /// Rows whose id is no job's number, which another program has made, and what was expected: they are no jobs. Empty: none.
  [[nodiscard]] std::string rows_of_no_job() const;
  /// The same as the file of the LastNumber has it: larger, if the journal has lost jobs.
  [[nodiscard]] std::int64_t last_number() const { return last_number_->value(); }
  /// New jobs get larger numbers than this.
  void use_no_number_up_to(std::int64_t number);
  /// By id, which is the order of submission. O(their number).
  [[nodiscard]] std::vector<WaitingJob> waiting() const;

  /// Their numbers are larger than all before. In order. Throws InputError, too, when no number is left.
  [[nodiscard]] std::vector<JobId> submit(std::span<const NewJob> jobs);
  /// The users of these jobs have asked for their ends.
  void cancel(std::span<const JobId> jobs);
  void start(JobId job, Instant at);
  /// The jobs have ended; of `requeued` the starts are forgotten: they wait.
  void end(std::span<const EndOfJob> ends, std::span<const JobId> requeued);
  /// While another program writes, a call waits for 2 s, and after one that was in vain they fail at once until one does
  /// not, or until this: the next one waits again.
  void wait_for_others() const;

  /// Nothing: there is no such job.
  [[nodiscard]] std::optional<StoredJob> find(JobId job) const;
  /// Jobs with larger ids than `after`, by id, at most `most`; with `ended`, those that ended too.
  [[nodiscard]] std::vector<StoredJob> list(bool ended, std::int64_t after, std::size_t most) const;
  /// REQUIRES: the job is there and has not ended. Of a damaged row throws std::runtime_error.
  [[nodiscard]] Program program(JobId job) const;

 private:
  class Statement;
  class Transaction;
  [[noreturn]] void fail() const;
  void run(const char* sql) const;
  [[nodiscard]] std::int64_t number_of(const char* sql) const;
  std::size_t read_back(std::span<const LeftJob> left) const;

  struct Closer {
    void operator()(sqlite3* db) const;
  };
  std::string name_;
  std::unique_ptr<sqlite3, Closer> db_;
  UnixTime zero_{};
  std::optional<LastNumber> last_number_;
};

}  // namespace replay::service
