// How a job ends, for any cause: which processes get SIGTERM and which SIGKILL, when none is left, and which outcome is
// reported. The end is reported exactly once, when /proc shows no process of it any more.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "launcher/agent/job/agent_job.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"
#include "scheduler/base/text/clean_text.hpp"

namespace replay::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

constexpr auto kBetweenLooksAtEnd = 5ms;
constexpr std::size_t kTailBytes = 65536;

milliseconds time_to_leave(Patience patience) { return patience == Patience::kNormal ? 1500ms : 500ms; }

}  // namespace

void AgentJob::end(Outcome outcome, Patience patience) {
  if (phase_ != Phase::kRunning) return;
  if (!asked_outcome_ && !found_broken_) asked_outcome_ = outcome;
  patience == Patience::kNone ? kill_everything() : ask_to_leave(patience);
}

/// Ends a job that cannot go on, for this reason.
void AgentJob::break_off(const std::string& reason) {
  if (phase_ != Phase::kRunning || asked_outcome_ || found_broken_) return;
  found_broken_ = reason;
  ask_to_leave(Patience::kNormal);
}

void AgentJob::ask_to_leave(Patience patience) {
  waiting_.clear();
  move_.reset();
  busy_ = Busy::kNo;
  order_timer_.disarm();
  registration_timer_.disarm();
  init_timer_.disarm();
  mask_timer_.disarm();
  if (stopped_.empty()) stopped_ = who_is_stopped();
  if (!stopped_.empty()) return kill_everything();
  if (is_suspended_)  // stopped processes cannot act on SIGTERM
    for (const Process& process : program_processes()) process.signal(SIGKILL);
  ::kill(mpiexec_, SIGTERM);
  // mpiexec 4.0.2 loses a SIGTERM that comes while it starts the ranks, and then waits for ever.
  kill_timer_.arm_after(time_to_leave(form_ == Form::kUnknown ? Patience::kHurried : patience));
}

/// SIGTERM did not end the job in time.
void AgentJob::on_sigterm_in_vain() {
  if (stopped_.empty()) stopped_ = who_is_stopped();  // perhaps because of a stop that came at the same time
  kill_everything();
}

void AgentJob::on_rank_exit(std::size_t number) {
  Rank& rank = ranks_[number];
  rank.is_gone = true;
  rank.is_finalized = segment_->state(static_cast<std::uint32_t>(number)) == REPLAY_VM_FINALIZED;
  rank.meter.advance(segment_->times(static_cast<std::uint32_t>(number), monotonic_ns()), monotonic_ns(),
                     is_expanded() && !is_suspended_);
  site_.cores->lose_rank(id(), static_cast<std::uint32_t>(number));
  if (!rank.is_finalized) fail_unless_noticed(fmt::format("rank {} died without MPI_Finalize", number));
  expect_strays();
}

void AgentJob::kill_everything() {
  if (phase_ != Phase::kRunning) return;
  const std::vector<pid_t> below = descendants_of(mpiexec_);
  ::kill(mpiexec_, SIGKILL);  // its exit leads to leave(), which repeats until no process is left
  for (const Rank& rank : ranks_)
    if (rank.is_running()) rank.process->signal(SIGKILL);
  for (const pid_t pid : below)
    if (const auto process = Process::open(pid)) process->signal(SIGKILL);
}

void AgentJob::on_mpiexec_exit(int status) {
  exit_status_ = status;
  phase_ = Phase::kLeaving;
  registration_timer_.disarm();
  init_timer_.disarm();
  mask_timer_.disarm();
  order_timer_.disarm();
  move_.reset();
  unnoticed_timer_.disarm();
  stray_timer_.disarm();
  kill_timer_.disarm();
  proxy_event_.reset();
  leave();
}

/// Kills the processes that are left, and repeats until there are none.
void AgentJob::leave() {
  bool is_anybody_left = false;
  for (std::size_t number = 0; number < ranks_.size(); ++number) {
    Rank& rank = ranks_[number];
    if (!rank.is_running()) continue;
    if (rank.process->is_gone()) {
      on_rank_exit(number);
    } else {
      rank.process->signal(SIGKILL);
      is_anybody_left = true;
    }
  }
  for (const Process& process : strays()) {
    process.signal(SIGKILL);
    is_anybody_left = true;
  }
  if (is_anybody_left)
    leave_timer_.arm_after(kBetweenLooksAtEnd);
  else
    finish();
}

void AgentJob::finish() {
  phase_ = Phase::kOver;
  const JobEnd end = judge();
  learn_end_cost(end);
  site_.cores->leave(id());
  segment_.reset();
  group_.reset();
  for (Rank& rank : ranks_) rank.exit_event.reset();
  site_.report(protocol::JobEnded{id(), end});
  site_.retire(id());
}

/// Learns from undisturbed ends only.
void AgentJob::learn_end_cost(const JobEnd& end) const {
  if (!site_.is_emulated || end.outcome != Outcome::kCompleted) return;
  std::uint64_t last = 0;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot) last = std::max(last, segment_->times(slot, 0).finalize);
  if (const std::uint64_t now = monotonic_ns(); last != 0 && last < now)
    site_.end_cost->learn(ranks_.size(), now - last);
}

JobEnd AgentJob::judge() const {
  const std::string output = read_tail(out_.get(), kTailBytes);
  JobEnd end;
  const bool must_register = registered() > 0 || site_.is_emulated;
  const bool is_unfinished = must_register && !std::ranges::all_of(ranks_, &Rank::is_finalized);
  if (asked_outcome_) {
    end.outcome = *asked_outcome_;
    end.reason = stopped_;
  } else if (found_broken_ || exit_status_ != 0 || is_unfinished) {
    end = failure(output);
  }
  end.exit_code = WIFEXITED(exit_status_) ? WEXITSTATUS(exit_status_) : 128 + WTERMSIG(exit_status_);
  end.verification = mpiexec_ == 0 ? Verification::kNone : find_verification(output);
  end.cpu_use = cpu_use();
  return end;
}

JobEnd AgentJob::failure(std::string_view output) const {
  JobEnd end;
  end.outcome = Outcome::kFailed;
  if (found_broken_) {
    end.reason = *found_broken_;
    return end;
  }
  if (WIFSIGNALED(exit_status_)) {
    end.reason = fmt::format("mpiexec was killed by signal {} ({})", WTERMSIG(exit_status_),
                             ::strsignal(WTERMSIG(exit_status_)));
    return end;
  }
  const auto left = std::ranges::find_if(ranks_, [](const Rank& rank) { return rank.process && !rank.is_finalized; });
  if (exit_status_ == 0 && left != ranks_.end()) {
    end.reason = fmt::format("rank {} never reached MPI_Finalize", left - ranks_.begin());
    return end;
  }
  const std::string complaint = last_error_line();
  const auto bad = find_bad_termination(output);
  const auto by_connection = bad ? EndedByConnection::kNo : find_ended_by_connection(complaint);
  std::optional<std::size_t> named;
  for (std::size_t number = 0; bad && number < ranks_.size(); ++number)
    if (ranks_[number].process && ranks_[number].process->pid() == bad->pid) named = number;
  if (bad && !bad->how.empty())
    end.reason = explain(*bad, named, ranks_.size());
  else if (by_connection == EndedByConnection::kForeign)
    end.reason = "a connection that is not the job's own ended mpiexec, which believes every caller";
  else if (!bad && !unnoticed_.empty())
    end.reason = fmt::format("{}; mpiexec: exit code {}", unnoticed_, WEXITSTATUS(exit_status_));
  else if (by_connection == EndedByConnection::kUnclear)
    end.reason = "mpiexec lost its proxy's connection, or one that is not the job's own";
  else if (exit_status_ != 0 && named)
    end.reason = fmt::format("rank {}: exit code {}", *named, WEXITSTATUS(exit_status_));
  else if (exit_status_ != 0)
    end.reason = fmt::format("{}: exit code {}", bad ? "a rank" : "mpiexec", WEXITSTATUS(exit_status_));
  else
    end.reason = fmt::format("only {} of {} ranks reached MPI_Init{}{}", registered(), ranks_.size(),
                             site_.is_emulated ? "; " : "", site_.is_emulated ? kOnlyFitPrograms : "");
  if (!complaint.empty()) end.reason += fmt::format("; stderr: {}", complaint);
  return end;
}

std::string AgentJob::last_error_line() const {
  constexpr std::size_t kMost = 200;
  return clean_line(last_complaint(read_tail(err_.get(), 4096)), kMost);
}

}  // namespace replay::launcher
