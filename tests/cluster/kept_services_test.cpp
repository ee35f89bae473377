// Services with --keep-jobs that were killed or stopped, and what the next one makes of what they have left: the last period that
// has kept its jobs goes on, whatever has begun since then; where it does not, the next service waits for its agent.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/background.hpp"
#include "tests/support/first_core.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestWait{30};

// A job that says when it runs beside itself, and runs until it may end.
constexpr const char* kOnlyOnce = R"sh(#!/bin/sh
cd "$(dirname "$0")" || exit 9
exec 9>>lock
flock -n 9 || echo beside >>log
echo start >>log
until [ -e go ]; do sleep 0.05; done
)sh";

class KeptServices : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
    write_text(folder_ / "job.sh", kOnlyOnce);
    fs::permissions(folder_ / "job.sh", fs::perms::owner_all);
  }
  void TearDown() override { write_text(folder_ / "go", ""); }
  [[nodiscard]] fs::path home() const { return folder_ / "s"; }
  [[nodiscard]] std::string log() const { return text_of(folder_ / "log"); }
  [[nodiscard]] std::string client(const std::string& words) const {
    const ShellResult result = shell(fmt::format("cd {} && {} {}", folder_.path().string(), REPLAY_PROGRAM, words));
    return result.status == 0 ? result.out : "failed: " + result.err;
  }
  [[nodiscard]] std::string jobs() const { return client("jobs --all --service " + home().string()); }
  [[nodiscard]] bool is_ready() const { return service_->out().find("results in ") != std::string::npos; }
  [[nodiscard]] fs::path run_folder() const {
    const std::string out = service_->out();
    const std::size_t at = out.find("results in ") + 11;
    return out.substr(at, out.find('\n', at) - at);
  }
  void start(const std::string& policy = "easy", const std::string& name = "s") {
    const std::string output = fmt::format("out-{}", starts_++);
    service_ = std::make_unique<Background>(
        REPLAY_PROGRAM,
        std::vector<std::string>{"serve", "--service", (folder_ / name).string(), "--machine", "local:" + first_core(),
                                 "--policy", policy, "--keep-jobs", "--lease", lease_, "--plain"},
        folder_ / output, folder_ / output);
  }
  void start_and_be_ready(const std::string& policy = "easy") {
    start(policy);
    ASSERT_TRUE(comes_true([this] { return is_ready() || !service_->is_running(); }, kLongestWait)) << service_->out();
    ASSERT_TRUE(service_->is_running()) << service_->out();
  }
  void with_a_running_job(const std::string& more = "") {
    ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
    const std::string said = client(fmt::format("submit --service {} {} -n 1 --time 10min -- {}", home().string(), more,
                                                (folder_ / "job.sh").string()));
    ASSERT_TRUE(comes_true([this] { return log() == "start\n"; }, kLongestWait)) << said << service_->out();
  }
  int end(int signal) {
    service_->send(signal);
    EXPECT_TRUE(comes_true([this] { return !service_->is_running(); }, kLongestWait)) << service_->out();
    return service_->wait();
  }
  [[nodiscard]] bool goes_on() const {
    return service_->out().find("the jobs of the last service go on") != std::string::npos;
  }
  void expect_the_job_to_complete() {
    write_text(folder_ / "go", "");
    EXPECT_TRUE(comes_true([this] { return jobs().find("completed") != std::string::npos; }, kLongestWait)) << jobs();
    EXPECT_EQ(log().find("beside"), std::string::npos) << log();
    EXPECT_EQ(end(SIGINT), 0) << service_->out();
    EXPECT_TRUE(comes_true([this] { return processes_marked(folder_.path().string()).empty(); }))
        << processes_marked(folder_.path().string());
  }

  TemporaryFolder folder_;
  std::string lease_ = "60s";
  std::unique_ptr<Background> service_;
  int starts_ = 0;
};

TEST_F(KeptServices, WhoseRunFolderIsRemovedAreWaitedFor) {
  lease_ = "3s";
  ASSERT_NO_FATAL_FAILURE(with_a_running_job("--requeue"));
  const fs::path run = run_folder();
  (void)end(SIGKILL);
  fs::remove_all(run);
  ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
  EXPECT_NE(service_->out().find("waiting for the node agent of the last service"), std::string::npos)
      << service_->out();
  EXPECT_TRUE(comes_true([this] { return log() == "start\nstart\n"; }, kLongestWait)) << log() << service_->out();
  expect_the_job_to_complete();
}

TEST_F(KeptServices, OneOfOtherOptionsOfAgentsSaysWhichAndWaits) {
  ASSERT_NO_FATAL_FAILURE(with_a_running_job());
  const fs::path run = run_folder();
  EXPECT_EQ(end(SIGTERM), 0) << service_->out();
  lease_ = "61s";
  start();
  EXPECT_TRUE(comes_true([this] { return service_->out().find("waiting for the node agent") != std::string::npos; },
                         kLongestWait));
  EXPECT_NE(service_->out().find("it had --lease 1min and not 61s\n"), std::string::npos) << service_->out();
  EXPECT_EQ(end(SIGTERM), 0) << service_->out();
  EXPECT_NE(text_of(folder_ / "out-1").find("stopped before the service has begun"), std::string::npos);
  lease_ = "60s";
  const ShellResult without =
      shell(fmt::format("timeout -s TERM 5 {} serve --service {} --machine local:{} --policy easy --plain",
                        REPLAY_PROGRAM, home().string(), first_core()));
  EXPECT_NE(without.out.find("--keep-jobs given and not none\n"), std::string::npos) << without.out << without.err;
  ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
  EXPECT_TRUE(goes_on()) << service_->out();
  EXPECT_EQ(run_folder(), run);
  expect_the_job_to_complete();
  EXPECT_EQ(log(), "start\n");
}

TEST_F(KeptServices, TheLastThatIsNotOverGoesOn) {
  ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
  const fs::path over = run_folder();
  EXPECT_EQ(end(SIGTERM), 0) << service_->out();
  ASSERT_NO_FATAL_FAILURE(with_a_running_job());
  const fs::path run = run_folder();
  EXPECT_NE(run, over);
  (void)end(SIGKILL);
  fs::last_write_time(over / "turns.log", fs::last_write_time(run / "turns.log") + std::chrono::seconds{1});
  ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
  EXPECT_TRUE(goes_on()) << service_->out();
  EXPECT_EQ(run_folder(), run) << "the other one has newer turns, is over, and has no agent";
  expect_the_job_to_complete();
  EXPECT_EQ(log(), "start\n");
}

TEST_F(KeptServices, WhoseResultsWereMadeMeanwhileGoOn) {
  ASSERT_NO_FATAL_FAILURE(with_a_running_job());
  const fs::path run = run_folder();
  (void)end(SIGKILL);
  EXPECT_EQ(client("results " + run.string()).find("failed:"), std::string::npos);
  ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
  EXPECT_TRUE(goes_on()) << service_->out();
  EXPECT_EQ(run_folder(), run);
  expect_the_job_to_complete();
}

TEST_F(KeptServices, CopiesOfThemDoNotGoOn) {
  ASSERT_NO_FATAL_FAILURE(with_a_running_job("--requeue"));
  const fs::path run = run_folder();
  (void)end(SIGKILL);
  ASSERT_EQ(shell(fmt::format("cp -a {0} {0}-copy && cp -a {1} {2}", run.string(), home().string(),
                              (folder_ / "other").string()))
                .status,
            0);
  start("easy", "other");
  EXPECT_TRUE(comes_true([this] { return !service_->is_running(); }, kLongestWait)) << service_->out();
  EXPECT_EQ(service_->wait(), 1);
  EXPECT_NE(service_->out().find("other: is the copy of a service whose jobs go on"), std::string::npos)
      << service_->out();
  ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
  EXPECT_TRUE(goes_on()) << service_->out();
  EXPECT_EQ(run_folder(), run);
  expect_the_job_to_complete();
  EXPECT_EQ(log(), "start\n");
}

// As on a full disk: the jobs cannot be ended.
TEST_F(KeptServices, WhoseTurnsCannotBeWrittenLeaveTheirJobsAtCtrlC) {
  ASSERT_NO_FATAL_FAILURE(with_a_running_job());
  const fs::path turns = run_folder() / "turns.log";
  rlimit limit{};
  ASSERT_EQ(::prlimit(service_->pid(), RLIMIT_FSIZE, nullptr, &limit), 0);
  limit.rlim_cur = fs::file_size(turns);
  ASSERT_EQ(::prlimit(service_->pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  EXPECT_EQ(end(SIGINT), 128 + SIGINT) << service_->out();
  EXPECT_NE(text_of(folder_ / "out-0").find("stopped: the jobs could not be ended; they go on for 1 min"),
            std::string::npos)
      << service_->out();
  ASSERT_NO_FATAL_FAILURE(start_and_be_ready());
  EXPECT_TRUE(goes_on()) << service_->out();
  expect_the_job_to_complete();
  EXPECT_EQ(log(), "start\n");
}

}  // namespace
}  // namespace replay::test
