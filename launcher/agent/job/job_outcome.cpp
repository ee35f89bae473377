#include "launcher/agent/job/job_outcome.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <vector>

#include "launcher/mpich/mpiexec.hpp"
#include "scheduler/base/file/full_disk.hpp"
#include "scheduler/base/process/limit_of_processes.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay::launcher {
namespace {

constexpr std::size_t kTailBytes = 65536;
constexpr std::string_view kKilled = "Killed (signal 9)";  // as BadTermination::how

std::string last_error_line(const JobContext& job) {
  constexpr std::size_t kMost = 200;
  return clean_line(last_complaint(job.processes.error_output(4096)), kMost);
}

/// The rank that Hydra's report names. Nothing: none of those that have registered.
std::optional<std::size_t> rank_named_by(const BadTermination& bad, const JobContext& job) {
  const auto& ranks = job.ranks.all();
  const auto named = std::ranges::find_if(
      ranks, [&bad](const JobRanks::Rank& rank) { return rank.process && rank.process->pid() == bad.pid; });
  if (named == ranks.end()) return std::nullopt;
  return static_cast<std::size_t>(named - ranks.begin());
}

/// What the kernel says of ranks here that ended badly by themselves.
struct OwnEnds {
  std::string text;   ///< "rank 1: Segmentation fault (signal 11)"; empty: it says nothing
  int exit_code = 0;  ///< theirs, if none of them was ended by a signal; as mpiexec makes one of several
};

// A SIGKILL may be Hydra's, which so ends the other ranks.
OwnEnds own_ends(const JobRanks& ranks) {
  std::map<int, std::vector<std::size_t>> ranks_by_status;  // signals come before exit codes
  for (std::size_t number = 0; number < ranks.size(); ++number) {
    const JobRanks::Rank& rank = ranks.all()[number];
    const int status = rank.process ? rank.process->exit_status().value_or(0) : 0;
    const int end = WIFSIGNALED(status) ? WTERMSIG(status) : status;  // without the flag of a core dump
    if (end != 0 && end != SIGKILL) ranks_by_status[end].push_back(number);
  }
  OwnEnds ends;
  bool has_signal = false;
  for (const auto& [status, some] : ranks_by_status) {
    has_signal |= WIFSIGNALED(status);
    ends.exit_code = has_signal ? 0 : ends.exit_code | WEXITSTATUS(status);
    const std::string how = WIFSIGNALED(status) ? fmt::format("{} (signal {})", ::strsignal(status), status)
                                                : fmt::format("exit code {}", WEXITSTATUS(status));
    add_item(ends.text, ", ", "{}: {}", ranks.names(some), how);
  }
  return ends;
}

/// For a job whose mpiexec has exited by itself.
std::string reason_by_messages(const JobContext& job, const HowItEnded& how, const std::optional<BadTermination>& bad,
                               const OwnEnds& own) {
  const std::string complaint = last_error_line(job);
  const auto by_connection =
      bad ? EndedByConnection::kNo : find_ended_by_connection(complaint, job.ranks.registered() > 0);
  const std::optional<std::size_t> named = bad ? rank_named_by(*bad, job) : std::nullopt;
  const int exit_code = WEXITSTATUS(how.exit_status);
  std::string reason;
  if ((bad || !how.dead.empty()) && !own.text.empty())
    reason = own.text;
  else if (bad && bad->says_how() && bad->how == kKilled &&
           !how.dead.empty())  // also by Hydra, so the rank that it names may be any
    reason = fmt::format("{}: {}", how.dead, kKilled);
  else if (bad && !bad->how.empty())
    reason = explain(*bad, named, job.order.world_size());
  else if (by_connection == EndedByConnection::kForeign)
    reason = "a connection that is not the job's own ended mpiexec, which believes every caller";
  else if (!bad && !how.unnoticed.empty() &&
           (how.unnoticed != kProxyDied || by_connection != EndedByConnection::kNo))  // else the proxy just left first
    reason = fmt::format("{}; mpiexec: exit code {}", how.unnoticed, exit_code);
  else if (by_connection != EndedByConnection::kNo && job.site.network == JobNetwork::kOwn)
    reason = "mpiexec lost its proxy, which was killed or could not start: is there a limit of processes?";
  else if (by_connection != EndedByConnection::kNo)
    reason = "mpiexec lost its proxy's connection, or one that is not the job's own";
  else if (how.exit_status != 0 && named)
    reason = fmt::format("rank {}: exit code {}", *named, exit_code);
  else if (how.exit_status != 0)
    reason = fmt::format("{}: exit code {}", bad ? "a rank" : "mpiexec", exit_code);
  else
    reason = fmt::format("only {} of {} ranks reached MPI_Init{}{}", job.ranks.registered(), job.ranks.size(),
                         job.site.is_emulated ? "; " : "", job.site.is_emulated ? kOnlyFitPrograms : "");
  if (!complaint.empty()) reason += fmt::format("; stderr: {}", complaint);
  return reason;
}

std::string failure_reason(const JobContext& job, const HowItEnded& how, const std::optional<BadTermination>& bad,
                           const OwnEnds& own) {
  if (how.broken) return *how.broken;
  if (WIFSIGNALED(how.exit_status)) {
    const int signal = WTERMSIG(how.exit_status);
    return fmt::format("mpiexec was killed by signal {} ({})", signal, ::strsignal(signal));
  }
  if (how.is_elsewhere) {
    const std::string complaint = last_error_line(job);
    return complaint.empty() ? how.unnoticed : fmt::format("{}; stderr: {}", how.unnoticed, complaint);
  }
  if (!job.order.is_home() && !how.unnoticed.empty()) return how.unnoticed;  // mpiexec is elsewhere
  const auto& ranks = job.ranks.all();
  const auto left =
      std::ranges::find_if(ranks, [](const JobRanks::Rank& rank) { return rank.process && !rank.is_finalized; });
  if (how.exit_status == 0 && left != ranks.end())
    return fmt::format("rank {} never reached MPI_Finalize",
                       job.ranks.world_rank(static_cast<std::size_t>(left - ranks.begin())));
  return reason_by_messages(job, how, bad, own);
}

/// How far any rank has come, as far as vmlib tells.
JobContext::Init init_of(const JobContext& job) {
  using Init = JobContext::Init;
  const JobSegment* const segment = job.ranks.segment();
  if (segment == nullptr) return job.init_of_unregistered;
  if (job.ranks.registered() == 0) return Init::kAhead;
  for (std::uint32_t slot = 0; slot < job.ranks.size(); ++slot)
    if (segment->state(slot) > REPLAY_VM_STARTING) return Init::kLeft;
  return Init::kEntered;
}

// What MPICH says of it can be lost.
bool failed_in_init(const JobContext& job) { return init_of(job) == JobContext::Init::kEntered; }

std::string output_of(const JobContext& job) {
  std::string output = job.processes.output(kTailBytes);
  return job.order.label ? without_labels(output) : output;
}

/// Whether the job has ended within the time for registration.
bool ended_at_start(const JobContext& job) {
  return std::chrono::steady_clock::now() - job.launched <= job.registration_limit();
}

/// Whether one of these processes was a rank, no program that a rank has started. Of several that end, Hydra names one.
bool is_any_a_rank(const std::vector<pid_t>& processes, const JobContext& job) {
  const pid_t named = find_bad_termination(output_of(job)).value_or(BadTermination{}).pid;
  return std::ranges::any_of(processes,
                             [&](pid_t pid) { return pid != 0 && (pid == named || job.seen_ranks.contains(pid)); });
}

/// Now that the job has ended: whether it and those that were started with it would have processes enough.
bool lacks_processes(const JobContext& job) {
  return why_no_processes(job.site.starts->processes_since(job.launched - job.registration_limit())) != 0;
}

/// Where /dev/shm is full, messages of MPICH and UCX in MPI_Init name anything but it, and a program that writes there
/// all the same gets a bus error. Empty: the job failed otherwise, or there is room.
std::string shortage_of_shared_memory(const JobContext& job, std::string_view reason) {
  if (!failed_in_init(job) && reason.find(::strsignal(SIGBUS)) == std::string_view::npos &&
      job.processes.error_output(kTailBytes).find("MPI_Init") == std::string::npos)
    return "";
  constexpr std::uintmax_t kOfRank = std::uintmax_t{4'300'000};  // UCX's buffers of a rank (1.13)
  std::error_code error;
  const auto room = std::filesystem::space("/dev/shm", error);
  if (error || room.available >= kOfRank * job.ranks.size()) return "";
  return fmt::format("; /dev/shm may be why: {} free there, and MPI needs some {} for {}",
                     size_text(static_cast<double>(room.available)),
                     size_text(static_cast<double>(kOfRank * job.ranks.size())), counted(job.ranks.size(), "rank"));
}

/// What mpiexec has to say of a write that failed is lost on the same disk. Empty: there is room, or mpiexec is elsewhere.
std::string shortage_of_disk(const JobContext& job) {
  if (!job.order.is_home() || !is_disk_full(job.order.directory)) return "";
  return fmt::format("; no room on the disk of {}", job.order.directory);
}

}  // namespace

bool has_lost_its_proxy(const JobContext& job) {
  return find_ended_by_connection(last_error_line(job), job.ranks.registered() > 0) == EndedByConnection::kNoProxy;
}

bool was_refused_a_thread(const JobContext& job) {
  if (job.order.is_on_several_nodes() || init_of(job) == JobContext::Init::kLeft) return false;
  const std::vector<pid_t> lacking = lacking_ucx_thread(job.processes.error_output(kTailBytes));
  if (lacking.empty()) return false;
  if (failed_in_init(job) && job.are_ranks_plain) return true;
  return ended_at_start(job) && is_any_a_rank(lacking, job) && lacks_processes(job);
}

JobEnd judge(const JobContext& job, const HowItEnded& how) {
  const std::string output = output_of(job);
  JobEnd end;
  end.exit_code = WIFEXITED(how.exit_status) ? WEXITSTATUS(how.exit_status) : 128 + WTERMSIG(how.exit_status);
  const bool must_register = job.ranks.registered() > 0 || job.site.is_emulated;
  const bool is_unfinished = must_register && !std::ranges::all_of(job.ranks.all(), &JobRanks::Rank::is_finalized);
  if (how.asked) {
    end.outcome = *how.asked;
    end.reason = how.stopped;
  } else if (how.broken || how.exit_status != 0 || is_unfinished) {
    end.outcome = Outcome::kFailed;
    const auto bad = find_bad_termination(output);
    const OwnEnds own = own_ends(job.ranks);
    end.reason = failure_reason(job, how, bad, own);
    if (!how.broken && bad && own.exit_code != 0) end.exit_code = own.exit_code;  // mpiexec's is a signal then
    if (!how.broken) end.reason += shortage_of_shared_memory(job, end.reason) + shortage_of_disk(job);
  }
  end.verification = job.processes.was_started() ? find_verification(output) : Verification::kNone;
  end.cpu_use = job.ranks.cpu_use();
  return end;
}

}  // namespace replay::launcher
