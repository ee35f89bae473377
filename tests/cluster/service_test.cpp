// `replay serve` with real MPI programs: a user's job runs where and as the user would run it; a service that is killed
// leaves no process behind, and the next one brings back what waited.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/service/journal.hpp"
#include "tests/support/background.hpp"
#include "tests/support/first_core.hpp"
#include "tests/support/service_client.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class ServiceOfUsers : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
  }
  std::unique_ptr<Background> start(const std::string& machine, const std::string& name = "first") {
    const std::vector<std::string> arguments{"serve", "--service", home().string(), "--machine",
                                             machine, "--policy",  "easy",          "--plain"};
    auto service =
        std::make_unique<Background>(REPLAY_PROGRAM, arguments, folder_ / (name + ".out"), folder_ / (name + ".err"));
    return service;
  }
  /// What a new client is answered by a service that comes up; the last of as many answers as lines. Asks again where the
  /// service was too busy to answer, on a computer with other work: nothing was done.
  std::string ask(const std::string& lines) {
    std::string answer;
    do answer = ask_once(lines);
    while (has(answer, "the service is busy since"));
    return answer;
  }
  std::string ask_once(const std::string& lines) {
    EXPECT_TRUE(comes_true([this] { return fs::exists(home() / "socket"); }));
    ServiceClient client{home() / "socket"};
    client.send(lines);
    const auto wanted = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
    EXPECT_TRUE(comes_true([&] { return client.lines() >= wanted || client.is_closed(); })) << lines;
    return client.last_line();
  }
  std::string submit(int processes, const std::string& command, const std::string& more = "") const {
    return fmt::format(
        R"({{"request":"submit","job":{{"processes":{},"time_limit_s":60,"command":[{}],"directory":"{}","environment":)"
        R"(["PATH={}","REPLAY_TEST_MARK={}"]{}}}}})"
        "\n",
        processes, command, folder_.path().string(), ::getenv("PATH"), mark(), more);
  }
  static std::string one_core() { return "local:" + first_core(); }
  static std::string phases(double seconds) { return fmt::format(R"("{}","--runtime","{}")", REPLAY_PHASES, seconds); }
  static std::string of_job(const char* request, int job) {
    return fmt::format("{{\"request\":\"{}\",\"job\":{}}}\n", request, job);
  }
  fs::path home() const { return folder_.path() / "s"; }
  std::string mark() const { return folder_.path().string(); }
  bool is_anything_left() const { return !processes_marked("REPLAY_TEST_MARK=" + mark()).empty(); }
  /// 0 if it has none.
  static pid_t agent_of(const Background& service) {
    for (const pid_t child : children_of(service.pid()))
      if (const auto stat = read_stat(child); stat && stat->name == "replay-agent") return child;
    return 0;
  }
  static int stop(Background& service) {
    service.send(SIGTERM);
    return service.wait();
  }

  TemporaryFolder folder_;
};

TEST_F(ServiceOfUsers, AJobRunsInItsUsersDirectoryWithItsUsersEnvironment) {
  write_text(folder_ / "job.sh", "#!/bin/sh\npwd\necho \"$REPLAY_TEST_MARK $HOME\"\nexit 3\n");
  fs::permissions(folder_ / "job.sh", fs::perms::owner_all);
  const auto service = start(one_core());
  const std::string end = ask(submit(1, R"("./job.sh")") + of_job("wait", 1));
  EXPECT_TRUE(has(end, R"("outcome":"failed","exit_code":3)")) << end << service->err();
  EXPECT_EQ(text_of(home() / "jobs/1/stdout"), fmt::format("{}\n{} \n", folder_.path().string(), mark()))
      << "and nothing of the service's own environment";
  const std::string missing = ask(submit(1, R"("./no-such-program")") + of_job("wait", 2));
  EXPECT_TRUE(has(missing, "./no-such-program: not found")) << missing;
  EXPECT_FALSE(has(text_of(home() / "jobs/1/command"), "REPLAY_TEST_MARK"))
      << "every user of the machine can read a command line";
  EXPECT_EQ(stop(*service), 0) << service->err();
  EXPECT_FALSE(fs::exists(home() / "socket"));
}

TEST_F(ServiceOfUsers, AfterKill9TheJobsAreEndedAndTheNextServiceBringsBackWhatWaited) {
  const std::string again = R"(,"requeue":true)";
  auto service = start("emulated:1x1x2");
  const std::string third = ask(submit(1, phases(100)) + submit(1, phases(0.5), again) + submit(2, phases(0.2)));
  EXPECT_EQ(third, R"({"ok":true,"submitted":3})");
  ASSERT_TRUE(comes_true([this] {
    return has(ask(of_job("job", 1)), "running") && has(ask(of_job("job", 2)), "running") && is_anything_left();
  }));
  const std::string refused = shell(fmt::format("{} serve --service {}", REPLAY_PROGRAM, home().string())).err;
  EXPECT_TRUE(has(refused, fmt::format("a service runs here already, process {}", service->pid()))) << refused;

  service->send(SIGKILL);
  EXPECT_EQ(service->wait(), 128 + SIGKILL);
  fs::remove(home() / "socket");
  auto next = start("emulated:1x1x2", "second");  // at once: it waits for the agent of the last one
  const std::string first = ask(of_job("job", 1));
  EXPECT_TRUE(has(first, R"("outcome":"failed","exit_code":0,"reason":"the service ended while it ran")")) << first;
  EXPECT_TRUE(has(ask(of_job("cancel", 3)), "\"id\":3"));
  EXPECT_TRUE(has(ask(of_job("wait", 2)), R"("outcome":"completed")"));
  EXPECT_TRUE(has(ask(of_job("wait", 3)), R"("outcome":"cancelled")"));
  EXPECT_TRUE(has(next->out(), "1 job ran when the last service ended, and is recorded as failed")) << next->out();
  EXPECT_FALSE(is_anything_left());
  EXPECT_EQ(stop(*next), 0) << next->err();
  EXPECT_TRUE(has(next->out(), "the service has ended; 0 jobs wait in its journal")) << next->out();
}

TEST_F(ServiceOfUsers, AStoppedServiceLeavesARunThatIsReadAsAnyOther) {
  auto service = start("emulated:1x1x2");
  (void)ask(submit(1, phases(0.2)) + of_job("wait", 1));
  (void)ask(submit(2, phases(100)) + submit(1, phases(1)));
  ASSERT_TRUE(comes_true([this] { return has(ask(of_job("job", 2)), "running"); }));
  EXPECT_EQ(stop(*service), 0) << service->err();
  EXPECT_FALSE(is_anything_left());
  std::string run;
  for (const auto& entry : fs::directory_iterator(home() / "runs")) run = entry.path().string();
  const std::string log = text_of(fs::path{run} / "events.log");
  EXPECT_TRUE(has(log, "finish job=3 outcome=cancelled")) << log;
  EXPECT_TRUE(has(log, "the service was stopped: the job stays in its journal")) << log;
  EXPECT_TRUE(has(log, "#unix-start-time "));
  for (const char* command : {"report", "results", "diff"}) {
    const std::string second = std::string{command} == "diff" ? run : "";
    const ShellResult read = shell(fmt::format("{} {} {} {}", REPLAY_PROGRAM, command, run, second));
    EXPECT_EQ(read.status, 0) << command << read.err;
  }
  EXPECT_EQ(shell(fmt::format("{} why {} 1", REPLAY_PROGRAM, run)).status, 0);
}

TEST_F(ServiceOfUsers, AJournalThatIsOlderThanTheJobsOrGoneIsSaidAtTheStart) {
  const fs::path file = home() / "journal.db", older = folder_ / "older.db";
  const auto run_a_job = [&](const std::string& name, int number) {
    const auto service = start("emulated:1x1x2", name);
    const std::string end = ask(submit(1, phases(0.1)) + of_job("wait", number));
    EXPECT_TRUE(has(end, fmt::format("\"id\":{},", number))) << name << ": " << end;
    EXPECT_EQ(stop(*service), 0) << service->err();
    return service->err();
  };
  EXPECT_FALSE(has(run_a_job("first", 1), "missing"));
  fs::copy_file(file, older);
  EXPECT_FALSE(has(run_a_job("second", 2), "missing"));
  fs::copy_file(older, file, fs::copy_options::overwrite_existing);
  const std::string said = run_a_job("third", 3);  // and not 2
  EXPECT_TRUE(has(said, fmt::format("{}: job 2 is missing, of which {}, {} or the last event log tells", file.string(),
                                    (home() / "last-number").string(), (home() / "jobs").string())))
      << said;
  EXPECT_TRUE(has(said, "its -wal is missing or damaged; what is missing is not brought back")) << said;

  fs::remove(file);
  for (const char* known_by : {"jobs", "last-number"}) {
    const ShellResult refused = shell(
        fmt::format("timeout 20 {} serve --service {} --machine emulated:1x1x2", REPLAY_PROGRAM, home().string()));
    EXPECT_EQ(refused.status, 1) << known_by;
    EXPECT_TRUE(has(refused.err, fmt::format("{}: expected the journal of the jobs in {}, found none", file.string(),
                                             (home() / known_by).string())))
        << refused.err;
    fs::remove_all(home() / "jobs");
  }
}

TEST_F(ServiceOfUsers, ANumberThatWasToldIsNotUsedAgainAfterTheLossOfTheWal) {
  auto service = start("emulated:1x1x2");
  const std::string third = ask(submit(2, phases(60)) + submit(2, phases(0.1)) + submit(2, phases(0.1)));
  EXPECT_EQ(third, R"({"ok":true,"submitted":3})");
  service->send(SIGKILL);
  EXPECT_EQ(service->wait(), 128 + SIGKILL);
  fs::remove(home() / "socket");
  ASSERT_TRUE(fs::remove(home() / "journal.db-wal"));
  service = start("emulated:1x1x2", "second");
  EXPECT_EQ(ask(submit(1, phases(0.1))), R"({"ok":true,"submitted":4})");
  EXPECT_TRUE(has(service->err(), "journal.db: jobs 1-3 are missing, of which")) << service->err();
  EXPECT_EQ(stop(*service), 0) << service->err();
}

TEST_F(ServiceOfUsers, AClockThatWentBackIsSaidAndInstantsGoOnFromTheLastEntry) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  fs::create_directory(home());
  fs::permissions(home(), fs::perms::owner_all);
  {
    service::Journal journal{home() / "journal.db", now};
    service::NewJob job;
    job.request.processes = 1;
    job.request.time_limit = std::chrono::minutes{1};
    job.request.command = {"true"};
    job.request.directory = folder_.path().string();
    job.submitted = journal.instant_of(now + std::chrono::hours{2});
    (void)journal.submit({&job, 1});
  }
  const auto service = start("emulated:1x1x2");
  const auto answer = nlohmann::json::parse(ask(submit(1, phases(0.1)) + of_job("wait", 2)));
  EXPECT_GE(answer.at("job").at("submitted").get<double>(),
            static_cast<double>((now + std::chrono::hours{2}).time_since_epoch().count()))
      << answer.dump();
  EXPECT_EQ(stop(*service), 0) << service->err();
  EXPECT_TRUE(has(service->err(), "the clock is ")) << service->err();
  EXPECT_TRUE(has(service->err(), fmt::format(" behind the last entry of {}: times go on from that entry",
                                              (home() / "journal.db").string())))
      << service->err();
}

TEST_F(ServiceOfUsers, ALockThatIsRemovedIsSaidAndNoOtherServiceStartsMeanwhile) {
  const auto service = start("emulated:1x1x2");
  (void)ask("{\"request\":\"service\"}\n");
  const fs::path lock = home() / "lock";
  fs::remove(lock);
  const std::string words =
      fmt::format("{} was removed or replaced; no other service starts here meanwhile", lock.string());
  EXPECT_TRUE(comes_true([&] { return has(service->err(), "replay: " + words + "\n"); })) << service->err();
  const auto other = start("emulated:1x1x2", "other");
  EXPECT_TRUE(comes_true([&] { return has(other->out(), "waiting for the node agent"); })) << other->err();
  EXPECT_EQ(stop(*other), 1) << other->out() << other->err();
  EXPECT_TRUE(has(other->err(), "the service itself if its lock was removed")) << other->err();
  EXPECT_TRUE(has(ask("{\"request\":\"service\"}\n"), fmt::format("\"pid\":{}", service->pid())));
  EXPECT_EQ(stop(*service), 0) << service->err();
  for (const auto& run : fs::directory_iterator(home() / "runs"))
    EXPECT_TRUE(has(text_of(run.path() / "events.log"), words));
}

// The agent is stopped, so that no end of the job can be reported meanwhile. The service continues it when it ends.
TEST_F(ServiceOfUsers, AfterAThirdStopSignalTheExitStatusIsThatOfTheFirst) {
  write_text(folder_ / "job.sh", "#!/bin/sh\n: >ready\nsleep 100\n");
  fs::permissions(folder_ / "job.sh", fs::perms::owner_all);
  auto service = start(one_core());
  (void)ask(submit(1, R"("./job.sh")"));
  ASSERT_TRUE(comes_true([this] { return fs::exists(folder_ / "ready"); }));
  const pid_t agent = agent_of(*service);
  ASSERT_NE(agent, 0);
  send_signal(agent, SIGSTOP);
  ASSERT_TRUE(comes_true([agent] { return is_stopped(agent); }));
  service->send(SIGTERM);
  ASSERT_TRUE(comes_true([this] { return has(ask(submit(1, phases(1))), "the service is stopping"); }));
  service->send(SIGINT);
  service->send(SIGHUP);
  EXPECT_EQ(service->wait(), 128 + SIGTERM) << service->err();
  EXPECT_TRUE(has(service->err(), "replay: the ends of some jobs were not waited for\n")) << service->err();
  EXPECT_TRUE(comes_true([this] { return !is_anything_left(); }));
  service = start(one_core(), "second");
  const std::string end = ask(of_job("job", 1));
  EXPECT_TRUE(has(end, R"("outcome":"killed","exit_code":0,"reason":"its end was not waited for")")) << end;
  EXPECT_EQ(stop(*service), 0) << service->err();
}

// Of another user, whose processes are counted; root's are not.
TEST_F(ServiceOfUsers, OneThatLacksProcessesAtItsStartSaysSoAndLeavesNoSocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has a user to spare";
  const uid_t id = 1'000'000'000 + static_cast<uid_t>(::getpid());
  const std::string user = std::to_string(id);
  ASSERT_EQ(::chown(folder_.path().c_str(), id, id), 0);
  for (const auto& [processes, what] : {std::pair{1, "cannot fork the agent"}, {2, "no thread can be made"}}) {
    Background service{"/usr/bin/setpriv",
                       {"--reuid", user, "--regid", user, "--clear-groups", "--", "/usr/bin/prlimit",
                        fmt::format("--nproc={}", processes), REPLAY_PROGRAM, "serve", "--service", home().string(),
                        "--machine", "emulated:1x1x2", "--policy", "easy", "--plain"},
                       folder_ / "out",
                       folder_ / "err"};
    EXPECT_EQ(service.wait(), 1);
    EXPECT_TRUE(
        has(service.err(), fmt::format("replay: {}; is there a limit of processes (ulimit -u, pids.max)", what)))
        << service.err();
    EXPECT_FALSE(fs::exists(home() / "socket"));
  }
}

TEST_F(ServiceOfUsers, OneThatLacksOpenFilesAtItsStartSaysSo) {
  const std::string serve =
      fmt::format("timeout 20 {} serve --service {} --machine emulated:1x1x2 --plain", REPLAY_PROGRAM, home().string());
  const ShellResult refused = shell("ulimit -n 24; " + serve);
  EXPECT_EQ(refused.status, 1) << refused.out;
  EXPECT_TRUE(has(refused.err, "replay: the limit of open files (ulimit -n) is 24, and jobs on 2 cores need 54\n"))
      << refused.err;
}

// Neither modes of folders nor limits of processes bind root.
class ServiceOfAnotherUser : public ServiceOfUsers {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root has a user to spare";
    ServiceOfUsers::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(::chown(folder_.path().c_str(), user_, user_), 0);
  }
  std::unique_ptr<Background> start(const std::string& machine) {
    const std::string id = std::to_string(user_);
    const std::vector<std::string> arguments{"--reuid",
                                             id,
                                             "--regid",
                                             id,
                                             "--clear-groups",
                                             "--",
                                             "/usr/bin/env",
                                             fmt::format("PATH={}/bin:{}", folder_.path().string(), ::getenv("PATH")),
                                             REPLAY_PROGRAM,
                                             "serve",
                                             "--service",
                                             home().string(),
                                             "--machine",
                                             machine,
                                             "--policy",
                                             "easy",
                                             "--plain",
                                             "--job-network",
                                             "host"};
    return std::make_unique<Background>("/usr/bin/setpriv", arguments, folder_ / "out", folder_ / "err");
  }
  const uid_t user_ = 1'000'000'000 + static_cast<uid_t>(::getpid());
};

// It would wait for ever.
TEST_F(ServiceOfAnotherUser, AJobInAFolderThatMayNotBeEnteredIsRefusedAndFailsLater) {
  const fs::path work = folder_ / "work";
  const auto permit = [&work](fs::perms permissions) { fs::permissions(work, permissions); };
  fs::create_directory(work);
  ASSERT_EQ(::chown(work.c_str(), user_, user_), 0);
  const auto service = start(one_core());
  const auto in_work = [&](std::string submission) {
    const std::string before = fmt::format("\"{}\"", folder_.path().string());
    return submission.replace(submission.find(before), before.size(), fmt::format("\"{}\"", work.string()));
  };
  const std::string why = fmt::format("cannot start in {}: Permission denied", work.string());
  permit(fs::perms::owner_read);
  const std::string refused = ask(in_work(submit(1, R"("sleep","100")")));
  EXPECT_TRUE(has(refused, R"("error":"directory: )" + why)) << refused;
  permit(fs::perms::owner_all);
  (void)ask(submit(1, R"("sleep","100")") + in_work(submit(1, R"("sleep","100")")));
  permit(fs::perms::owner_read);
  const std::string end = ask(of_job("cancel", 1) + of_job("wait", 2));
  EXPECT_TRUE(has(end, R"("outcome":"failed")") && has(end, why)) << end;
  EXPECT_EQ(stop(*service), 0) << service->err();
}

// As mpiexec starts, it is left room for so many tasks beside itself.
class ServiceThatLacksProcesses : public ServiceOfAnotherUser {
 protected:
  void SetUp() override {
    ServiceOfAnotherUser::SetUp();
    if (IsSkipped()) return;
    fs::create_directory(folder_ / "bin");
    write_text(folder_ / "bin/mpiexec", fmt::format(R"(#!/bin/bash
echo >>{0}/tries
if [ -e {0}/limit ]; then
  read -r more <{0}/limit
  tasks=0
  for status in /proc/[0-9]*/status; do
    of= threads=0
    while read -r key value rest; do
      case $key in Uid:) of=$value ;; Threads:) threads=$value ;; esac
    done <$status
    [ "$of" = {1} ] && tasks=$((tasks + threads))
  done 2>{0}/errors
  prlimit --pid $PPID --nproc=$((tasks + more)):
  ulimit -S -u $((tasks + more))
else
  prlimit --pid $PPID --nproc=$(ulimit -H -u):
  ulimit -S -u $(ulimit -H -u)
fi
exec {2} "$@"
)",
                                                    folder_.path().string(), user_, find_program("mpiexec")->string()));
    fs::permissions(folder_ / "bin/mpiexec", fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  }
  void leave(int more) { write_text(folder_ / "limit", fmt::format("{}\n", more)); }
  /// It waits, and does so for this reason.
  void expect_waits(int job, const std::string& why) {
    std::string shown;
    EXPECT_TRUE(comes_true([&] {
      shown = ask(of_job("job", job));
      return has(shown, why) || has(shown, "outcome");
    })) << shown;
    EXPECT_FALSE(has(shown, "outcome")) << shown;
  }
  void expect_lacks_a_thread_and_runs_later(int job) {
    expect_waits(job, "a rank could not make UCX's thread");
    fs::remove(folder_ / "limit");
    const std::string end = ask(of_job("wait", job));
    EXPECT_TRUE(has(end, R"("outcome":"completed")")) << end;
  }
};

TEST_F(ServiceThatLacksProcesses,
       AJobWhoseRanksCannotBeForkedOrLackAThreadWaitsThoughItsTimeLimitIsShorterThanThatTakes) {
  leave(1);
  const auto service = start("emulated:1x1x2");
  std::string submission = submit(1, phases(0.1));
  submission.replace(submission.find("60"), 2, "1");
  EXPECT_TRUE(has(ask(submission), R"("submitted":1)")) << service->err();
  expect_waits(1, "Hydra's proxy has started 0 of 1 ranks, and no process can be made");
  leave(2);
  expect_lacks_a_thread_and_runs_later(1);
  // One of two ranks is there, and lacks its thread; mpiexec, whose proxy goes on trying to fork the other, sees nothing.
  leave(2);
  EXPECT_TRUE(has(ask(submit(2, phases(0.1))), R"("submitted":2)")) << service->err();
  expect_lacks_a_thread_and_runs_later(2);
  EXPECT_EQ(stop(*service), 0) << service->err();
}

// Its ranks do not register; of vmlib they tell only when they enter MPI_Init and when they have left it.
TEST_F(ServiceThatLacksProcesses, ARigidJobWhoseRankLacksAThreadWaitsToo) {
  leave(2);
  const auto service = start(one_core());
  EXPECT_TRUE(has(ask(submit(1, phases(0.1), R"(,"rigid":true)")), R"("submitted":1)")) << service->err();
  ASSERT_TRUE(comes_true([this] { return text_of(folder_ / "tries").size() >= 2; }));
  expect_lacks_a_thread_and_runs_later(1);
  EXPECT_EQ(stop(*service), 0) << service->err();
  std::size_t times = 0;
  for (const auto& run : fs::directory_iterator(home() / "runs")) {
    const std::string log = text_of(run.path() / "events.log");
    for (std::size_t at = 0; (at = log.find("jobs can be started again", at)) != std::string::npos; ++at) ++times;
  }
  EXPECT_LE(times, 1U) << "that its ranks are there does not say that they have their threads";
}

// Nothing tells how far its ranks came: that there is no room for the job without it does.
TEST_F(ServiceThatLacksProcesses, AJobWithoutVmlibWhoseRankLacksAThreadWaitsToo) {
  leave(2);
  const auto service = start(one_core());
  std::string submission = submit(1, phases(0.1));
  const std::string environment = R"("environment":[)";
  submission.replace(submission.find(environment), environment.size(), environment + R"("REPLAY_VM_OFF=1",)");
  EXPECT_TRUE(has(ask(submission), R"("submitted":1)")) << service->err();
  expect_lacks_a_thread_and_runs_later(1);
  EXPECT_EQ(stop(*service), 0) << service->err();
}

TEST_F(ServiceOfUsers, AMachineThatThePolicyCannotUseIsRefusedBeforeAnyJobComes) {
  const ShellResult refused = shell(fmt::format("timeout 20 {} serve --service {} --machine emulated:2x1x2 --policy {}",
                                                REPLAY_PROGRAM, home().string(), "g-lomarc-ts"));
  EXPECT_EQ(refused.status, 2) << refused.out;
  EXPECT_TRUE(has(refused.err, "--policy g-lomarc-ts: ") &&
              has(refused.err, "found 2x1x2; try --machine 1x2x2, in a real run emulated:1x2x2"))
      << refused.err;
}

}  // namespace
}  // namespace replay::test
