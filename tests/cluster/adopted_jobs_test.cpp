// A service adopts the jobs that another one has left, whose decisions it cannot repeat: under another policy, or where what was
// kept does not come out again. Each job has one end, which is its own, and none is started twice.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/text/split.hpp"
#include "tests/support/background.hpp"
#include "tests/support/service_client.hpp"
#include "tests/support/service_logs.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::seconds kSoon{60};

class AdoptedJobs : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("mpiexec")) GTEST_SKIP() << "mpiexec (MPICH) is not on the PATH";
    ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
    ::setenv("REPLAY_TEST_RUN", folder_.path().c_str(), 1);  // marks every process of this test
  }

  void start(const std::string& policy, const std::vector<std::string>& more = {}) {
    const std::string name = fmt::format("service-{}", starts_++);
    std::vector<std::string> words{"serve", "--service",   home().string(), "--machine", "emulated:1x1x6", "--policy",
                                   policy,  "--keep-jobs", "--lease",       "60s",       "--plain"};
    words.insert(words.end(), more.begin(), more.end());
    service_ =
        std::make_unique<Background>(REPLAY_PROGRAM, words, folder_ / (name + ".out"), folder_ / (name + ".err"));
  }
  json ask(const json& request) {
    json answer = answer_of(*service_, home() / "socket", request, kSoon);
    EXPECT_TRUE(answer.value("ok", false)) << request.dump() << answer.dump() << said();
    return answer;
  }
  /// It says that it has started, waits for the file, and exits with this status.
  void submit(int processes, const std::string& file, int status) {
    const std::string command = fmt::format(
        "cd {}; echo \"$PMI_RANK of {}\" >>started; until [ -e {} ]; do sleep 0.05; done; [ {} = 0 ] || exit {}; "
        "exec {} --runtime 0.1",
        folder_.path().string(), ++jobs_, file, status, status, REPLAY_PHASES);
    (void)ask({{"request", "submit"},
               {"job",
                {{"processes", processes},
                 {"time_limit_s", 600},
                 {"command", {"/bin/sh", "-c", command}},
                 {"directory", folder_.path().string()},
                 {"environment", {fmt::format("PATH={}", std::getenv("PATH"))}}}}});
  }
  json job(int number) { return ask({{"request", "job"}, {"job", number}})["job"]; }
  bool comes_to(int number, const std::string& state) {
    return comes_true([&] { return HasFailure() || job(number)["state"] == state; }, kSoon);
  }
  void three_jobs_run() {
    submit(2, "go", 0);
    submit(1, "go", 3);
    submit(1, "never", 0);
    for (int number = 1; number <= 3; ++number) ASSERT_TRUE(comes_to(number, "running")) << said();
    ASSERT_TRUE(comes_true([this] { return starts() == 4; }, kSoon)) << text_of(folder_ / "started");
  }
  void stop(int signal) {
    ASSERT_TRUE(service_->is_running()) << said();
    service_->send(signal);
    ASSERT_TRUE(comes_true([this] { return !service_->is_running(); }, kSoon));
    (void)service_->wait();
  }
  void stop_when_it_listens() {
    (void)run_folder();
    stop(SIGKILL);
  }
  /// Of jobs, while they wait for their file.
  [[nodiscard]] std::ptrdiff_t ranks() const {
    const std::string all = processes_marked(folder_.path().string());
    return static_cast<std::ptrdiff_t>(std::ranges::count_if(
        split(all, '\n'), [](std::string_view line) { return line.ends_with(" sh") || line.ends_with(" phases"); }));
  }
  [[nodiscard]] std::string said() const { return service_->out() + service_->err(); }
  [[nodiscard]] std::ptrdiff_t starts() const {
    const std::string text = text_of(folder_ / "started");
    return std::count(text.begin(), text.end(), '\n');
  }
  [[nodiscard]] fs::path home() const { return folder_ / "s"; }
  fs::path run_folder() { return ask({{"request", "service"}})["service"].value("run_folder", ""); }
  void expect_nothing_left() {
    service_.reset();
    const auto left = [this] { return processes_marked(folder_.path().string()); };
    EXPECT_TRUE(comes_true([&] { return left().empty(); }, std::chrono::seconds{10})) << left();
  }

  TemporaryFolder folder_;
  std::unique_ptr<Background> service_;

 private:
  int starts_ = 0, jobs_ = 0;
};

TEST_F(AdoptedJobs, OfAnotherPolicyRunOnAndEndOnce) {
  start("easy");
  three_jobs_run();
  if (HasFailure()) return;
  const fs::path before = run_folder();
  const json first = job(1);
  stop(SIGKILL);

  start("fcfs-malleable");
  EXPECT_NE(run_folder(), before);
  EXPECT_NE(service_->out().find(fmt::format("adopts 3 jobs of {}", before.string())), std::string::npos) << said();
  EXPECT_FALSE(fs::exists(before / "turns.log"));
  for (int number = 1; number <= 3; ++number) EXPECT_EQ(job(number)["state"], "running") << job(number).dump();
  EXPECT_EQ(job(1)["started"], first["started"]);

  submit(2, "started", 0);  // on the free cores
  EXPECT_TRUE(comes_to(4, "ended")) << said();
  EXPECT_EQ(job(4)["outcome"], "completed") << job(4).dump();
  EXPECT_EQ(job(1)["state"], "running");

  (void)ask({{"request", "cancel"}, {"job", 3}});
  EXPECT_TRUE(comes_to(3, "ended"));
  EXPECT_EQ(job(3)["outcome"], "cancelled") << job(3).dump();

  stop(SIGKILL);  // and this period goes on, with the jobs of the one before it
  start("fcfs-malleable");
  write_text(folder_ / "go", "");
  EXPECT_TRUE(comes_to(1, "ended")) << said();
  EXPECT_TRUE(comes_to(2, "ended")) << said();
  EXPECT_NE(service_->out().find("the jobs of the last service go on"), std::string::npos) << said();
  EXPECT_EQ(job(1)["outcome"], "completed") << job(1).dump();
  EXPECT_EQ(job(1)["started"], first["started"]);
  EXPECT_EQ(job(2)["outcome"], "failed") << job(2).dump();
  EXPECT_EQ(job(2)["exit_code"], 3) << job(2).dump();
  EXPECT_EQ(starts(), 6) << text_of(folder_ / "started");
  auto [completed, ends] = ends_in_logs(home() / "runs");
  EXPECT_EQ(completed, (std::map<int, int>{{1, 1}, {4, 1}}));
  EXPECT_EQ(ends, (std::map<int, int>{{1, 1}, {2, 1}, {4, 1}}));
  EXPECT_NE(text_of(run_folder() / "events.log").find(" since="), std::string::npos);
  stop(SIGTERM);
  expect_nothing_left();
}

TEST_F(AdoptedJobs, OfWhichTheLogDoesNotComeOutAgainRunOn) {
  start("easy");
  three_jobs_run();
  if (HasFailure()) return;
  const fs::path before = run_folder();
  stop(SIGTERM);
  std::ofstream{before / "events.log", std::ios::app} << "1000000 note text=\"another\"\n";
  const std::string log = text_of(before / "events.log");

  start("easy");
  EXPECT_NE(run_folder(), before);
  EXPECT_NE(service_->out().find("adopts 3 jobs"), std::string::npos) << said();
  EXPECT_NE(service_->out().find("does not come out as it was"), std::string::npos) << said();
  EXPECT_EQ(text_of(before / "events.log"), log);
  write_text(folder_ / "go", "");
  EXPECT_TRUE(comes_to(1, "ended")) << said();
  EXPECT_EQ(job(1)["outcome"], "completed") << job(1).dump();
  EXPECT_TRUE(comes_to(2, "ended")) << said();
  EXPECT_EQ(starts(), 4) << text_of(folder_ / "started");

  stop(SIGTERM);
  start("conservative");  // the third one is adopted once more
  EXPECT_EQ(job(3)["state"], "running") << said();
  EXPECT_NE(service_->out().find("adopts 1 job of"), std::string::npos) << said();
  write_text(folder_ / "never", "");
  EXPECT_TRUE(comes_to(3, "ended")) << said();
  EXPECT_EQ(job(3)["outcome"], "completed") << job(3).dump();
  EXPECT_EQ(starts(), 4) << text_of(folder_ / "started");
  stop(SIGTERM);
  expect_nothing_left();
}

// The program is replaced by one that would not have started the first job.
TEST_F(AdoptedJobs, OfAProgramThatDecidesOtherwiseRunOnAndItIsTold) {
  const fs::path program = folder_ / "policy.sh", told = folder_ / "told";
  const auto write = [&](const std::string& filter) {
    write_text(program, fmt::format("#!/bin/sh\ntee -a {} | {}/fcfs_program {}\n", told.string(),
                                    REPLAY_EXAMPLE_POLICY_DIR, filter));
    fs::permissions(program, fs::perms::owner_all);
  };
  write("");
  start("exec:" + program.string());
  three_jobs_run();
  if (HasFailure()) return;
  const fs::path before = run_folder();
  stop(SIGKILL);
  start("exec:" + program.string());  // the same decides the same
  EXPECT_EQ(run_folder(), before) << said();
  EXPECT_EQ(text_of(told).find("adopted"), std::string::npos);
  stop(SIGKILL);

  write(R"(| sed -u 's/{"start":1}//')");
  start("exec:" + program.string());
  EXPECT_NE(run_folder(), before) << said();
  EXPECT_NE(service_->out().find(fmt::format("adopts 3 jobs of {}", before.string())), std::string::npos) << said();
  EXPECT_NE(
      service_->out().find(R"(expected the answer {"actions":[{"start":1}]} of the policy, which was asked again, )"
                           R"(found {"actions":[]})"),
      std::string::npos)
      << said();
  submit(2, "started", 0);  // on the free cores
  EXPECT_TRUE(comes_to(4, "ended")) << said();
  EXPECT_NE(text_of(told).find(R"("adopted":true)"), std::string::npos) << text_of(told);
  const fs::path adopting = run_folder();
  stop(SIGKILL);
  start("exec:" + program.string());
  EXPECT_EQ(run_folder(), adopting) << said();
  write_text(folder_ / "go", "");
  write_text(folder_ / "never", "");
  for (int number = 1; number <= 3; ++number) EXPECT_TRUE(comes_to(number, "ended")) << said();
  EXPECT_EQ(starts(), 6) << text_of(folder_ / "started");
  EXPECT_EQ(ends_in_logs(home() / "runs").ends, (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}}));
  stop(SIGTERM);
  expect_nothing_left();
}

TEST_F(AdoptedJobs, ThatHaveEndedMeanwhileSaySo) {
  start("easy");
  stop_when_it_listens();
  start("fcfs-malleable");
  (void)run_folder();
  EXPECT_NE(service_->out().find("adopts no job of"), std::string::npos) << said();
  stop_when_it_listens();
  start("easy");
  three_jobs_run();
  if (HasFailure()) return;
  stop(SIGKILL);
  write_text(folder_ / "go", "");
  ASSERT_TRUE(comes_true([this] { return ranks() == 1; }, kSoon)) << processes_marked(folder_.path().string());

  start("easy", {"--overrun", "extend"});
  for (int number = 1; number <= 2; ++number) EXPECT_TRUE(comes_to(number, "ended")) << said();
  EXPECT_NE(service_->out().find("adopts 3 jobs of"), std::string::npos) << said();
  EXPECT_NE(service_->out().find("its options were others: --overrun kill and not extend"), std::string::npos)
      << said();
  EXPECT_EQ(job(1)["outcome"], "completed") << job(1).dump();
  EXPECT_EQ(job(1).value("reason", ""), "it may have ended before this run began, while no daemon was there");
  EXPECT_EQ(job(3)["state"], "running");
  std::this_thread::sleep_for(std::chrono::seconds{1});  // all that waited at the agent has been told
  write_text(folder_ / "never", "");
  EXPECT_TRUE(comes_to(3, "ended")) << said();
  EXPECT_EQ(job(3).value("reason", ""), "");
  const fs::path run = run_folder();
  stop(SIGTERM);
  EXPECT_NE(text_of(run / "jobs.csv").find(",since\n"), std::string::npos);
  expect_nothing_left();
}

TEST_F(AdoptedJobs, AreLeftAloneByAPolicyThatCannot) {
  start("easy");
  three_jobs_run();
  if (HasFailure()) return;
  stop(SIGKILL);
  start("scojo-pect");
  EXPECT_TRUE(comes_true([this] { return !service_->is_running(); }, kSoon)) << said();
  EXPECT_NE(service_->err().find("cannot be adopted: policy scojo-pect"), std::string::npos) << said();
  EXPECT_EQ(service_->wait(), 1);
  start("easy");
  EXPECT_EQ(job(1)["state"], "running") << said();
  EXPECT_NE(service_->out().find("the jobs of the last service go on"), std::string::npos) << said();
  service_->send(SIGINT);  // ends the jobs, too
  EXPECT_TRUE(comes_true([this] { return !service_->is_running(); }, kSoon));
  expect_nothing_left();
}

}  // namespace
}  // namespace replay::test
