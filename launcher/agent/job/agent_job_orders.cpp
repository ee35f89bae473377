// The orders for a running job: move, stop, resume. They wait for the start and are carried out in the order given;
// each is answered once, when it has taken effect: a move when the old cores are free, a stop when no process of the
// job can run.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <system_error>

#include "launcher/agent/job/agent_job.hpp"
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

void AgentJob::carry_out(const LaterOrder& order) {
  if (phase_ != Phase::kRunning || asked_outcome_ || found_broken_) return;  // the job's end answers every order
  waiting_.push_back(order);
  if (form_ != Form::kUnknown) apply_waiting();
}

void AgentJob::apply_waiting() {
  while (!waiting_.empty() && busy_ == Busy::kNo) {
    const LaterOrder order = std::move(waiting_.front());
    waiting_.pop_front();
    std::visit([this](const auto& o) { apply(o); }, order);
  }
}

void AgentJob::refuse(std::string_view action, const std::string& reason) {
  site_.report(protocol::OrderFailed{id(), std::string{action}, reason});
}

void AgentJob::wait_for(Busy what, milliseconds limit) {
  busy_ = what;
  busy_until_ = std::chrono::steady_clock::now() + limit;
  look_again();
}

void AgentJob::look_again() {
  const bool is_done = busy_ == Busy::kMoving ? move_->has_let_go() : has_stopped();
  if (!is_done && std::chrono::steady_clock::now() < busy_until_) return order_timer_.arm_after(kBetweenLooksAtOrders);
  if (busy_ == Busy::kMoving)
    finish_move();
  else
    finish_suspend();
  busy_ = Busy::kNo;
  apply_waiting();
}

// ---- move -----------------------------------------------------------------------------------------------------------

void AgentJob::apply(const protocol::MoveRanks& order) {
  if (const auto reason = why_not_move(order.core_of_rank)) return refuse("resize", *reason);
  if (order.core_of_rank == core_of_rank_) return site_.report(protocol::RanksMoved{id()});
  try {
    move_.emplace(*site_.cores, id(), order.core_of_rank, [&] {
      if (!site_.is_emulated) bind_or_go_back(order.core_of_rank);  // an emulated rank reads its place after a slice
    });
  } catch (const std::system_error& error) {
    return refuse("resize", error.what());
  }
  core_of_rank_ = order.core_of_rank;
  if (site_.is_emulated)
    wait_for(Busy::kMoving, lets_go_within(site_.quantum));
  else
    finish_move();
}

std::optional<std::string> AgentJob::why_not_move(const std::vector<std::int32_t>& core_of_rank) const {
  if (core_of_rank.size() != ranks_.size())
    return fmt::format("expected {} cores, one per rank, found {}", ranks_.size(), core_of_rank.size());
  if (core_of_rank == core_of_rank_) return std::nullopt;
  if (registered() != ranks_.size()) return "the job is rigid: its ranks are not registered";
  if (!order_.malleable) return "the job is rigid: it was asked to be";
  return site_.cores->why_not(id(), core_of_rank, site_.is_emulated);
}

/// Throws std::system_error; then the ranks are bound to the cores from before, as far as the kernel permits.
void AgentJob::bind_or_go_back(const std::vector<std::int32_t>& core_of_rank) const {
  try {
    bind_ranks(core_of_rank);
  } catch (const std::system_error& error) {
    try {
      bind_ranks(core_of_rank_);
    } catch (const std::system_error&) {
      note(fmt::format("could not be moved back: {}", error.what()));
    }
    throw;
  }
}

void AgentJob::bind_ranks(const std::vector<std::int32_t>& core_of_rank) const {
  for (std::size_t number = 0; number < ranks_.size(); ++number)
    if (ranks_[number].is_running())
      bind_all_threads(*site_.topology, ranks_[number].process->pid(), core_of_rank[number]);
}

void AgentJob::finish_move() {
  move_.reset();
  site_.report(protocol::RanksMoved{id()});
}

// ---- stop and go on -------------------------------------------------------------------------------------------------

/// The processes of the user's program: all below mpiexec except Hydra's own.
std::vector<Process> AgentJob::program_processes() const {
  std::vector<Process> found;
  for (const pid_t pid : descendants_of(mpiexec_)) {
    const auto stat = read_stat(pid);
    if (!stat || stat->state == 'Z' || stat->name.starts_with("hydra_pmi")) continue;
    if (auto process = Process::open(pid, stat->start)) found.push_back(std::move(*process));
  }
  return found;
}

void AgentJob::apply(const protocol::SuspendJob&) {
  advance_meters();
  is_suspended_ = true;
  stop_processes();
  wait_for(Busy::kStopping, kStopsWithin);
}

void AgentJob::stop_processes() const {
  for (const Rank& rank : ranks_)
    if (rank.is_running()) rank.process->signal(SIGSTOP);
  for (const Process& process : program_processes()) process.signal(SIGSTOP);  // unregistered ones, and children
}

/// SIGSTOP takes effect with a delay, and a child may have been forked meanwhile, so it is sent again.
bool AgentJob::has_stopped() const {
  bool is_anybody_running = false;
  for (const Process& process : program_processes()) {
    if (is_stopped(process.pid())) continue;
    process.signal(SIGSTOP);
    is_anybody_running = true;
  }
  return !is_anybody_running &&
         std::ranges::all_of(ranks_, [](const Rank& r) { return !r.is_running() || is_stopped(r.process->pid()); });
}

void AgentJob::finish_suspend() {
  site_.cores->stop(id());
  site_.report(protocol::JobSuspended{id()});
}

void AgentJob::apply(const protocol::ResumeJob&) {
  advance_meters();
  site_.cores->go_on(id());
  is_suspended_ = false;
  for (const Process& process : program_processes()) process.signal(SIGCONT);
  for (const Rank& rank : ranks_)
    if (rank.is_running()) rank.process->signal(SIGCONT);
  site_.report(protocol::JobResumed{id()});
}

}  // namespace replay::launcher
