// Fixture for tests of the launcher with real processes: an agent, an executor, a loop, and a record of what is
// reported. Each test waits for events with a deadline; none sleeps for a fixed time.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_executor.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

constexpr JobId kJob{7};

/// Keeps the executor's reports. A second end of a job fails the test.
class Recorder : public live::ExecutorListener {
 public:
  void on_begun(JobId job) override { begun.push_back(job); }
  void on_started(JobId job, bool is_malleable, const std::string& why) override {
    started[job] = is_malleable;
    reason[job] = why;
  }
  void on_resized(JobId) override { ++resized; }
  void on_suspended(JobId) override { ++suspended; }
  void on_resumed(JobId) override { ++resumed; }
  void on_measured(JobId, double use) override { measured.push_back(use); }
  void on_noted(JobId, const std::string& text) override { noted.push_back(text); }
  void on_ended(JobId job, const JobEnd& end) override {
    EXPECT_FALSE(ended.contains(job)) << "the second end of a job";
    ended[job] = end;
  }
  void on_not_started(JobId job, const std::string& why) override {
    site_fault = why;
    on_ended(job, {Outcome::kFailed, 127, Verification::kNone, -1, why});
  }
  void on_action_failed(JobId, const std::string& action, const std::string& why) override {
    failed.push_back(action + ": " + why);
  }
  void on_lost(const std::string& why) override { lost = why; }

  std::vector<JobId> begun;
  std::map<JobId, bool> started;
  std::map<JobId, std::string> reason;
  std::map<JobId, JobEnd> ended;
  int resized = 0, suspended = 0, resumed = 0;
  std::vector<double> measured;
  std::vector<std::string> failed;
  std::optional<std::string> lost, site_fault;
  std::vector<std::string> noted;
};

/// A test with a directory of its own, and an agent with its private directory below that.
class Launcher : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Starts the agent with `options_` on the cores of `local_`, which are this machine's unless the test has set them.
  void start();
  /// The same without a listener: for a live::run() of the test.
  void prepare();

  [[nodiscard]] CoreId core(std::size_t number) const {
    return CoreId{static_cast<std::int32_t>(number % local_.pu_of_core.size())};
  }
  /// An order to launch `ranks` ranks, rank i on core i.
  [[nodiscard]] live::LaunchOrder order(std::vector<std::string> command, std::size_t ranks, JobId job = kJob) const;
  /// In the job's directory.
  void launch(std::vector<std::string> command, std::size_t ranks) {
    live::LaunchOrder job = order(std::move(command), ranks);
    job.working_directory = job.directory;
    executor_->launch(job);
  }

  /// Runs the loop until `happened`. False: not within `limit`.
  bool until(const std::function<bool()>& happened, std::chrono::milliseconds limit = std::chrono::seconds{15});
  /// Tells the job's ranks, which talk (rank_program.c), to end.
  void tell_to_end() const { std::ofstream{directory_ / "job" / "end"}.flush(); }

  [[nodiscard]] bool has_ended() const { return seen_.ended.contains(kJob); }
  [[nodiscard]] bool has_started() const { return seen_.started.contains(kJob); }
  [[nodiscard]] const JobEnd& its_end() const { return seen_.ended.at(kJob); }
  /// The processes of all jobs of this agent.
  [[nodiscard]] std::vector<pid_t> its_processes() const;
  /// 0 if there is none.
  [[nodiscard]] pid_t process_named(std::string_view name) const;
  [[nodiscard]] pid_t rank(int number) const;
  /// A path below /proc that opens one of the agent's shared segments; empty if it has none of that name.
  [[nodiscard]] std::filesystem::path segment_file(const std::string& name) const;
  [[nodiscard]] std::filesystem::path agent_directory() const;
  /// A file of the job's directory.
  [[nodiscard]] std::string file(const std::string& name) const;

  AgentOptions options_;
  TemporaryFolder directory_{"launcher-test"};
  LocalMachine local_;
  EventBase loop_;
  Recorder seen_;
  pid_t agent_pid_ = 0;
  std::string socket_mark_;
  std::unique_ptr<live::Executor> executor_;
};

}  // namespace replay::launcher
