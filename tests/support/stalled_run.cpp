#include "tests/support/stalled_run.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <queue>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/core/arrivals.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "tests/support/random.hpp"

namespace replay::test {
namespace {

constexpr int kMostTurns = 100'000;  // a run of about twenty jobs takes some hundred

JobEnd end_by(Outcome outcome) { return {outcome, 0, Verification::kNone, -1, ""}; }

class StalledBody {
 public:
  StalledBody(Policy& policy, const Machine& machine, const Workload& workload, Overrun overrun, std::uint64_t seed,
              MemoryLog& log)
      : random_(seed),
        some_hang_(overrun == Overrun::kKill),
        arrivals_(workload),
        controller_(machine, policy, *model_, log, {overrun, [](const Job& job) { return live::grace(job, 1); }}) {}

  std::string run() {
    for (int turn = 0; turn < kMostTurns; ++turn) {
      Instant next = std::min(arrivals_.next(), controller_.next_timer());
      if (!coming_.empty()) next = std::min(next, coming_.top().at);
      if (next == kNever) return controller_.idle() && arrivals_.done() ? "" : "jobs wait for ever";
      now_ = std::max(now_, next) + stall();
      step();
      if (controller_.failure()) return what_failed();
    }
    return "it has no end";
  }

 private:
  struct Coming {
    Instant at;
    std::uint64_t order;
    Event event;
    std::uint32_t of_version = 0;  // for a job's own end: it is ignored when the rate has changed since
    bool is_own_end = false;
    bool operator>(const Coming& other) const { return std::pair{at, order} > std::pair{other.at, other.order}; }
  };
  struct Running {
    Progress progress;
    ModelledJob modelled;
    Instant begins;
    std::uint32_t version = 0;
  };

  Duration below(Duration most) {
    return Duration{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most.count())))};
  }
  bool one_in(std::uint64_t many) { return random_.one_in(many); }
  Duration stall() { return one_in(5) ? below(60s) : below(100ms); }

  void step() {
    std::vector<Event> batch;
    while (const TracedJob* job = arrivals_.take(now_)) batch.emplace_back(Submit{job});
    while (!coming_.empty() && coming_.top().at <= now_) {
      Coming due = coming_.top();
      coming_.pop();
      if (const auto* finish = std::get_if<Finish>(&due.event)) {
        const auto running = running_.find(finish->job);
        if (running == running_.end() || (due.is_own_end && due.of_version != running->second.version)) continue;
        running_.erase(running);
        arrivals_.on_end(finish->job, now_);
      }
      batch.push_back(std::move(due.event));
    }
    const auto orders = controller_.handle(now_, batch);
    arrivals_.forget_ended();
    for (const Order& order : orders) std::visit([this](const auto& o) { carry_out(o); }, order);
  }

  void carry_out(const order::Launch& order) {
    const TracedJob& traced = arrivals_.job(order.job);
    const ModelledJob modelled = as_true(traced, order.allocation);
    const Instant begins = now_ + below(500ms);
    const double rate = model_->rate(modelled, order.allocation, {});
    const bool fails = one_in(50);
    Running& running = running_[order.job];
    const Duration work = some_hang_ && one_in(20) ? Duration::max() : traced.truth.runtime;
    running = {Progress{fails ? Duration{1} : work, begins, rate}, modelled, begins};
    plan_end(order.job, running, fails ? Outcome::kFailed : Outcome::kCompleted);
    come(begins, Started{order.job, !one_in(20), ""});
  }
  void carry_out(const order::Resize& order) {
    const auto found = running_.find(order.job);
    if (found == running_.end()) return;
    if (one_in(30)) return answer(ActionFailed{order.job, "resize", "a thread is lost"});
    change_rate(order.job, found->second, model_->rate(found->second.modelled, order.allocation, {}));
    answer(Resized{order.job});
  }
  void carry_out(const order::Suspend& order) {
    const auto found = running_.find(order.job);
    if (found == running_.end()) return;
    if (one_in(30)) return answer(ActionFailed{order.job, "suspend", "a process does not stop"});
    change_rate(order.job, found->second, 0);
    answer(Suspended{order.job});
  }
  void carry_out(const order::Resume& order) {
    const auto found = running_.find(order.job);
    if (found == running_.end()) return;
    if (one_in(30)) return answer(ActionFailed{order.job, "resume", "a process does not go on"});
    change_rate(order.job, found->second, 1);
    answer(Resumed{order.job});
  }
  void carry_out(const order::End& order) {
    const auto found = running_.find(order.job);
    if (found == running_.end()) return;
    ++found->second.version;
    come(now_ + below(2s), Finish{order.job, end_by(order.outcome)});
  }

  void change_rate(JobId job, Running& running, double rate) {
    running.progress.change_rate(std::max(now_, running.begins), rate);
    ++running.version;
    plan_end(job, running, Outcome::kCompleted);
  }
  void plan_end(JobId job, Running& running, Outcome outcome) {
    const Instant end = running.progress.end();
    if (end == kNever) return;
    coming_.push({std::max(end, now_), orders_++, Finish{job, end_by(outcome)}, running.version, true});
  }
  // Some come twice.
  void answer(const Event& event) {
    const Instant at = now_ + below(1s);
    if (one_in(30)) come(at, event);
    come(at, event);
  }
  void come(Instant at, Event event) { coming_.push({at, orders_++, std::move(event)}); }

  std::string what_failed() const {
    try {
      std::rethrow_exception(controller_.failure());
    } catch (const PolicyError& error) {
      return error.what();
    }
  }

  Random random_;
  bool some_hang_;
  std::unique_ptr<RuntimeModel> model_ = make_runtime_model("isolated");
  Arrivals arrivals_;
  Controller controller_;
  Instant now_ = Instant::min();
  std::map<JobId, Running> running_;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
  std::uint64_t orders_ = 0;
};

}  // namespace

StalledRun run_with_stalls(Policy& policy, const Machine& machine, std::vector<TracedJob> jobs, Overrun overrun,
                           std::uint64_t seed) {
  StalledRun run;
  const Workload workload{std::move(jobs)};
  run.wrong = StalledBody{policy, machine, workload, overrun, seed, run.log}.run();
  if (run.wrong.empty()) run.wrong = what_is_wrong(run.log, machine);
  return run;
}

}  // namespace replay::test
