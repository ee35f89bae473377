// The journal: what was accepted comes back after a service of any end, in its old order, and only once.
#include "scheduler/service/journal.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/service/past_period.hpp"

namespace replay::service {
namespace {

using namespace std::chrono_literals;

constexpr UnixTime kZero{1'764'000'000s};

Instant at(Duration since_zero) { return Instant{since_zero}; }

NewJob new_job(const std::string& name, bool requeue = false) {
  NewJob job;
  job.request.name = name;
  job.request.processes = 2;
  job.request.time_limit = 90s;
  job.request.requeue = requeue;
  job.request.queue = 4;
  job.request.command = {"/bin/sh", "-c", "exit 3\n"};
  job.request.directory = "/home/a b";
  job.request.environment = {"A=1", "B=x=y"};
  job.user = 1000;
  job.group = 100;
  job.submitted = at(1s);
  return job;
}

EndOfJob end_of(JobId job, Outcome outcome = Outcome::kFailed) {
  return {job, at(9s), {outcome, 3, Verification::kNone, -1, "exit status 3"}};
}

class JournalTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "journal.db"; }
  JobId submit(Journal& journal, const NewJob& job) { return journal.submit(std::vector<NewJob>{job}).front(); }
  static std::vector<JobId> waiting_in(const Journal& journal) {
    std::vector<JobId> ids;
    for (const WaitingJob& job : journal.waiting()) ids.push_back(job.id);
    return ids;
  }
  /// As another program does it.
  static void change(const std::filesystem::path& file, const std::string& sql) {
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &other), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(other, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close(other);
  }
  TemporaryFolder folder_;
};

TEST_F(JournalTest, JobsComeBackInTheirOrderWithAllThatTheyDeclare) {
  {
    Journal journal{file(), kZero};
    const auto ids = journal.submit(std::vector<NewJob>{new_job("a"), new_job("b")});
    EXPECT_EQ(ids, (std::vector<JobId>{JobId{1}, JobId{2}}));
  }
  Journal journal{file(), kZero + 1000s};
  EXPECT_EQ(journal.zero(), kZero) << "all periods count from the first start";
  const auto jobs = journal.waiting();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[1].id, JobId{2});
  EXPECT_EQ(jobs[0].user, 1000U);
  EXPECT_EQ(jobs[0].processes, 2);
  EXPECT_EQ(jobs[0].time_limit, Duration{90s});
  EXPECT_EQ(jobs[0].queue, 4);
  EXPECT_EQ(jobs[0].submitted, at(1s));
  const Program program = journal.program(JobId{1});
  EXPECT_EQ(program.command, new_job("a").request.command);
  EXPECT_EQ(program.directory, "/home/a b");
  EXPECT_EQ(program.environment, new_job("a").request.environment);
}

TEST_F(JournalTest, AnEndedJobStaysAndItsNumberIsNotUsedAgain) {
  {
    Journal journal{file(), kZero};
    const JobId job = submit(journal, new_job("a"));
    journal.start(job, at(2s));
    journal.end(std::vector{end_of(job)}, {});
  }
  Journal journal{file(), kZero};
  EXPECT_TRUE(journal.waiting().empty());
  const auto stored = journal.find(JobId{1});
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->outcome, Outcome::kFailed);
  EXPECT_EQ(stored->exit_code, 3);
  EXPECT_EQ(stored->reason, "exit status 3");
  EXPECT_EQ(stored->started, at(2s));
  EXPECT_EQ(stored->ended, at(9s));
  EXPECT_EQ(journal.latest(), at(9s));
  EXPECT_EQ(submit(journal, new_job("b")), JobId{2});
  EXPECT_FALSE(journal.find(JobId{3}).has_value());
}

TEST_F(JournalTest, AJobThatRanWhenTheServiceDiedHasFailedUnlessItIsToBeQueuedAgain) {
  {
    Journal journal{file(), kZero};
    (void)journal.submit(
        std::vector<NewJob>{new_job("ran"), new_job("again", true), new_job("waits"), new_job("cancelled", true)});
    for (const int job : {1, 2, 4}) journal.start(JobId{job}, at(2s));
    journal.cancel(std::vector{JobId{4}});
  }
  Journal journal{file(), kZero};
  const Recovered recovered = journal.recover(at(50s));
  EXPECT_EQ(recovered.failed, 1U);
  EXPECT_EQ(recovered.requeued, 1U);
  EXPECT_EQ(recovered.cancelled, 1U);
  EXPECT_EQ(waiting_in(journal), (std::vector<JobId>{JobId{2}, JobId{3}})) << "in the old order";
  EXPECT_EQ(journal.find(JobId{1})->outcome, Outcome::kFailed);
  EXPECT_EQ(journal.find(JobId{1})->reason, "the service ended while it ran");
  EXPECT_EQ(journal.find(JobId{4})->outcome, Outcome::kCancelled) << "its user had asked for its end";
}

TEST_F(JournalTest, AJobIsQueuedAgainAtAnOrderedStop) {
  Journal journal{file(), kZero};
  const JobId job = submit(journal, new_job("a", true));
  journal.start(job, at(2s));
  EXPECT_TRUE(journal.waiting().empty());
  journal.end({}, std::vector{job});
  EXPECT_EQ(waiting_in(journal), std::vector{job});
}

TEST_F(JournalTest, ListsGoOnAfterAJobAndCanHaveTheEndedOnesToo) {
  Journal journal{file(), kZero};
  (void)journal.submit(std::vector<NewJob>(5, new_job("a")));
  journal.end(std::vector{end_of(JobId{2})}, {});
  const auto ids = [&](bool ended, std::int64_t after, std::size_t most) {
    std::vector<std::int64_t> found;
    for (const StoredJob& stored : journal.list(ended, after, most)) found.push_back(number(stored.job.id));
    return found;
  };
  EXPECT_EQ(ids(false, 0, 10), (std::vector<std::int64_t>{1, 3, 4, 5}));
  EXPECT_EQ(ids(true, 0, 3), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(ids(false, 3, 1), (std::vector<std::int64_t>{4}));
}

TEST_F(JournalTest, TheEnvironmentOfAnEndedJobIsNotKept) {
  Journal journal{file(), kZero};
  const JobId job = submit(journal, new_job("a"));
  journal.end(std::vector{end_of(job)}, {});
  EXPECT_TRUE(journal.program(job).environment.empty());
}

TEST_F(JournalTest, AnotherFileIsRefusedAndLeftAsItIs) {
  std::ofstream(file()) << std::string(4096, 'x');
  EXPECT_THROW(Journal(file(), kZero), InputError);
  EXPECT_EQ(std::filesystem::file_size(file()), 4096U);
}

// The limit of a file's size stands for a full disk: both are errors of write().
TEST_F(JournalTest, AJobWhoseRowAnotherProgramHasDamagedFailsAndTheOthersGoOn) {
  {
    Journal journal{file(), kZero};
    for (int i = 0; i < 5; ++i) (void)submit(journal, new_job("job"));
  }
  change(file(), "UPDATE jobs SET command='{}' WHERE id=1");
  change(file(), "UPDATE jobs SET command='[' WHERE id=2");
  change(file(), "UPDATE jobs SET processes=0 WHERE id=3");
  change(file(), "UPDATE jobs SET command='[]' WHERE id=4");
  {
    Journal journal{file(), kZero};
    EXPECT_EQ(journal.recover(at(20s)).damaged, 4U);
    EXPECT_EQ(waiting_in(journal), std::vector<JobId>{JobId{5}});
    const std::vector<StoredJob> all = journal.list(true, 0, 10);
    ASSERT_EQ(all.size(), 5U) << "they can be shown";
    EXPECT_EQ(all[0].command, std::vector<std::string>{"{}"});
    EXPECT_EQ(all[0].outcome, Outcome::kFailed);
    EXPECT_NE(all[0].reason, "");
  }
  change(file(), "DELETE FROM service");
  EXPECT_THROW((Journal{file(), kZero}), InputError) << "no instant zero";
}

TEST_F(JournalTest, NumbersOfNoJobCostTheirRowAndNeitherTheOthersNorTheList) {
  constexpr std::array kChanges = {"processes=5000000000",
                                   "processes=-9223372036854775807",
                                   "time_limit_us=9223372036854775807",
                                   "uid=-1",
                                   "gid=4294967296",
                                   "queue=3000000000",
                                   "submitted_us=9223372036854775807",
                                   "submitted_us=-5",
                                   "started_us=9223372036854775807",
                                   "environment='{}'",
                                   "ended_us=9223372036854775807, outcome='?', exit_code=9223372036854775807"};
  constexpr auto kBad = static_cast<std::int64_t>(kChanges.size());
  Journal journal{file(), kZero};
  (void)journal.submit(std::vector<NewJob>(kChanges.size() + 1, new_job("job")));
  for (std::size_t i = 0; i < kChanges.size(); ++i)
    change(file(), "UPDATE jobs SET " + std::string{kChanges[i]} + " WHERE id=" + std::to_string(i + 1));
  EXPECT_EQ(journal.latest(), at(1s)) << "time does not begin with a damaged row";
  EXPECT_EQ(journal.recover(at(20s)).damaged, kChanges.size() - 1) << "the last one has ended";
  EXPECT_EQ(waiting_in(journal), std::vector<JobId>{JobId{kBad + 1}});
  for (const StoredJob& stored : journal.list(true, 0, 100)) {
    EXPECT_GE(stored.job.processes, 1);
    EXPECT_LE(stored.job.time_limit, kLongestLimit);
    EXPECT_GE(stored.job.submitted, at(0s));
    for (const auto& instant : {stored.started, stored.ended})
      EXPECT_LT(instant.value_or(at(0s)), at(std::chrono::hours{24 * 366 * 100})) << number(stored.job.id);
  }
}

TEST_F(JournalTest, ARowWhoseIdIsNoJobsNumberIsNamedAndLeftOutAndTheNextJobsNumberDoesNotFollowIt) {
  for (const std::int64_t id : {std::int64_t{-5}, std::int64_t{0}, kLargestJob + 1, std::int64_t{9'007'199'254'740'993},
                                std::numeric_limits<std::int64_t>::max()}) {
    const TemporaryFolder folder;
    const std::filesystem::path own = folder / "journal.db";
    Journal journal{own, kZero};
    (void)journal.submit(std::vector<NewJob>(2, new_job("job")));
    EXPECT_EQ(journal.rows_of_no_job(), "");
    change(own, "INSERT INTO jobs SELECT " + std::to_string(id) +
                    ", uid, gid, name, processes, time_limit_us, rigid, requeue, queue, command, directory,"
                    " environment, 5000000, 0, NULL, NULL, NULL, NULL, NULL FROM jobs WHERE id=1");
    EXPECT_NE(journal.rows_of_no_job().find(" " + std::to_string(id) + ": expected 1..9000000000000000"),
              std::string::npos)
        << journal.rows_of_no_job();
    const std::vector<JobId> jobs{JobId{1}, JobId{2}};
    EXPECT_EQ(waiting_in(journal), jobs) << id;
    EXPECT_EQ(journal.list(true, 0, 10).size(), 2U) << id;
    EXPECT_EQ(journal.latest(), at(1s)) << id;
    EXPECT_EQ(journal.recover(at(20s)).damaged, 1U) << id;
    EXPECT_EQ(journal.last_job(), 2) << id;
    journal.use_no_number_up_to(journal.last_number());
    EXPECT_EQ(submit(journal, new_job("next")), JobId{3}) << id;
    EXPECT_EQ(journal.last_number(), 3) << id;
  }
}

TEST_F(JournalTest, WhatElseTellsOfANumberThatNoJobHasIsNoBaseForTheNextOne) {
  Journal journal{file(), kZero};
  (void)submit(journal, new_job("a"));
  for (const char* seq : {"9223372036854775807", "'many'"}) {
    change(file(), std::string{"UPDATE sqlite_sequence SET seq="} + seq);
    EXPECT_EQ(journal.last_job(), 1) << seq;
  }
  EXPECT_EQ(submit(journal, new_job("b")), JobId{2});
  for (const char* name : {"9", "9223372036854775807"})
    std::filesystem::create_directories(folder_.path() / "jobs" / name);
  EXPECT_EQ(read_past_period(ServiceFolder{folder_.path().string()}).last_job, 9);
  std::ofstream{folder_.path() / "last-number"} << "9007199254740993\n";
  EXPECT_THROW((Journal{file(), kZero}), InputError);
}

TEST_F(JournalTest, WhenNoNumberIsLeftAJobIsRefused) {
  Journal journal{file(), kZero};
  journal.use_no_number_up_to(kLargestJob - 1);
  EXPECT_EQ(submit(journal, new_job("a")), JobId{kLargestJob});
  EXPECT_THROW((void)submit(journal, new_job("b")), InputError);
  EXPECT_EQ(journal.list(true, 0, 10).size(), 1U);
}

TEST_F(JournalTest, TheEndsThatTheEventLogHasAreTakenFromIt) {
  Journal journal{file(), kZero};
  (void)journal.submit(std::vector<NewJob>{new_job("completed"), new_job("again", true), new_job("stopped"),
                                           new_job("unknown"), new_job("waits"), new_job("could not start"),
                                           new_job("lost", true)});
  for (const int job : {1, 2, 3, 4, 6, 7}) journal.start(JobId{job}, at(2s));
  const auto left = [](int job, Outcome outcome, bool by_service, bool was_launched = true, Duration when = 9s) {
    return LeftJob{{JobId{job}, at(when), {outcome, outcome == Outcome::kFailed ? 0 : 3, Verification::kNone, -1, ""}},
                   by_service,
                   was_launched};
  };
  const Recovered recovered = journal.recover(
      at(50s),
      std::vector{left(1, Outcome::kCompleted, false), left(2, Outcome::kKilled, true), left(3, Outcome::kKilled, true),
                  left(4, Outcome::kCompleted, false, true, 1s), left(5, Outcome::kCancelled, true, false),
                  left(6, Outcome::kKilled, true, false), left(7, Outcome::kFailed, false)});
  EXPECT_EQ(recovered.read_back, 2U);
  EXPECT_EQ(recovered.failed, 1U);
  EXPECT_EQ(journal.find(JobId{1})->outcome, Outcome::kCompleted);
  EXPECT_EQ(journal.find(JobId{1})->ended, at(9s));
  EXPECT_EQ(journal.find(JobId{3})->reason, "the service was stopped while it ran");
  EXPECT_EQ(journal.find(JobId{4})->reason, "the service ended while it ran") << "that was the end of an earlier start";
  EXPECT_EQ(waiting_in(journal), (std::vector<JobId>{JobId{2}, JobId{5}, JobId{6}, JobId{7}}));
}

TEST_F(JournalTest, NumbersThatAJournalHasLostAreNotUsedAgain) {
  Journal journal{file(), kZero};
  journal.use_no_number_up_to(7);
  EXPECT_EQ(submit(journal, new_job("a")), JobId{8});
  journal.use_no_number_up_to(3);
  EXPECT_EQ(submit(journal, new_job("b")), JobId{9});
}

// What journal.db is without its -wal, as after an end without a checkpoint.
TEST_F(JournalTest, NumbersOutliveTheLossOfTheNewestPart) {
  Journal journal{file(), kZero};
  (void)journal.submit(std::vector<NewJob>(3, new_job("a")));
  EXPECT_EQ(journal.last_number(), 3);
  const TemporaryFolder other;
  for (const char* name : {"journal.db", "last-number"})
    std::filesystem::copy_file(folder_.path() / name, other.path() / name);
  Journal older{other.path() / "journal.db", kZero};
  EXPECT_EQ(older.last_job(), 0);
  EXPECT_EQ(older.last_number(), 3);
  older.use_no_number_up_to(older.last_number());
  EXPECT_EQ(submit(older, new_job("b")), JobId{4});
}

TEST_F(JournalTest, NumbersOfAJournalWithoutTheirFileAreKeptFromTheNextStartOn) {
  {
    Journal journal{file(), kZero};
    (void)submit(journal, new_job("a"));
  }
  std::filesystem::remove(folder_.path() / "last-number");
  Journal journal{file(), kZero};
  EXPECT_EQ(journal.last_number(), 0);
  journal.use_no_number_up_to(0);
  EXPECT_EQ(journal.last_number(), 1);
}

TEST_F(JournalTest, AFileOfTheLastNumberThatHoldsNoneIsRefused) {
  { const Journal journal{file(), kZero}; }
  std::ofstream{folder_.path() / "last-number"} << "many\n";
  EXPECT_THROW((Journal{file(), kZero}), InputError);
}

TEST_F(JournalTest, WithoutRoomForItsNumberAJobIsRefused) {
  Journal journal{file(), kZero};
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{3, before.rlim_max};  // less than a number takes
  ::setrlimit(RLIMIT_FSIZE, &full);
  std::string said;
  try {
    (void)submit(journal, new_job("a"));
  } catch (const InputError& error) {
    said = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(said.find("last-number: the number of a job cannot be kept: "), std::string::npos) << said;
  EXPECT_TRUE(waiting_in(journal).empty());
  EXPECT_EQ(submit(journal, new_job("b")), JobId{1});
}

TEST_F(JournalTest, OfACallThatCannotBeWrittenNothingHappensAndLaterOnesDo) {
  Journal journal{file(), kZero};
  (void)submit(journal, new_job("a"));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{std::filesystem::file_size(folder_.path() / "journal.db-wal"), before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_THROW((void)journal.submit(std::vector<NewJob>(100, new_job("b"))), InputError);
  EXPECT_THROW(journal.start(JobId{1}, at(2s)), InputError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(waiting_in(journal), std::vector{JobId{1}});
  EXPECT_EQ(journal.last_number(), 1);
  EXPECT_EQ(submit(journal, new_job("c")), JobId{2});
}

TEST_F(JournalTest, AJournalThatStaysLockedIsWaitedForOnce) {
  Journal journal{file(), kZero};
  const auto seconds_of_refused_submission = [&] {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW((void)submit(journal, new_job("a")), InputError);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
  const auto run = [other](const char* sql) {
    ASSERT_EQ(sqlite3_exec(other, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  };
  run("BEGIN IMMEDIATE");
  EXPECT_GE(seconds_of_refused_submission(), 1.5);
  EXPECT_LT(seconds_of_refused_submission(), 0.5) << "the service would do nothing but wait";
  run("COMMIT");
  (void)submit(journal, new_job("b"));
  run("BEGIN IMMEDIATE");
  EXPECT_GE(seconds_of_refused_submission(), 1.5) << "another program";
  sqlite3_close(other);
}

TEST_F(JournalTest, AHundredThousandWaitingJobsComeBack) {
  {
    Journal journal{file(), kZero};
    (void)journal.submit(std::vector<NewJob>(100'000, new_job("a")));
  }
  Journal journal{file(), kZero};
  (void)journal.recover(at(1s));
  EXPECT_EQ(journal.waiting().size(), 100'000U);
}

}  // namespace
}  // namespace replay::service
