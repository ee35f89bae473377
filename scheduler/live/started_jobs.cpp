#include "scheduler/live/started_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::live {

StartedJobs::StartedJobs(const Machine& machine, JobSource& source, Executor& executor, log::Sink& log,
                         const RunOptions& options, RunInputs& inputs, RunState& run)
    : machine_(machine),
      source_(source),
      executor_(executor),
      log_(log),
      options_(options),
      inputs_(inputs),
      run_(run) {
  if (options.neighbours != nullptr) slowdowns_.emplace(machine, *options.neighbours, executor);
}

Instant StartedJobs::next() const { return std::min({trusted_at_, next_try_, next_look_}); }

void StartedJobs::turn(Instant now) {
  now_ = now;
  if (is_heard_ && heard_until_ == kNever) heard_until_ = now + scaled(kHeardWithin);
  if (now >= trusted_at_) note_site_works(now);
  if (now >= next_try_) try_again(now);
  if (now >= next_look_) look_again(now);
}

// ---- orders ----

void StartedJobs::carry_out(Instant now, Orders orders) {
  now_ = now;
  for (const Order& order : std::vector<Order>{orders.begin(), orders.end()})
    std::visit([this](const auto& o) { apply(o); }, order);
}

void StartedJobs::adopt(JobId job, const Adopted& event, const LeftJob& left) {
  Placed placed{.on = event.moving_to.cores > 0 ? event.moving_to : event.allocation,
                .paid_until = {},
                .has_begun = left.has_begun,
                .was_left = true};
  placed.ending = left.ending;
  launched_.insert_or_assign(job, std::move(placed));
}

void StartedJobs::note_absence(Instant since) {
  absent_since_ = since;
  heard_until_ = kNever;
  is_heard_ = false;
  for (auto& [job, placed] : launched_) placed.was_left = true;
}

void StartedJobs::apply(const order::Launch& order) {
  Placed placed{.on = order.allocation, .paid_until = now_};
  if (next_try_ != kNever)
    put_off(order.job, std::move(placed));
  else
    launch(order.job, std::move(placed));
}
void StartedJobs::apply(const order::Resize& order) {
  if (const auto refused = refused_.find(order.job); refused != refused_.end()) {
    refused->second.on = order.allocation;
    run_.events.emplace_back(Resized{order.job});
    return;
  }
  if (const auto job = launched_.find(order.job); job != launched_.end()) job->second.on = order.allocation;
  executor_.resize(order.job, core_of_ranks(order.allocation, machine_, options_.pairing));
  if (slowdowns_) slowdowns_->order_move(order.job, order.allocation);
}
void StartedJobs::apply(const order::Suspend& order) {
  if (const auto refused = refused_.find(order.job); refused != refused_.end()) {
    refused->second.is_asleep = true;
    run_.events.emplace_back(Suspended{order.job});
    return;
  }
  if (const auto job = launched_.find(order.job); job != launched_.end()) job->second.is_asleep = true;
  executor_.suspend(order.job);
}
void StartedJobs::apply(const order::Resume& order) {
  if (const auto refused = refused_.find(order.job); refused != refused_.end()) {
    refused->second.is_asleep = false;
    run_.events.emplace_back(Resumed{order.job});
    next_try_ = std::min(next_try_, soon());
    return;
  }
  if (const auto job = launched_.find(order.job); job != launched_.end()) job->second.is_asleep = false;
  executor_.resume(order.job);
}
void StartedJobs::apply(const order::End& order) {
  if (refused_.contains(order.job) && run_.is_killing && order.outcome == Outcome::kKilled)
    leave_queue(order.job);
  else if (refused_.contains(order.job))
    add_end(order.job, {order.outcome, 0, Verification::kNone, -1, "it could not be started: " + site_fault_});
  else if (const auto job = launched_.find(order.job); job != launched_.end()) {
    job->second.ending = order.outcome;
    executor_.end(order.job, order.outcome);
  }
}

// ---- reports ----

void StartedJobs::on_begun(JobId job) {
  if (const auto found = launched_.find(job); found != launched_.end()) found->second.has_begun = true;
  run_.events.emplace_back(Begun{job});
}

void StartedJobs::on_started(bool malleable) {
  if (malleable) note_site_works(inputs_.clock());  // ranks of a rigid job may be in MPI_Init still
}

void StartedJobs::on_resized(JobId job) {
  run_.events.emplace_back(Resized{job});
  if (slowdowns_) slowdowns_->move(job);
}

void StartedJobs::on_suspended(JobId job) {
  run_.events.emplace_back(Suspended{job});
  if (slowdowns_ && launched_.contains(job)) slowdowns_->leave(job);
}

void StartedJobs::on_resumed(JobId job) {
  run_.events.emplace_back(Resumed{job});
  if (slowdowns_ && launched_.contains(job)) slowdowns_->come_back(job);
}

void StartedJobs::on_action_failed(JobId job) {
  if (slowdowns_) slowdowns_->stay(job);
}

void StartedJobs::on_ended(JobId job, JobEnd end) {
  const auto found = launched_.find(job);
  if (found == launched_.end()) return;  // its end was not waited for
  if (run_.is_killing && end.outcome == Outcome::kKilled && !found->second.has_begun)
    return on_not_started(job, "its ranks had not been started when the run ended");
  const bool is_lost = end.outcome == Outcome::kLost && !run_.is_stopping;
  if (is_lost && (source_.on_lost_with_node(job) || options_.requeues_lost)) return wait_again(job, end.reason);
  add_end(job, std::move(end));
}

void StartedJobs::on_not_started(JobId job, const std::string& reason) {
  const auto found = launched_.find(job);
  if (found == launched_.end()) return;
  Placed placed = std::move(found->second);
  forget(job);
  // Of orders that it has not answered the controller takes the one that it waits for.
  run_.events.insert(run_.events.end(), {Resized{job}, Suspended{job}, Resumed{job}});
  refuse(inputs_.clock(), job, std::move(placed), reason);
}

void StartedJobs::on_node_down(NodeId node, const std::string& reason) {
  std::vector<JobId> unstarted;
  for (const auto& [job, placed] : refused_)
    if (std::ranges::any_of(core_of_ranks(placed.on, machine_, options_.pairing),
                            [&](CoreId core) { return machine_.node_of(core) == node; }))
      unstarted.push_back(job);
  for (const JobId job : unstarted) wait_again(job, reason);
}

// ---- ends ----

// Of one that was launched the controller orders the end.
void StartedJobs::cancel(JobId job, Instant now) {
  if (launched_.contains(job) || refused_.contains(job)) return;
  put_off_.erase(job);
  source_.on_end(job, now);
  ++run_.result.ended;
}

void StartedJobs::kill() {
  for (const auto& [job, placed] : launched_) executor_.end(job, Outcome::kKilled);
}

void StartedJobs::end_all(const JobEnd& end) {
  while (!launched_.empty()) add_end(launched_.begin()->first, end);
}

void StartedJobs::drop_refused() {
  while (!refused_.empty()) leave_queue(refused_.begin()->first);
}

void StartedJobs::begin_to_stop() {
  next_look_ = kNever;
  for (const Event& event : std::exchange(run_.events, {}))
    if (const auto* again = std::get_if<Requeue>(&event)) {
      add_end(again->job, {Outcome::kLost, 0, Verification::kNone, -1, again->reason});
    } else if (const auto* put_off = std::get_if<PutOff>(&event)) {
      run_.events.emplace_back(StartDelayed{put_off->job, Duration::zero(), put_off->reason});
      leave_queue(put_off->job);
    } else {
      run_.events.push_back(event);
    }
}

// ---- launches, and what the site refuses ----

void StartedJobs::launch(JobId job, Placed placed) {
  LaunchOrder launch;
  try {
    if (!run_.result.broken_off.empty()) throw CannotStartJobs(run_.result.broken_off);
    const TracedJob& traced = source_.job(job);
    const ProcessCount processes = processes_on(placed.on, traced.job.processes);
    launch = inputs_.order(job, [&] {
      if (const std::string why = inputs_.are_played_back() ? "" : source_.why_not_startable(job); !why.empty())
        throw NotStartable(why);
      return options_.order(traced, processes);
    });
  } catch (const TurnLogDiffers&) {
    throw;
  } catch (const NotStartable& error) {
    return run_.is_stopping ? refuse(now_, job, std::move(placed), error.what()) : put_off_alone(job, error.what());
  } catch (const CannotStartJobs& error) {
    return refuse(now_, job, std::move(placed), clean_line(error.what(), kLongestReason));
  } catch (const std::exception& error) {
    return add_end(job, {Outcome::kFailed, 0, Verification::kNone, -1, clean_line(error.what(), kLongestReason)});
  }
  launch.job = job;
  launch.core_of_rank = core_of_ranks(placed.on, machine_, options_.pairing);
  placed.has_begun = false;
  launched_.insert_or_assign(job, std::move(placed));
  executor_.launch(launch);
  if (const auto placed_now = launched_.find(job); slowdowns_ && placed_now != launched_.end())
    slowdowns_->come(source_.job(job), placed_now->second.on);
}

void StartedJobs::refuse(Instant now, JobId job, Placed placed, const std::string& reason) {
  trusted_at_ = kNever;
  const bool goes_on = source_.on_not_started(job, reason);
  if (run_.is_killing && placed.ending.value_or(Outcome::kKilled) == Outcome::kKilled) {
    run_.events.emplace_back(StartDelayed{job, Duration::zero(), reason});
    return leave_queue(job);
  }
  if (run_.is_stopping || placed.ending || !goes_on) {
    if (!goes_on && !run_.is_killing) run_.result.broken_off = reason;
    return add_end(job, {placed.ending.value_or(Outcome::kFailed), 0, Verification::kNone, -1, reason});
  }
  if (next_try_ == kNever) next_try_ = now + scaled(options_.between_tries);
  if (site_fault_.empty()) log_.record({now, log::Note{"no job can be started, which is tried again: " + reason}});
  site_fault_ = reason;
  put_off(job, std::move(placed));
}

void StartedJobs::put_off(JobId job, Placed placed) {
  const Duration longer = next_try_ - std::exchange(placed.paid_until, next_try_);
  const bool is_told = std::exchange(placed.told, site_fault_) == site_fault_;
  run_.events.emplace_back(StartDelayed{job, longer, is_told ? "" : site_fault_});
  refused_.insert_or_assign(job, std::move(placed));
}

void StartedJobs::put_off_alone(JobId job, std::string why) {
  forget(job);
  put_off_.insert(job);
  next_look_ = std::min(next_look_, soon());
  run_.events.emplace_back(PutOff{job, std::move(why)});
}

void StartedJobs::look_again(Instant now) {
  std::erase_if(put_off_, [this](JobId job) {
    const bool can_start = inputs_.is_startable(source_, job);
    if (can_start) run_.events.emplace_back(PutBack{job});
    return can_start;
  });
  next_look_ = put_off_.empty() ? kNever : now + scaled(options_.between_tries);
}

// One that the policy has suspended meanwhile is not started before it is resumed.
void StartedJobs::try_again(Instant now) {
  next_try_ = kNever;
  trusted_at_ = now + scaled(options_.between_tries / 10);  // a refusal comes at once
  std::map<JobId, Placed> refused;
  refused.swap(refused_);
  for (auto& [job, placed] : refused)
    if (placed.is_asleep)
      refused_.insert_or_assign(job, std::move(placed));
    else
      launch(job, std::move(placed));
}

void StartedJobs::note_site_works(Instant now) {
  trusted_at_ = kNever;
  if (site_fault_.empty() || next_try_ != kNever) return;
  site_fault_.clear();
  log_.record({now, log::Note{"jobs can be started again"}});
  source_.on_site_works();
}

// A job that the site has not started has not run: where the run ends, its end is that of a job that waits.
void StartedJobs::leave_queue(JobId job) {
  add_end(job, {Outcome::kCancelled, 0, Verification::kNone, -1, run_.stop_reason});
}

void StartedJobs::forget(JobId job) {
  launched_.erase(job);
  refused_.erase(job);
  put_off_.erase(job);
  if (slowdowns_) slowdowns_->forget(job);
}

void StartedJobs::wait_again(JobId job, const std::string& reason) {
  forget(job);
  run_.events.emplace_back(Requeue{job, reason});
}

void StartedJobs::add_end(JobId job, JobEnd end) {
  const auto placed = launched_.find(job);
  const bool may_be_old =
      placed != launched_.end() && placed->second.was_left && !placed->second.ending && !run_.is_stopping;
  forget(job);
  const Instant now = inputs_.clock();
  source_.on_end(job, now);
  if (may_be_old && now <= heard_until_) {
    const std::string when = absent_since_ == Instant::min()
                                 ? "before this run began"
                                 : fmt::format("up to {} earlier", length_text(now - absent_since_));
    end.reason +=
        fmt::format("{}it may have ended {}, while no daemon was there", end.reason.empty() ? "" : "; ", when);
  }
  ++run_.result.ended;
  run_.events.emplace_back(Finish{job, std::move(end)});
}

Duration StartedJobs::scaled(Duration real) const {
  return Duration{std::llround(static_cast<double>(real.count()) / options_.time_scale)};
}

}  // namespace replay::live
