// What the engine reads from outside. Where the run's inputs are kept, each is told to the turn log as it is read; while a run is
// played back, it is what was read then.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "scheduler/live/executor.hpp"
#include "scheduler/live/job_source.hpp"
#include "scheduler/live/trace_clock.hpp"
#include "scheduler/live/turn_log.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay::live {

class RunInputs final : public AnswerKeeper {
 public:
  /// `turns` null: nothing is kept. `answers_stand`: RunOptions. Turns and clock outlive this.
  RunInputs(TurnLog* turns, const TraceClock& clock, bool answers_stand)
      : turns_(turns), clock_(clock), answers_stand_(answers_stand) {}

  [[nodiscard]] bool are_played_back() const { return turns_ != nullptr && turns_->is_playing(); }

  /// What decides nothing may read the clock itself.
  [[nodiscard]] Instant clock() { return instant(clock_.now()); }
  [[nodiscard]] Instant instant(Instant now) {
    return Instant{Duration{read(TurnLog::Kind::kClock, now.time_since_epoch().count())}};
  }
  [[nodiscard]] int stops(int now) { return turns_ == nullptr ? now : turns_->stops(now); }
  [[nodiscard]] const TracedJob* take(JobSource& source, Instant now);
  [[nodiscard]] std::optional<JobId> take_cancel(JobSource& source, Instant now);
  /// What `order` says, which may refuse the job by an exception: CannotStartJobs, or another one. Throws TurnLogDiffers if it
  /// does so only while it is played back.
  [[nodiscard]] LaunchOrder order(JobId job, const std::function<LaunchOrder()>& order);

  /// Of a job that was put off.
  [[nodiscard]] bool is_startable(JobSource& source, JobId job) {
    const bool is_now = !are_played_back() && source.why_not_startable(job).empty();
    return read(TurnLog::Kind::kStartable, is_now ? 1 : 0) != 0;
  }

  /// This order follows, as it did when it is played back. Throws TurnLogDiffers.
  void expect_order(const std::string& order);

  [[nodiscard]] std::string kept(std::string answer) override;
  void note_other_decisions(const std::string& kept, const std::string& given) override;
  /// Of the answers that were played back, those that decide otherwise this time.
  [[nodiscard]] std::size_t other_answers() const { return other_answers_; }

  // REQUIRES of these: nothing is played back.
  void begin_turn(Instant now) { add(TurnLog::Kind::kTurn, fmt::format("{}", now.time_since_epoch().count())); }
  void add(TurnLog::Kind kind, const std::string& text) {
    if (turns_ != nullptr) turns_->add(kind, text);
  }
  /// What was read is on disk.
  void secure() {
    if (turns_ != nullptr && !turns_->is_playing()) turns_->secure();
  }

 private:
  [[nodiscard]] std::int64_t read(TurnLog::Kind kind, std::int64_t now) {
    return turns_ == nullptr ? now : turns_->reading(kind, now);
  }

  TurnLog* turns_;
  const TraceClock& clock_;
  bool answers_stand_;
  std::size_t other_answers_ = 0;
};

/// The event log of a run: nothing is in it before the inputs that it follows from are on disk, so that it comes out again.
class LogAfterInputs final : public log::Sink {
 public:
  /// Both outlive this.
  LogAfterInputs(log::Sink& log, RunInputs& inputs) : log_(log), inputs_(inputs) {}
  void header(const log::Header& header) override { log_.header(header); }
  void record(const log::Record& record) override {
    inputs_.secure();
    log_.record(record);
  }
  [[nodiscard]] log::Kinds kinds() const override { return log_.kinds(); }

 private:
  log::Sink& log_;
  RunInputs& inputs_;
};

}  // namespace replay::live
