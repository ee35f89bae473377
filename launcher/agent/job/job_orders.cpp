#include "launcher/agent/job/job_orders.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "launcher/agent/job/job_turns.hpp"
#include "launcher/agent/left_processes.hpp"
#include "launcher/os/binding.hpp"

namespace replay::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

constexpr auto kBetweenLooksAtOrders = 1ms;
constexpr auto kStopsWithin = 1000ms;  // except a thread in uninterruptible sleep, which does not run either

/// How long a rank that knows that it has moved may keep the old core's token.
milliseconds lets_go_within(std::chrono::microseconds quantum) {
  return std::chrono::duration_cast<milliseconds>(3 * quantum) + 20ms;
}

}  // namespace

JobOrders::JobOrders(JobContext& job, std::function<void()> on_move)
    : job_(job), on_move_(std::move(on_move)), timer_(job.site.loop, -1, 0, [this] { look_again(); }) {}

void JobOrders::carry_out(const Order& order) {
  waiting_.push_back(order);
  if (is_started_) apply_waiting();
}

void JobOrders::on_started() {
  is_started_ = true;
  apply_waiting();
}

void JobOrders::stop() {
  waiting_.clear();
  move_.reset();
  busy_ = Busy::kNo;
  timer_.disarm();
}

void JobOrders::apply_waiting() {
  while (!waiting_.empty() && busy_ == Busy::kNo) {
    const Order order = std::move(waiting_.front());
    waiting_.pop_front();
    std::visit([this](const auto& o) { apply(o); }, order);
  }
}

void JobOrders::refuse(std::string_view action, const std::string& reason) const {
  job_.site.report(protocol::OrderFailed{job_.id(), std::string{action}, reason});
}

void JobOrders::wait_for(Busy what, milliseconds limit) {
  busy_ = what;
  busy_until_ = std::chrono::steady_clock::now() + limit;
  look_again();
}

void JobOrders::look_again() {
  const bool is_done = busy_ == Busy::kMoving ? move_->has_let_go() : has_stopped();
  if (!is_done && std::chrono::steady_clock::now() < busy_until_) return timer_.arm_after(kBetweenLooksAtOrders);
  if (busy_ == Busy::kMoving)
    finish_move();
  else
    finish_suspend();
  busy_ = Busy::kNo;
  apply_waiting();
}

// ---- move -----------------------------------------------------------------------------------------------------------

void JobOrders::apply(const protocol::MoveRanks& order) {
  if (const auto reason = why_not_move(order.core_of_rank)) return refuse("resize", *reason);
  if (order.core_of_rank == job_.ranks.core_of_rank()) return job_.site.report(protocol::RanksMoved{job_.id()});
  try {
    move_.emplace(*job_.site.cores, job_.id(), order.core_of_rank, [&] {
      // An emulated rank is not bound: it reads its new place at the end of a slice.
      if (!job_.site.is_emulated) bind_or_go_back(order.core_of_rank);
    });
  } catch (const std::system_error& error) {
    return refuse("resize", error.what());
  }
  job_.ranks.set_cores(order.core_of_rank);
  if (job_.site.is_emulated) return wait_for(Busy::kMoving, lets_go_within(job_.site.quantum));
  finish_move();
  on_move_();
}

std::optional<std::string> JobOrders::why_not_move(const std::vector<std::int32_t>& core_of_rank) const {
  if (core_of_rank.size() != job_.ranks.size())
    return fmt::format("expected {} cores, one per rank, found {}", job_.ranks.size(), core_of_rank.size());
  if (core_of_rank == job_.ranks.core_of_rank()) return std::nullopt;
  if (!job_.ranks.have_all_registered()) return "the job is rigid: its ranks are not registered";
  if (!job_.order.malleable) return "the job is rigid: it was asked to be";
  return job_.site.cores->why_not(job_.id(), core_of_rank, job_.site.is_emulated);
}

/// Throws std::system_error; then the ranks are bound to the cores from before, as far as the kernel permits.
void JobOrders::bind_or_go_back(const std::vector<std::int32_t>& core_of_rank) const {
  try {
    bind_ranks(core_of_rank);
  } catch (const std::system_error& error) {
    try {
      bind_ranks(job_.ranks.core_of_rank());
    } catch (const std::system_error&) {
      job_.note(fmt::format("could not be moved back: {}", error.what()));
    }
    throw;
  }
}

void JobOrders::bind_ranks(const std::vector<std::int32_t>& core_of_rank) const {
  const std::vector<JobRanks::Rank>& ranks = job_.ranks.all();
  for (std::size_t number = 0; number < ranks.size(); ++number)
    if (ranks[number].is_running())
      bind_all_threads(*job_.site.topology, ranks[number].process->pid(), PuId{core_of_rank[number]});
}

void JobOrders::finish_move() {
  move_.reset();
  if (job_.site.turns != nullptr) job_.site.turns->look();
  job_.site.report(protocol::RanksMoved{job_.id()});
}

// ---- stop and go on -------------------------------------------------------------------------------------------------

void JobOrders::apply(const protocol::SuspendJob&) {
  if (job_.site.guard != nullptr) job_.site.guard->begin();
  if (job_.site.turns != nullptr) job_.site.turns->leave(job_.id(), JobTurns::Leaving::kAsItIs);
  job_.ranks.set_suspended(true);
  job_.ranks.signal(SIGSTOP);
  job_.processes.signal_program(SIGSTOP);  // unregistered ones, and children
  wait_for(Busy::kStopping, kStopsWithin);
}

/// SIGSTOP takes effect with a delay, and a child may have been forked meanwhile, so it is sent again.
bool JobOrders::has_stopped() const {
  bool is_any_running = false;
  for (const Process& process : job_.processes.program()) {
    if (is_stopped(process.pid())) continue;
    process.signal(SIGSTOP);
    is_any_running = true;
  }
  return !is_any_running && std::ranges::all_of(job_.ranks.all(), [](const JobRanks::Rank& rank) {
    return !rank.is_running() || is_stopped(rank.process->pid());
  });
}

void JobOrders::finish_suspend() {
  job_.site.cores->stop(job_.id());
  job_.site.report(protocol::JobSuspended{job_.id()});
}

void JobOrders::apply(const protocol::ResumeJob&) {
  job_.site.cores->go_on(job_.id());
  job_.ranks.set_suspended(false);
  job_.processes.signal_program(SIGCONT);
  job_.ranks.signal(SIGCONT);
  if (job_.site.turns != nullptr) job_.site.turns->join(job_);
  job_.site.report(protocol::JobResumed{job_.id()});
}

}  // namespace replay::launcher
