#include "scheduler/live/adoption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/live/order_keeper.hpp"

namespace replay::live {
namespace {

class LeftJobs final : public ExecutorListener {
 public:
  explicit LeftJobs(LeftRun& run) : run_(run) {}

  void on_order(const KeptOrder& order) {
    using enum KeptOrder::Kind;
    if (order.kind == kLaunch) run_.jobs.insert_or_assign(order.job, LeftJob{.core_of_rank = order.core_of_rank});
    LeftJob* const job = find(order.job);
    if (job == nullptr) return;
    if (order.kind == kResize) job->moving_to = order.core_of_rank;
    if (order.kind == kSuspend) job->is_asleep = true;
    if (order.kind == kResume) job->is_asleep = false;
    if (order.kind == kEnd) job->ending = order.outcome;
  }

  void on_begun(JobId job) override {
    if (LeftJob* const left = find(job)) left->has_begun = true;
  }
  void on_started(JobId job, bool, const std::string&) override { on_begun(job); }
  void on_resized(JobId job) override {
    if (LeftJob* const left = find(job); left != nullptr && !left->moving_to.empty())
      left->core_of_rank = std::exchange(left->moving_to, {});
  }
  void on_suspended(JobId) override {}
  void on_resumed(JobId) override {}
  void on_measured(JobId, double) override {}
  void on_ended(JobId job, const JobEnd& end) override {
    if (LeftJob* const left = find(job); left != nullptr && !left->end) left->end = end;
  }
  void on_not_started(JobId job, const std::string&) override { run_.jobs.erase(job); }
  void on_action_failed(JobId job, const std::string& action, const std::string&) override {
    LeftJob* const left = find(job);
    if (left == nullptr) return;
    if (action == "resize") left->moving_to.clear();
    if (action == "suspend") left->is_asleep = false;
    if (action == "resume") left->is_asleep = true;
  }
  void on_lost(const std::string& reason) override { run_.lost = reason; }

 private:
  LeftJob* find(JobId job) {
    const auto found = run_.jobs.find(job);
    return found == run_.jobs.end() ? nullptr : &found->second;
  }

  LeftRun& run_;
};

}  // namespace

LeftRun read_left_run(const std::filesystem::path& turns, Executor& executor) {
  LeftRun run;
  LeftJobs jobs{run};
  const EventBase loop{event_base_new()};
  executor.hold();
  executor.attach(loop.get(), &jobs);
  try {
    for (TurnLog::Input& input : read_turns(turns)) {
      using enum TurnLog::Kind;
      if (input.kind == kAdopt) run.adopted.push_back(AdoptedJob::parse(input.text));
      if (input.kind == kOrder) jobs.on_order(KeptOrder::parse(input.text));
      if (input.kind != kOrder && input.kind != kExecutor) continue;
      if (run.lost.empty()) give_again(executor, input, [](JobId) { return LaunchOrder{}; });
      run.inputs.push_back(std::move(input));
    }
  } catch (...) {
    executor.detach();
    throw;
  }
  executor.detach();
  return run;
}

void give_again(Executor& executor, const TurnLog::Input& input, const std::function<LaunchOrder(JobId)>& order) {
  if (input.kind == TurnLog::Kind::kExecutor) return executor.play(input.text);
  const KeptOrder given = KeptOrder::parse(input.text);
  switch (given.kind) {
    case KeptOrder::Kind::kLaunch: {
      LaunchOrder launch = order(given.job);
      launch.job = given.job;
      launch.core_of_rank = given.core_of_rank;
      if (launch.directory.empty()) launch.directory = "/";  // it has arrived, and is not sent again
      return executor.launch(launch);
    }
    case KeptOrder::Kind::kResize: return executor.resize(given.job, given.core_of_rank);
    case KeptOrder::Kind::kSuspend: return executor.suspend(given.job);
    case KeptOrder::Kind::kResume: return executor.resume(given.job);
    case KeptOrder::Kind::kEnd: return executor.end(given.job, given.outcome);
    case KeptOrder::Kind::kSlowDown: return executor.slow_down(given.job, given.slowdown);
  }
}

std::string AdoptedJob::to_text() const {
  const std::string end =
      left.end ? fmt::format(" {} {} {} {} {}", replay::to_text(left.end->outcome), left.end->exit_code,
                             replay::to_text(left.end->verification), left.end->cpu_use, left.end->reason)
               : "";
  return fmt::format("{} {} {} {} {:d} {:d} {} {:d} {} {}{}", number(job), started.time_since_epoch().count(),
                     estimate.count(), rest.count(), left.has_begun, left.is_asleep,
                     left.ending ? replay::to_text(*left.ending) : "-", is_shared, word_of_cores(left.core_of_rank),
                     word_of_cores(left.moving_to), end);
}

AdoptedJob AdoptedJob::parse(const std::string& text) {
  const auto words = split(text, ' ');
  const auto fail = [&text] {
    return InputError(
        fmt::format("a job that runs already: expected ten words, or fourteen and a reason, found '{}'", text));
  };
  if (words.size() != 10 && words.size() < 15) throw fail();
  const auto number_in = [&](std::size_t word) {
    const auto value = parse_number<std::int64_t>(words[word]);
    if (!value) throw fail();
    return *value;
  };
  AdoptedJob job;
  job.job = JobId{number_in(0)};
  job.started = Instant{Duration{number_in(1)}};
  job.estimate = Duration{number_in(2)};
  job.rest = Duration{number_in(3)};
  job.left.has_begun = number_in(4) != 0;
  job.left.is_asleep = number_in(5) != 0;
  job.left.ending = enum_of<Outcome>(words[6]);
  job.is_shared = number_in(7) != 0;
  job.left.core_of_rank = cores_of_word(words[8]);
  job.left.moving_to = cores_of_word(words[9]);
  if (words.size() == 10) return job;
  const auto outcome = enum_of<Outcome>(words[10]);
  const auto verification = enum_of<Verification>(words[12]);
  const auto cpu_use = parse_finite(words[13]);
  if (!outcome || !verification || !cpu_use) throw fail();
  job.left.end = JobEnd{*outcome, static_cast<int>(number_in(11)), *verification, *cpu_use,
                        text.substr(static_cast<std::size_t>(words[14].data() - text.data()))};
  return job;
}

Adopted event_of(const AdoptedJob& job, const TracedJob* traced, Instant now, const Machine& machine) {
  if (traced == nullptr) throw InputError(fmt::format("job {} runs, and is not known", number(job.job)));
  const auto on = [&](const std::vector<CoreId>& cores) {
    Allocation allocation = allocation_of(cores, job.is_shared, machine);
    const ProcessCount processes = processes_on_cores(allocation);
    allocation.processes = processes == traced->job.processes ? ProcessCount{0} : processes;
    return allocation;
  };
  Adopted event{traced, on(job.left.core_of_rank), std::min(job.started, now), job.estimate, job.rest};
  event.has_begun = job.left.has_begun;
  if (job.left.end) return event;
  event.is_ending = job.left.ending.has_value();
  event.is_asleep = job.left.is_asleep;
  if (!job.left.moving_to.empty()) event.moving_to = on(job.left.moving_to);
  return event;
}

Allocation allocation_of(const std::vector<CoreId>& core_of_rank, bool is_shared, const Machine& machine) {
  Allocation on;
  for (const CoreId core : core_of_rank) {
    const auto load =
        std::find_if(on.named.begin(), on.named.end(), [core](const CoreLoad& one) { return one.core == core; });
    if (load == on.named.end())
      on.named.push_back({core, 1});
    else
      ++load->processes;
  }
  on.cores = static_cast<CoreCount>(on.named.size());
  for (const CoreLoad& load : on.named) on.mpl = std::max(on.mpl, static_cast<int>(number(load.processes)));
  on.shareable = is_shared;
  if (const std::string_view flaw = flaw_of(on, machine); !flaw.empty())
    throw InputError(fmt::format("cores {} of a job that runs: {}", word_of_cores(core_of_rank), flaw));
  return on;
}

}  // namespace replay::live
