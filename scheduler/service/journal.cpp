#include "scheduler/service/journal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/service/service_folder.hpp"

namespace replay::service {
namespace {

constexpr int kJournalVersion = 1;
constexpr int kApplication = 0x72706c79;  // "rply": tells our files from other SQLite files

constexpr const char* kTables = R"(
CREATE TABLE service (zero_us INTEGER NOT NULL);
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid INTEGER NOT NULL, gid INTEGER NOT NULL,
  name TEXT NOT NULL,
  processes INTEGER NOT NULL,
  time_limit_us INTEGER NOT NULL,
  rigid INTEGER NOT NULL, requeue INTEGER NOT NULL,
  queue INTEGER NOT NULL,
  command TEXT NOT NULL, directory TEXT NOT NULL, environment TEXT,
  submitted_us INTEGER NOT NULL,
  cancelled INTEGER NOT NULL DEFAULT 0,
  started_us INTEGER,
  ended_us INTEGER, outcome TEXT, exit_code INTEGER, reason TEXT
) STRICT;
CREATE INDEX not_ended ON jobs (id) WHERE ended_us IS NULL;
CREATE INDEX by_end ON jobs (ended_us);
)";

// No service is as old: a hundred years after its first start.
constexpr std::int64_t kLatestInstant = Duration{std::chrono::hours{24 * 36525}}.count();

constexpr std::int64_t kLatestZero = 2 * kLatestInstant;  // the year 2169

constexpr int kWaitForOthersMs = 2000;  // such as a reader with the sqlite3 program

constexpr const char* kEndedWithService = "the service ended while it ran";

// One job's: no fault of the journal.
class DamagedRow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string text_of(const std::vector<std::string>& words) { return nlohmann::json(words).dump(); }

std::vector<std::string> words_of(const std::string& text) {
  try {
    return parse_json<nlohmann::json>(text).get<std::vector<std::string>>();
  } catch (const std::exception& error) {  // JsonError, nlohmann's
    throw DamagedRow(
        fmt::format("the journal was changed by another program: expected a list of texts: {}", error.what()));
  }
}

// To be shown: of a damaged row the column itself.
std::vector<std::string> words_or_text_of(const std::string& text) {
  try {
    return words_of(text);
  } catch (const DamagedRow&) {
    return {text};
  }
}

// No row of ours: another program has written to the file.
constexpr const char* kIsDamaged =
    "(id NOT BETWEEN 1 AND {2} OR processes NOT BETWEEN 1 AND 2147483647 OR time_limit_us NOT BETWEEN 1 AND {1}"
    " OR uid NOT BETWEEN 0 AND 4294967295 OR gid NOT BETWEEN 0 AND 4294967295"
    " OR queue NOT BETWEEN -2147483648 AND 2147483647 OR submitted_us NOT BETWEEN 0 AND {0}"
    " OR coalesce(started_us, 0) NOT BETWEEN 0 AND {0}"
    " OR CASE WHEN json_valid(command) THEN json_type(command) <> 'array' OR json_array_length(command) = 0 ELSE 1 END"
    " OR CASE WHEN environment IS NULL THEN 0 WHEN json_valid(environment) THEN json_type(environment) <> 'array'"
    " ELSE 1 END)";
constexpr const char* kDamaged = "its row in the journal is damaged";

}  // namespace

void Journal::Closer::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

// A prepared statement: values are bound in order, then step() gives row after row, or run() does it to the end.
class Journal::Statement {
 public:
  Statement(const Journal& journal, const char* sql) : journal_(journal) {
    if (sqlite3_prepare_v2(journal.db_.get(), sql, -1, &statement_, nullptr) != SQLITE_OK) journal.fail();
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  template <class... Values>
  Statement& bind(const Values&... values) {
    (bind_one(values), ...);
    return *this;
  }
  /// Whether there is a row.
  bool step() {
    const int result = sqlite3_step(statement_);
    if (result != SQLITE_ROW && result != SQLITE_DONE) journal_.fail();
    next_ = 0;
    return result == SQLITE_ROW;
  }
  /// Other values can be bound afterwards.
  template <class... Values>
  void run(const Values&... values) {
    bind(values...);
    while (step()) {
    }
    check(sqlite3_reset(statement_));
    bound_ = 0;
  }

  // The columns of the row, in order.
  std::int64_t integer() { return sqlite3_column_int64(statement_, next_++); }
  std::string text() {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, next_));
    const int size = sqlite3_column_bytes(statement_, next_++);
    return bytes == nullptr ? std::string{} : std::string(bytes, static_cast<std::size_t>(size));
  }
  /// The nearest one of that range: another program may have changed the row.
  template <class Number>
  Number integer(Number least, Number most = std::numeric_limits<Number>::max()) {
    return static_cast<Number>(std::clamp(integer(), std::int64_t{least}, std::int64_t{most}));
  }
  std::optional<Instant> instant() {
    if (sqlite3_column_type(statement_, next_) == SQLITE_NULL) return ++next_, std::nullopt;
    return Instant{Duration{integer(std::int64_t{0}, kLatestInstant)}};
  }

 private:
  void bind_one(std::int64_t value) { check(sqlite3_bind_int64(statement_, ++bound_, value)); }
  void bind_one(JobId job) { bind_one(replay::number(job)); }
  void bind_one(Instant at) { bind_one(at.time_since_epoch().count()); }
  void bind_one(std::string_view value) {
    check(sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void check(int result) {
    if (result != SQLITE_OK) journal_.fail();
  }
  const Journal& journal_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int next_ = 0;
};

// Rolled back unless it is committed.
class Journal::Transaction {
 public:
  explicit Transaction(const Journal& journal) : journal_(journal) {
    journal_.run("BEGIN IMMEDIATE");
    journal_.wait_for_others();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (is_open_) sqlite3_exec(journal_.db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void commit() {
    journal_.run("COMMIT");
    is_open_ = false;
  }

 private:
  const Journal& journal_;
  bool is_open_ = true;
};

void Journal::wait_for_others() const { sqlite3_busy_timeout(db_.get(), kWaitForOthersMs); }

// The service does nothing else while it waits, and tries again soon.
void Journal::fail() const {
  if (sqlite3_errcode(db_.get()) == SQLITE_BUSY) sqlite3_busy_timeout(db_.get(), 0);
  throw InputError(fmt::format("{}: the journal cannot be read or written: {}", name_, sqlite3_errmsg(db_.get())));
}

void Journal::run(const char* sql) const {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Journal::number_of(const char* sql) const {
  Statement statement{*this, sql};
  return statement.step() ? statement.integer() : 0;
}

Journal::Journal(const std::filesystem::path& file, UnixTime now) : name_(file.string()) {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open_v2(name_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  db_.reset(db);
  if (opened != SQLITE_OK) fail();
  wait_for_others();
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
  const std::int64_t application = number_of("PRAGMA application_id");
  const std::int64_t version = number_of("PRAGMA user_version");
  const bool is_new = application == 0 && version == 0 && number_of("SELECT count(*) FROM sqlite_schema") == 0;
  if (!is_new && application != kApplication)
    throw InputError(fmt::format("{}: expected the journal of a service, found another database", name_));
  if (!is_new && version != kJournalVersion)
    throw InputError(
        fmt::format("{}: expected a journal of version {}, found version {}", name_, kJournalVersion, version));
  if (is_new) {
    Transaction transaction{*this};
    run(kTables);
    Statement{*this, "INSERT INTO service VALUES (?)"}.run(now.time_since_epoch().count());
    run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kJournalVersion).c_str());
    transaction.commit();
  }
  if (const std::int64_t rows = number_of("SELECT count(*) FROM service"); rows != 1)
    throw InputError(fmt::format("{}: expected one row in its table 'service', found {}", name_, rows));
  const std::int64_t zero = number_of("SELECT zero_us FROM service");
  if (zero < 0 || zero > kLatestZero)
    throw InputError(fmt::format("{}: expected the Unix time of its first start in zero_us, found {}", name_, zero));
  zero_ = UnixTime{std::chrono::microseconds{zero}};
  last_number_.emplace(file.parent_path() / ServiceFolder::kLastNumber);
}

Journal::~Journal() = default;

Instant Journal::latest() const {
  const std::string sql = fmt::format(
      "SELECT max(coalesce((SELECT submitted_us FROM jobs WHERE submitted_us<={0} AND id<={1} ORDER BY id DESC LIMIT "
      "1), 0),"
      " coalesce((SELECT max(ended_us) FROM jobs WHERE ended_us<={0}), 0),"
      " coalesce((SELECT max(started_us) FROM jobs WHERE ended_us IS NULL AND started_us<={0}), 0))",
      kLatestInstant, kLargestJob);
  return Instant{Duration{number_of(sql.c_str())}};
}

// Only of jobs whose start the journal has. Of one that was to be queued again and failed without an exit code, the log does
// not tell whether its executor was lost: it is queued again.
std::size_t Journal::read_back(std::span<const LeftJob> left) const {
  constexpr const char* kRan = " WHERE id=? AND ended_us IS NULL AND started_us IS NOT NULL AND started_us<=?";
  std::size_t found = 0;
  Statement end{*this,
                fmt::format("UPDATE jobs SET ended_us=?, outcome=?, exit_code=?, reason=?, environment=NULL{} AND"
                            " (requeue=0 OR ?=0)",
                            kRan)
                    .c_str()};
  Statement again{*this, fmt::format("UPDATE jobs SET started_us=NULL{}", kRan).c_str()};
  for (const LeftJob& job : left) {
    const auto& [id, at, how] = job.end;
    if (job.by_service && !job.was_launched) {
      again.run(id, at);
      continue;
    }
    const bool may_be_services =
        job.by_service || how.outcome == Outcome::kLost || (how.outcome == Outcome::kFailed && how.exit_code == 0);
    end.run(at, replay::to_text(how.outcome), how.exit_code,
            job.by_service && how.reason.empty() ? kStoppedWithService : std::string_view{how.reason}, id, at,
            may_be_services);
    found += static_cast<std::size_t>(sqlite3_changes64(db_.get()));
  }
  return found;
}

std::int64_t Journal::last_job() const {
  const std::string sql = fmt::format(
      "SELECT max(0, coalesce((SELECT seq FROM sqlite_sequence WHERE name='jobs' AND seq<={0}), 0),"
      " coalesce((SELECT max(id) FROM jobs WHERE id<={0}), 0))",
      kLargestJob);
  return number_of(sql.c_str());
}

std::string Journal::rows_of_no_job() const {
  Statement statement{*this, "SELECT id, count(*) OVER () FROM jobs WHERE id<1 OR id>? LIMIT 1"};
  if (!statement.bind(kLargestJob).step()) return {};
  const std::int64_t id = statement.integer();
  const std::int64_t rows = statement.integer();
  return fmt::format("{}: {} {}: expected 1..{}; what has no job's number is not shown, and no number follows it",
                     name_, rows == 1 ? "a row has the id" : fmt::format("{} rows have ids such as", rows), id,
                     kLargestJob);
}

void Journal::use_no_number_up_to(std::int64_t number) {
  const std::int64_t last = last_job();
  if (std::max(number, last) > last_number_->value()) last_number_->set(std::max(number, last));
  if (number <= last) return;
  Transaction transaction{*this};
  run("DELETE FROM sqlite_sequence WHERE name='jobs'");
  Statement{*this, "INSERT INTO sqlite_sequence (name, seq) VALUES ('jobs', ?)"}.run(number);
  transaction.commit();
}

Recovered Journal::recover(Instant now, std::span<const LeftJob> left, std::span<const JobId> running) {
  Recovered recovered;
  const auto changed = [this] { return static_cast<std::size_t>(sqlite3_changes64(db_.get())); };
  std::vector<std::int64_t> run_on;
  for (const JobId job : running) run_on.push_back(number(job));
  const std::string is_open = fmt::format("WHERE ended_us IS NULL AND id NOT IN ({})", fmt::join(run_on, ", "));
  Transaction transaction{*this};
  recovered.read_back = read_back(left);
  const auto set = [&](std::string_view what, std::string_view which) {
    return Statement{*this, fmt::format("UPDATE jobs SET {} {} AND {}", what, is_open, which).c_str()};
  };
  set("ended_us=?, outcome='cancelled', exit_code=0, reason='', environment=NULL", "cancelled=1").run(now);
  recovered.cancelled = changed();
  constexpr std::string_view kFail = "ended_us=?, outcome='failed', exit_code=0, reason=?, environment=NULL";
  set(kFail, fmt::format(kIsDamaged, kLatestInstant, kLongestLimit.count(), kLargestJob)).run(now, kDamaged);
  recovered.damaged = changed();
  set(kFail, "started_us IS NOT NULL AND requeue=0").run(now, kEndedWithService);
  recovered.failed = changed();
  set("started_us=NULL", "started_us IS NOT NULL").run();
  recovered.requeued = changed();
  transaction.commit();
  return recovered;
}

std::vector<JobId> Journal::submit(std::span<const NewJob> jobs) {
  std::vector<JobId> ids;
  Transaction transaction{*this};
  Statement statement{*this,
                      "INSERT INTO jobs (id, uid, gid, name, processes, time_limit_us, rigid, requeue, queue, command,"
                      " directory, environment, submitted_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  std::int64_t number = last_job();
  if (kLargestJob - number < static_cast<std::int64_t>(jobs.size()))
    throw InputError(fmt::format("{}: no number is left for a job: expected at most {}", name_, kLargestJob));
  for (const NewJob& job : jobs) {
    const JobRequest& request = job.request;
    statement.run(++number, job.user, job.group, request.name, request.processes, request.time_limit.value().count(),
                  request.is_rigid, request.requeue, request.queue, text_of(request.command), request.directory,
                  text_of(request.environment), job.submitted);
    ids.push_back(JobId{number});
  }
  if (ids.empty()) return ids;
  const std::int64_t before = last_number_->value();
  last_number_->set_before_commit(std::max(before, number));
  try {
    transaction.commit();
  } catch (const InputError&) {
    last_number_->try_set(before);  // else the next start misses jobs that were refused
    throw;
  }
  return ids;
}

void Journal::cancel(std::span<const JobId> jobs) {
  Transaction transaction{*this};
  Statement statement{*this, "UPDATE jobs SET cancelled=1 WHERE id=?"};
  for (const JobId job : jobs) statement.run(job);
  transaction.commit();
}

void Journal::start(JobId job, Instant at) {
  Transaction transaction{*this};
  Statement{*this, "UPDATE jobs SET started_us=? WHERE id=?"}.run(at, job);
  transaction.commit();
}

void Journal::end(std::span<const EndOfJob> ends, std::span<const JobId> requeued) {
  Transaction transaction{*this};
  Statement end{*this, "UPDATE jobs SET ended_us=?, outcome=?, exit_code=?, reason=?, environment=NULL WHERE id=?"};
  for (const auto& [job, at, how] : ends) end.run(at, replay::to_text(how.outcome), how.exit_code, how.reason, job);
  Statement again{*this, "UPDATE jobs SET started_us=NULL WHERE id=?"};
  for (const JobId job : requeued) again.run(job);
  transaction.commit();
}

namespace {

constexpr const char* kColumns =
    "SELECT id, uid, gid, processes, time_limit_us, rigid, requeue, queue, submitted_us, name, command, directory,"
    " cancelled, started_us, ended_us, outcome, exit_code, reason FROM jobs ";

constexpr int kLargestExitCode = 1'000'000'000;

template <class Row>
WaitingJob waiting_job(Row& row) {
  WaitingJob job;
  job.id = JobId{row.integer()};
  job.user = row.integer(uid_t{0});
  job.group = row.integer(gid_t{0});
  job.processes = row.integer(ProcessCount{1});
  job.time_limit = Duration{row.integer(std::int64_t{0}, kLongestLimit.count())};
  job.is_rigid = row.integer() != 0;
  job.requeue = row.integer() != 0;
  job.queue = row.integer(std::int32_t{-1});
  job.submitted = row.instant().value_or(Instant{});
  return job;
}

template <class Row>
StoredJob stored_job(Row& row) {
  StoredJob stored;
  stored.job = waiting_job(row);
  stored.name = row.text();
  stored.command = words_or_text_of(row.text());
  stored.directory = row.text();
  stored.is_cancelled = row.integer() != 0;
  stored.started = row.instant();
  stored.ended = row.instant();
  stored.outcome = enum_of<Outcome>(row.text()).value_or(Outcome::kFailed);
  stored.exit_code = row.integer(-kLargestExitCode, kLargestExitCode);
  stored.reason = row.text();
  return stored;
}

}  // namespace

std::vector<WaitingJob> Journal::waiting() const {
  Statement statement{
      *this, fmt::format("{} WHERE id BETWEEN 1 AND {} AND ended_us IS NULL AND started_us IS NULL ORDER BY id",
                         kColumns, kLargestJob)
                 .c_str()};
  std::vector<WaitingJob> jobs;
  while (statement.step()) jobs.push_back(waiting_job(statement));
  return jobs;
}

std::optional<StoredJob> Journal::find(JobId job) const {
  Statement statement{*this, fmt::format("{} WHERE id=?", kColumns).c_str()};
  if (!statement.bind(job).step()) return std::nullopt;
  return stored_job(statement);
}

std::vector<StoredJob> Journal::list(bool ended, std::int64_t after, std::size_t most) const {
  const char* const which = ended ? "id>? AND id<=?" : "ended_us IS NULL AND id>? AND id<=?";
  Statement statement{*this, fmt::format("{} WHERE {} ORDER BY id LIMIT ?", kColumns, which).c_str()};
  statement.bind(after, kLargestJob, static_cast<std::int64_t>(most));
  std::vector<StoredJob> jobs;
  while (statement.step()) jobs.push_back(stored_job(statement));
  return jobs;
}

Program Journal::program(JobId job) const {
  Statement statement{*this, "SELECT command, directory, environment FROM jobs WHERE id=?"};
  const bool is_there = statement.bind(job).step();
  INVARIANT(is_there, "the journal has no job {}", replay::number(job));
  Program program;
  program.command = words_of(statement.text());
  program.directory = statement.text();
  const std::string environment = statement.text();
  if (!environment.empty()) program.environment = words_of(environment);
  return program;
}

}  // namespace replay::service
