#include "tests/support/adopting_body.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "scheduler/core/controller.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "tests/support/random.hpp"

namespace replay::test {
namespace {

class Body {
 public:
  Body(Policy& policy, const Machine& machine, const std::vector<TracedJob>& jobs, Instant now)
      : machine_(machine),
        controller_(machine, policy, *model_, log_, {Overrun::kKill, nullptr, Duration{}, kNever, true}),
        now_(now) {
    for (const TracedJob& traced : jobs) traced_[traced.job.id] = &traced;
  }

  MemoryLog run(const std::vector<Adopted>& adopted) {
    for (const Adopted& one : adopted) take(one);
    for (const auto& [id, traced] : traced_)
      if (!running_.contains(id)) waiting_.push_back(traced);
    std::ranges::stable_sort(waiting_, {}, [](const TracedJob* traced) { return traced->job.submitted; });
    for (;;) {
      add_what_is_due();
      while (!events_.empty() || controller_.next_timer() <= now_) turn();
      const Instant next = next_instant();
      if (next == kNever) return std::move(log_);
      now_ = std::max(now_, next);
    }
  }

 private:
  struct Running {
    Progress progress;
    double rate = 1;
    bool is_asleep = false;
  };

  void take(const Adopted& one) {
    const JobId id = one.traced->job.id;
    events_.emplace_back(one);
    const double rate = rate_of(id, one.allocation);
    running_[id] = {Progress{std::min<Duration>(one.left, one.traced->truth.runtime), now_, rate}, rate, false};
    if (!one.has_begun) later_.emplace_back(Begun{id});
    if (one.is_asleep) later_.emplace_back(Resumed{id});
    if (one.is_ending) later_.emplace_back(Finish{id, {Outcome::kKilled, 0, Verification::kNone, -1, ""}});
    if (one.is_ending) running_[id].progress = Progress{std::chrono::hours{1000}, now_, 0};
  }

  [[nodiscard]] Instant next_instant() const {
    Instant next = controller_.next_timer();
    if (!waiting_.empty()) next = std::min(next, waiting_.front()->job.submitted);
    for (const auto& [id, job] : running_) next = std::min(next, job.progress.end());
    return next;
  }

  void add_what_is_due() {
    while (!waiting_.empty() && waiting_.front()->job.submitted <= now_) {
      events_.emplace_back(Submit{waiting_.front()});
      waiting_.erase(waiting_.begin());
    }
    std::erase_if(running_, [this](const auto& one) {
      const auto& [id, job] = one;
      const bool is_over = !job.is_asleep && job.progress.end() <= now_;
      if (is_over) events_.emplace_back(Finish{id, {}});
      return is_over;
    });
  }

  void turn() {
    const std::vector<Event> batch = std::exchange(events_, std::exchange(later_, {}));
    const Orders orders = controller_.handle(now_, batch);
    for (const Order& order : std::vector<Order>{orders.begin(), orders.end()})
      std::visit([this](const auto& one) { apply(one); }, order);
    for (const Event& event : batch)
      if (const auto* const finish = std::get_if<Finish>(&event)) running_.erase(finish->job);
    if (controller_.failure()) std::rethrow_exception(controller_.failure());
  }

  void apply(const order::Launch& order) {
    const TracedJob* const traced = traced_.at(order.job);
    const double rate = rate_of(order.job, order.allocation);
    running_[order.job] = {
        Progress{runtime_at(*traced, processes_on(order.allocation, traced->job.processes)), now_, rate}, rate, false};
    events_.emplace_back(Begun{order.job});
  }
  void apply(const order::Resize& order) {
    set_rate(order.job, running_.at(order.job).rate = rate_of(order.job, order.allocation));
    events_.emplace_back(Resized{order.job});
  }
  void apply(const order::Suspend& order) {
    set_rate(order.job, 0);
    running_.at(order.job).is_asleep = true;
    events_.emplace_back(Suspended{order.job});
  }
  void apply(const order::Resume& order) {
    running_.at(order.job).is_asleep = false;
    set_rate(order.job, running_.at(order.job).rate);
    events_.emplace_back(Resumed{order.job});
  }
  void apply(const order::End& order) {
    running_.erase(order.job);
    events_.emplace_back(Finish{order.job, {order.outcome, 0, Verification::kNone, -1, ""}});
  }
  [[nodiscard]] double rate_of(JobId job, const Allocation& on) const {
    return model_->true_rate(*traced_.at(job), on, alone_on(machine_));
  }
  void set_rate(JobId job, double rate) { running_.at(job).progress.change_rate(now_, rate); }

  const Machine& machine_;
  std::unique_ptr<RuntimeModel> model_ = make_runtime_model("isolated");
  MemoryLog log_;
  Controller controller_;
  Instant now_;
  std::map<JobId, const TracedJob*> traced_;
  std::vector<const TracedJob*> waiting_;
  std::map<JobId, Running> running_;
  std::vector<Event> events_, later_;
};

// On cores in a random order, and then node by node.
Allocation somewhere(ProcessCount processes, int mpl, const Machine& machine, std::vector<CoreId>& free) {
  Allocation on;
  on.cores = cores_at(processes, mpl);
  on.mpl = mpl_on(processes, on.cores);
  if (!machine.names_cores()) return free.resize(free.size() - static_cast<std::size_t>(on.cores)), on;
  std::vector<CoreId> taken{free.end() - on.cores, free.end()};
  free.resize(free.size() - taken.size());
  std::ranges::sort(taken);
  for (ProcessCount left = processes; const CoreId core : taken) {
    const ProcessCount here = std::min<ProcessCount>(left, on.mpl);
    on.named.push_back({core, here});
    left -= here;
  }
  return on;
}

}  // namespace

std::vector<Adopted> adopt_some(std::vector<TracedJob>& jobs, const Machine& machine, Instant now, std::uint64_t seed) {
  Random random{seed};
  std::vector<CoreId> free;
  for (int core = 0; core < machine.size(); ++core) free.push_back(CoreId{core});
  for (std::size_t i = free.size(); i > 1; --i) std::swap(free[i - 1], free[random.below(i)]);
  std::vector<Adopted> adopted;
  for (TracedJob& traced : jobs) {
    Job& job = traced.job;
    const int mpl = job.processes > 1 && random.one_in(3) ? 2 : 1;
    if (adopted.size() == 6) break;
    if (cores_at(job.processes, mpl) > static_cast<CoreCount>(free.size()) || random.one_in(4)) continue;
    const Duration ran{random.between(0, job.estimate.count())};
    Adopted one{&traced, somewhere(job.processes, mpl, machine, free), now - ran, job.estimate, job.estimate - ran};
    job.submitted = one.started;
    one.has_begun = !random.one_in(4);
    one.is_ending = random.one_in(6);
    one.is_asleep = !one.is_ending && random.one_in(4);
    adopted.push_back(std::move(one));
  }
  return adopted;
}

MemoryLog run_on(Policy& policy, const Machine& machine, const std::vector<TracedJob>& jobs,
                 const std::vector<Adopted>& adopted, Instant now) {
  return Body{policy, machine, jobs, now}.run(adopted);
}

}  // namespace replay::test
