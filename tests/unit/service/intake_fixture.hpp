// Fixture for tests of jobs of users through the real engine, journal and door, with an executor without processes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/history/follower.hpp"
#include "scheduler/log/text.hpp"
#include "scheduler/policy/registry.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/service/intake.hpp"
#include "scheduler/service/past_period.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/service_client.hpp"
#include "tests/support/shell.hpp"

namespace replay::service {

using namespace std::chrono_literals;
using test::ServiceClient;

inline constexpr UnixTime kStart{1'764'000'000s};

inline std::string submit_line(int processes, const std::string& more = "") {
  return R"({"request":"submit","job":{"processes":)" + std::to_string(processes) +
         R"(,"time_limit_s":600,"command":["true"],"directory":"/tmp")" + more + "}}\n";
}
inline std::string of_job(const std::string& request, int job) {
  return R"({"request":")" + request + R"(","job":)" + std::to_string(job) + "}\n";
}
inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// One step of a test: what it waits for, and then the next one is taken.
using Step = std::function<bool()>;

class IntakeTest : public testing::Test {
 protected:
  struct Period {
    live::RunResult result;
    test::MemoryLog log;
    std::map<JobId, std::vector<std::vector<CoreId>>> launched;
    std::size_t held_back = 0;
  };
  /// A period of the service: takes the steps one after the other, as each comes true, then sends SIGTERM.
  /// `runtimes` of the jobs in seconds.
  Period serve(const std::map<int, double>& runtimes, std::vector<Step> steps, CoreCount cores = 2) {
    const StopSignals owner;
    const HeedStops heeding;
    std::map<JobId, Duration> durations;
    for (const auto& [job, seconds] : runtimes) durations[JobId{job}] = from_seconds(seconds);
    executor_ = std::make_unique<test::FakeExecutor>(durations);
    if (adjust_) adjust_();
    Journal journal{folder().journal(), kStart};
    Board board;
    const UniqueFd socket = listen_at(folder().socket());
    const Instant begin = journal.latest();
    (void)journal.recover(begin);
    const ServiceFolder home = folder();
    IntakeOptions options;
    options.cores = cores;
    options.save_log = save_log_;
    Intake intake{journal, board, home, socket.get(), begin, options};
    Period period;
    period.held_back = intake.held_back();
    history::Follower follower{{&board}};
    log::Header header;
    header.set("machine", fmt::format("{}x1x{}", nodes_, cores / nodes_));
    follower.header(header);
    log::Tee tee{{&follower, &period.log}};
    live::RunOptions run;
    run.stop_reason = "stopped";
    run.between_tries = 50ms;
    run.order = [&](const TracedJob& traced, ProcessCount) { return intake.order(traced); };
    std::size_t next = 0;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    run.tick = [&](Instant) {
      while (next < steps.size() && steps[next]()) ++next;
      const bool is_late = std::chrono::steady_clock::now() > deadline;
      EXPECT_FALSE(is_late) << "step " << next << " does not come true";
      if ((next == steps.size() || is_late) && stops_asked() == 0) send_signal(::getpid(), SIGTERM);
      if (stops_asked() == 1 && after_stop_) after_stop_();
    };
    const Machine machine = Machine::cluster(nodes_, 1, cores / nodes_);
    const auto easy = make_policy("easy");
    Policy& policy = policy_ != nullptr ? *policy_ : *easy.policy;
    period.result = live::run(machine, intake, policy, *make_runtime_model("isolated"), *executor_, tee, run);
    period.launched = executor_->placements;
    return period;
  }
  /// A step that connects, if there is no client yet, and sends.
  Step send(const std::string& line) {
    return [this, line] {
      if (!client_) client_ = std::make_unique<ServiceClient>(folder().socket());
      client_->send(line);
      return true;
    };
  }
  Step answers(std::size_t count) {
    return [this, count] { return client_->lines() >= count; };
  }
  /// Asks for a job until the answer has this.
  Step shows(int job, const std::string& part) {
    return [this, job, part] {
      client_->send(of_job("job", job));
      return has(client_->last_line(), part);
    };
  }
  /// The last of so many answers to `wait` have come.
  Step ended(std::size_t count) {
    return [this, count] {
      const std::string text = client_->take();
      std::size_t found = 0;
      for (std::size_t at = text.find("\"state\":\"ended\""); at != std::string::npos;
           at = text.find("\"state\":\"ended\"", at + 1))
        ++found;
      return found >= count;
    };
  }
  void TearDown() override { client_.reset(); }
  /// The reasons of its ends in the event log.
  static std::vector<std::string> ends_of(const Period& period, int job) {
    std::vector<std::string> reasons;
    for (const log::Record& record : period.log.records())
      if (const auto* const end = std::get_if<log::Finished>(&record.what); end != nullptr && end->job == JobId{job})
        reasons.push_back(end->end.reason);
    return reasons;
  }
  /// Leaves the period's event log where the next period looks for it.
  void keep_log(const Period& period) const {
    const std::filesystem::path run = folder().runs() / "20261125T064500Z";
    std::filesystem::create_directories(run);
    log::TextWriter writer{run / "events.log"};
    log::Header header;
    header.set("machine", "1x1x2");
    writer.header(header);
    for (const log::Record& record : period.log.records()) writer.record(record);
    writer.close();
  }
  /// The end that the next period reads in the log, if the journal has got nothing but the job's start.
  std::optional<Outcome> end_read_back(const Period& period, int job) {
    keep_log(period);
    Journal journal{folder().journal(), kStart};
    journal.start(JobId{job}, Instant{});
    (void)journal.recover(journal.latest(), read_past_period(folder()).left);
    const StoredJob found = journal.find(JobId{job}).value();
    return found.ended ? std::optional{found.outcome} : std::nullopt;
  }
  ServiceFolder folder() const { return ServiceFolder{folder_.path().string()}; }
  StoredJob stored(int job) {
    const Journal journal{folder().journal(), kStart};
    return journal.find(JobId{job}).value();
  }
  std::vector<std::int64_t> waiting() {
    std::vector<std::int64_t> jobs;
    for (const WaitingJob& job : Journal{folder().journal(), kStart}.waiting()) jobs.push_back(number(job.id));
    return jobs;
  }

  TemporaryFolder folder_;
  std::unique_ptr<test::FakeExecutor> executor_;
  std::unique_ptr<ServiceClient> client_;
  Policy* policy_ = nullptr;      // null: easy
  int nodes_ = 1;                 // of the machine
  std::function<void()> adjust_;  // of the executor, before the period
  std::function<void()> save_log_;
  std::function<void()> after_stop_;  // at each tick after the first stop signal
};

}  // namespace replay::service
