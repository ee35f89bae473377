// Runs whose inputs are kept, with an executor without processes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/file/record_file.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/live/turn_log.hpp"
#include "scheduler/log/text.hpp"
#include "tests/support/live_run.hpp"

namespace replay::test {

using live::ExecutorListener;
using Call = std::function<void(ExecutorListener&)>;

/// Keeps what another executor reports; or plays it back, and then reports nothing more.
class KeptExecutor final : public live::Executor, ExecutorListener {
 public:
  KeptExecutor(std::vector<Call>& calls, live::Executor* inner) : calls_(calls), inner_(inner) {}

  std::vector<std::string> orders;

  void attach(event_base* loop, ExecutorListener* listener) override {
    listener_ = listener;
    if (inner_ != nullptr) inner_->attach(loop, this);
  }
  void detach() override {
    if (inner_ != nullptr) inner_->detach();
  }
  void launch(const live::LaunchOrder& order) override {
    give("launch", order.job, order.core_of_rank, [&](Executor& inner) { inner.launch(order); });
  }
  void resize(JobId job, const std::vector<CoreId>& cores) override {
    give("resize", job, cores, [&](Executor& inner) { inner.resize(job, cores); });
  }
  void suspend(JobId job) override {
    give("suspend", job, {}, [&](Executor& inner) { inner.suspend(job); });
  }
  void resume(JobId job) override {
    give("resume", job, {}, [&](Executor& inner) { inner.resume(job); });
  }
  void end(JobId job, Outcome outcome) override {
    give("end", job, {}, [&](Executor& inner) { inner.end(job, outcome); });
  }
  void release() override { released = orders.size(); }
  void play(const std::string& input) override { calls_.at(std::stoul(input))(*listener_); }

  std::size_t released = 0;  ///< of the orders

 private:
  template <class Do>
  void give(const std::string& what, JobId job, const std::vector<CoreId>& cores, Do order) {
    std::string text = what + " " + std::to_string(number(job));
    for (const CoreId core : cores) text += " " + std::to_string(number(core));
    orders.push_back(text);
    if (inner_ != nullptr) order(*inner_);
  }
  void tell(const Call& call) {
    listener_->on_input(std::to_string(calls_.size()));
    calls_.push_back(call);
    call(*listener_);
  }
  void on_begun(JobId job) override {
    tell([=](ExecutorListener& to) { to.on_begun(job); });
  }
  void on_started(JobId job, bool malleable, const std::string& reason) override {
    tell([=](ExecutorListener& to) { to.on_started(job, malleable, reason); });
  }
  void on_resized(JobId job) override {
    tell([=](ExecutorListener& to) { to.on_resized(job); });
  }
  void on_suspended(JobId job) override {
    tell([=](ExecutorListener& to) { to.on_suspended(job); });
  }
  void on_resumed(JobId job) override {
    tell([=](ExecutorListener& to) { to.on_resumed(job); });
  }
  void on_measured(JobId job, double use) override {
    tell([=](ExecutorListener& to) { to.on_measured(job, use); });
  }
  void on_noted(JobId job, const std::string& text) override {
    tell([=](ExecutorListener& to) { to.on_noted(job, text); });
  }
  void on_node(const NodeChange& change, const std::string& host) override {
    tell([=](ExecutorListener& to) { to.on_node(change, host); });
  }
  void on_ended(JobId job, const JobEnd& end) override {
    tell([=](ExecutorListener& to) { to.on_ended(job, end); });
  }
  void on_not_started(JobId job, const std::string& reason) override {
    tell([=](ExecutorListener& to) { to.on_not_started(job, reason); });
  }
  void on_action_failed(JobId job, const std::string& action, const std::string& reason) override {
    tell([=](ExecutorListener& to) { to.on_action_failed(job, action, reason); });
  }
  void on_lost(const std::string& reason) override {
    tell([=](ExecutorListener& to) { to.on_lost(reason); });
  }

  std::vector<Call>& calls_;
  live::Executor* inner_;  // null: there is none any more
  ExecutorListener* listener_ = nullptr;
};

struct PlayedBack {};  // ends a run when that is over

struct Made {
  std::vector<std::string> log, orders;
};

/// Expects that the turn of each record is on disk before it.
class LogAfterTurns final : public log::Sink {
 public:
  LogAfterTurns(MemoryLog& log, std::filesystem::path turns) : log_(log), turns_(std::move(turns)) {}
  void header(const log::Header& header) override { log_.header(header); }
  void record(const log::Record& record) override {
    std::int64_t latest = -1;
    for (const live::TurnLog::Input& input : live::read_turns(turns_))
      if (input.kind == live::TurnLog::Kind::kTurn) latest = std::stoll(input.text);
    EXPECT_LE(record.at.time_since_epoch().count(), latest) << log::to_line(record);
    log_.record(record);
  }

 private:
  MemoryLog& log_;
  std::filesystem::path turns_;
};

class KeptRunsBase : public Live {
 protected:
  void SetUp() override { machine_ = Machine::cluster(2, 1, 4); }

  std::vector<std::string> lines_of(const MemoryLog& log) {
    std::vector<std::string> lines;
    for (const log::Record& record : log.records()) lines.push_back(log::to_line(record));
    return lines;
  }

  /// A run with all that may come from outside: reports, ends, failed orders, nodes, refused starts.
  Made run_and_keep(const std::string& policy, const Workload& workload, std::uint64_t seed) {
    std::map<JobId, Duration> runtimes;
    for (const TracedJob& traced : workload.jobs) runtimes[traced.job.id] = traced.truth.runtime / kFaster;
    FakeExecutor inner{runtimes};
    for (const TracedJob& traced : workload.jobs) {
      const auto number = static_cast<std::uint64_t>(replay::number(traced.job.id)) + seed;
      if (number % 7 == 0) inner.fails.insert(traced.job.id);
      if (number % 11 == 0) inner.not_started[traced.job.id] = "no process";
    }
    KeptExecutor executor{calls_, &inner};
    live::TurnLog turns{file_, "about", [](const std::string&) {}};
    MemoryLog log;
    live::RunOptions options = options_for(turns, log);
    options.tick = [&, steps = 0](Instant) mutable {
      if (++steps == 2) inner.change(machine_, {NodeId{1}, NodeState::kSilent, kNever, "no word", ""});
      if (steps == 3) inner.change(machine_, {NodeId{1}, NodeState::kUp, kNever, "a word", ""});
    };
    live::TraceSource source{workload};
    LogAfterTurns checked{log, file_};
    const auto result = live::run(machine_, source, *make_policy(policy).policy, *model_, executor, checked, options);
    EXPECT_EQ(result.fault, "") << policy;
    EXPECT_EQ(executor.released, executor.orders.size());
    return {lines_of(log), executor.orders};
  }

  /// Makes a file of the first `records` of the kept ones.
  void cut(std::size_t records) {
    const std::vector<std::string> all = RecordFile::read(file_);
    std::filesystem::remove(part_);
    RecordFile file = RecordFile::make(part_);
    for (std::size_t i = 0; i < records; ++i) file.add(all[i]);
    file.save();
  }

  /// They are played back.
  Made play_back(const std::string& policy, const Workload& workload, std::size_t records) {
    cut(records);
    KeptExecutor executor{calls_, nullptr};
    live::TurnLog turns{part_, [](const std::string&) {}};
    MemoryLog log;
    live::RunOptions options = options_for(turns, log);
    options.played_back = [] { throw PlayedBack{}; };
    live::TraceSource source{workload};
    EXPECT_THROW((void)live::run(machine_, source, *make_policy(policy).policy, *model_, executor, log, options),
                 PlayedBack);
    EXPECT_EQ(executor.released, 0U) << "no order has gone out";
    return {lines_of(log), executor.orders};
  }

  /// `so_far`: of the run, whichever daemon asks.
  live::RunOptions options_for(live::TurnLog& turns, const MemoryLog& so_far) const {
    live::RunOptions options;
    options.time_scale = 1.0 / kFaster;
    options.between_tries = 20ms;
    options.nodes_come_back_within = 20ms;
    options.order = [&so_far](const TracedJob& traced, ProcessCount) {
      if (number(traced.job.id) % 13 == 0) throw InputError("no such program");
      const auto is_again = [&traced](const log::Record& record) {
        const auto* const again = std::get_if<log::Requeued>(&record.what);
        return again != nullptr && again->job == traced.job.id;
      };
      if (number(traced.job.id) % 5 == 0 && std::ranges::none_of(so_far.records(), is_again))
        throw live::NotStartable("not yet");
      return live::LaunchOrder{};
    };
    options.until = until_;
    options.turns = &turns;
    return options;
  }

  static constexpr int kFaster = 1000;
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "turns.log", part_ = folder_.path() / "part";
  std::vector<Call> calls_;
  Instant until_ = kNever;
  std::unique_ptr<RuntimeModel> model_ = make_runtime_model("isolated");
};

}  // namespace replay::test
