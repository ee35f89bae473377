// How a job starts: segment, mpiexec, and whether the job is malleable. It is malleable when every rank has registered
// and reports at the end of MPI_Init that it can give its core away; rigid when that has not happened within a limit,
// with a reason that names the program found instead. On emulated cores a rank that does not register computes for
// real, without a core of its own: such a job ends.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "launcher/agent/job/agent_job.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "launcher/mpich/vmlib_file.hpp"
#include "launcher/os/binding.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/process/monotonic_clock.hpp"
#include "scheduler/base/text/shell_words.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kBetweenLooksAtStart = 5ms;
constexpr auto kLastLookAtMasks = 1600ms;
constexpr std::uint64_t kOldestStartNs = 60'000'000'000;

std::string path_variable() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace

void AgentJob::launch() {
  try {
    if (const auto reason = why_it_cannot_start()) {
      found_broken_ = reason;
    } else {
      take_cores();
      start_processes();
    }
  } catch (const std::exception& error) {
    found_broken_ = error.what();
  }
  if (found_broken_) {
    exit_status_ = 127 << 8;  // the shell's status for a command that could not be started
    finish();
  } else {
    registration_timer_.arm_after(registration_limit());
    if (!segment_) look_whether_running();
  }
}

std::chrono::milliseconds AgentJob::registration_limit() const {
  return site_.registration_limit + site_.registration_limit_per_rank * static_cast<long>(ranks_.size());
}

std::optional<std::string> AgentJob::why_it_cannot_start() {
  if (!find_program(site_.mpiexec.empty() ? "mpiexec" : site_.mpiexec.string(), path_variable()))
    return fmt::format("cannot start {}: not found; install MPICH or name its mpiexec",
                       site_.mpiexec.empty() ? "mpiexec" : site_.mpiexec.string());
  if (!find_program(order_.command.front(), path_variable()))
    return fmt::format("program {}: not found, or not executable", order_.command.front());
  if (std::ranges::find(order_.command, ":") != order_.command.end())
    return "the argument ':' separates programs for mpiexec and cannot be given to one";
  if (order_.command.size() > kMostWordsOfACommand)
    return fmt::format("program {}: {} arguments, and mpiexec takes at most {}", order_.command.front(),
                       order_.command.size() - 1, kMostWordsOfACommand - 1);
  no_vmlib_reason_ = why_no_vmlib();
  if (site_.is_emulated && !no_vmlib_reason_.empty())
    return fmt::format("{}, and on emulated cores no program runs without it", no_vmlib_reason_);
  return site_.cores->why_not(id(), core_of_rank_, site_.is_emulated);
}

/// Empty: vmlib can be preloaded.
std::string AgentJob::why_no_vmlib() const {
  if (!order_.malleable && !site_.is_emulated) return "asked to be rigid";
  if (site_.vmlib.empty()) return "vmlib is not available";
  if (ranks_.size() > REPLAY_VM_MAX_RANKS)
    return fmt::format("vmlib serves at most {} ranks on a node", REPLAY_VM_MAX_RANKS);
  return why_no_vmlib_at(site_.vmlib);
}

/// The start as the daemon gave it, if it is plausible: one in the future, or by another clock, would make a program
/// end at once.
JobFacts AgentJob::facts() const {
  const std::uint64_t now = monotonic_ns();
  const bool is_believable = order_.given_ns != 0 && order_.given_ns <= now && now - order_.given_ns <= kOldestStartNs;
  return {.start_ns = is_believable ? order_.given_ns : now,
          .end_cost_ns = site_.is_emulated ? site_.end_cost->expected(ranks_.size()) : 0,
          .is_emulated = site_.is_emulated,
          .quantum_us = static_cast<std::uint32_t>(site_.quantum.count())};
}

void AgentJob::take_cores() {
  if (no_vmlib_reason_.empty()) {
    const auto name = fmt::format("{}.segment", static_cast<std::int64_t>(order_.job));
    const auto slots = static_cast<std::uint32_t>(ranks_.size());
    segment_ = std::make_unique<JobSegment>(name, key_, slots, facts());
  }
  site_.cores->enter(id(), {segment_.get(), [this] { advance_meters(); }}, core_of_rank_);
}

/// What the ranks preload: vmlib first, then the agent's own LD_PRELOAD.
std::string AgentJob::preload_text() const {
  std::string text = segment_ ? site_.vmlib.string() : "";
  const char* everywhere = std::getenv("LD_PRELOAD");
  if (everywhere == nullptr || *everywhere == '\0') return text;
  if (!text.empty()) text += ':';
  return text += everywhere;
}

void AgentJob::start_processes() {
  const std::filesystem::path mpiexec =
      find_program(site_.mpiexec.empty() ? "mpiexec" : site_.mpiexec.string(), path_variable()).value();
  const MpiexecCall call{order_.command,
                         order_.environment,
                         {core_of_rank_.begin(), core_of_rank_.end()},
                         preload_text(),
                         !site_.is_emulated};
  const std::vector<std::string> arguments = mpiexec_arguments(call);
  // The job's mark: set for rigid jobs too, because it is how strays are recognised.
  Variables mark{{REPLAY_VM_ENV_SOCKET, site_.socket.string()}, {REPLAY_VM_ENV_KEY, key_text_}};
  if (!segment_) mark.emplace_back(REPLAY_VM_ENV_OFF, "1");
  write_description(mpiexec, arguments);
  Variables inherited = own_environment();
  if (site_.network == JobNetwork::kHost) std::ranges::move(port_ranges(inherited), std::back_inserter(mark));
  StartedMpiexec started =
      start_mpiexec(mpiexec, arguments, hydra_environment(inherited, mark), order_.directory, site_.network);
  mpiexec_ = started.pid;
  out_ = std::move(started.out);
  err_ = std::move(started.err);
  put_into_a_group();
}

/// The group identifies every process of this job, whatever it does to its parent or environment.
void AgentJob::put_into_a_group() {
  if (site_.group == nullptr) return;
  auto group = site_.group->make_below(fmt::format("job-{}", static_cast<std::int64_t>(order_.job)));
  if (group && group->take_with_all_below(mpiexec_)) group_.emplace(std::move(*group));
}

/// For the user, beside the job's output.
void AgentJob::write_description(const std::filesystem::path& mpiexec,
                                 const std::vector<std::string>& arguments) const {
  const std::string command = quoted_word(mpiexec.string()) + " " + command_line_of(arguments);
  std::string environment;
  for (const auto& [name, value] : order_.environment) environment += fmt::format("{}={}\n", name, quoted_word(value));
  const std::filesystem::path directory = order_.directory;
  try {
    write_whole_file(directory / "command", command + "\n");
    write_whole_file(directory / "environment", environment);
  } catch (const InputError& error) {
    throw std::runtime_error(fmt::format("cannot write into {}: {}", order_.directory, error.what()));
  }
}

/// A rank knows only at the end of MPI_Init whether it can give its core away. Ranks without vmlib count as running
/// when /proc shows all of them below Hydra.
void AgentJob::look_whether_running() {
  if (!segment_) {
    std::set<std::size_t> found;
    for (const auto& [rank, process] : ranks_below_hydra()) found.insert(rank);
    if (found.size() < ranks_.size()) return init_timer_.arm_after(kBetweenLooksAtStart);
    return declare_rigid(no_vmlib_reason_);
  }
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (segment_->state(slot) <= REPLAY_VM_STARTING) return init_timer_.arm_after(kBetweenLooksAtStart);
  declare_started();
}

void AgentJob::declare_started() {
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot) {
    if (segment_->mode(slot) == REPLAY_VM_MODE_NONE || segment_->state(slot) == REPLAY_VM_SWITCHED_OFF)
      return declare_rigid(
          fmt::format("vmlib cannot give the core away in rank {}: it has no way into this MPI", slot));
  }
  if (order_.malleable)
    declare(Form::kMalleable, "");
  else
    declare(Form::kRigid, "asked to be rigid");
}

void AgentJob::declare_rigid(const std::string& reason) {
  if (site_.is_emulated) return break_off(fmt::format("{}; {}", reason, kOnlyFitPrograms));
  declare(Form::kRigid, reason);
}

void AgentJob::declare(Form form, const std::string& reason) {
  registration_timer_.disarm();
  init_timer_.disarm();
  form_ = form;
  watch_proxy();
  if (!site_.is_emulated) read_masks_back();
  site_.report(protocol::JobStarted{id(), form == Form::kMalleable, reason});
  apply_waiting();
}

/// Processes of the program, with the rank that each belongs to.
std::vector<std::pair<std::size_t, Process>> AgentJob::ranks_below_hydra() const {
  std::vector<std::pair<std::size_t, Process>> found;
  for (Process& process : program_processes())
    if (const auto rank = rank_of(process.pid()); rank && *rank < ranks_.size())
      found.emplace_back(*rank, std::move(process));
  return found;
}

/// Checks the binding of all ranks, registered or not. Hydra should have bound them, but a short or wrong list leaves
/// ranks unbound without an error. Checked several times: inside MPI_Init hwloc visits every core and then restores the
/// mask that it had found.
void AgentJob::read_masks_back() {
  for (const auto& [rank, process] : ranks_below_hydra()) put_on_its_core(rank, process.pid());
  if (next_look_at_masks_ > kLastLookAtMasks) return;
  mask_timer_.arm_after(next_look_at_masks_);
  next_look_at_masks_ *= 2;
}

void AgentJob::put_on_its_core(std::size_t rank, pid_t pid) const {
  if (is_bound(pid, core_of_rank_[rank])) return;
  note(fmt::format("rank {} was not on its core {} and was moved there", rank, core_of_rank_[rank]));
  try {
    bind_all_threads(*site_.topology, pid, core_of_rank_[rank]);
  } catch (const std::system_error& error) {
    note(error.what());
  }
}

void AgentJob::on_registration_timeout() {
  if (phase_ != Phase::kRunning || form_ != Form::kUnknown) return;
  if (!segment_)
    declare_rigid(no_vmlib_reason_);
  else if (registered() == ranks_.size())
    declare_started();  // a long MPI_Init
  else if (!end_if_a_rank_left_early())
    declare_rigid(describe_unregistered());
}

/// Names the program that was found instead of registered ranks.
std::string AgentJob::describe_unregistered() const {
  const double limit = static_cast<double>(registration_limit().count()) / 1000;
  if (registered() > 0)
    return fmt::format("only {} of {} ranks registered within {} s", registered(), ranks_.size(), limit);
  const std::string none = fmt::format("no rank registered within {} s: ", limit);
  std::string found = "no process of the program was found";
  for (const Process& process : program_processes()) {
    const Image image = image_of(process.pid());
    if (image.program.empty()) continue;
    if (!image.other_mpi.empty())
      return none + fmt::format("{} is linked to another MPI ({})", image.program, image.other_mpi);
    if (!image.is_dynamic) return none + fmt::format("{} is statically linked", image.program);
    if (image.has_mpich && image.has_vmlib)
      found = fmt::format("{} has not called MPI_Init, or calls it in a way that vmlib does not see", image.program);
    else if (image.has_mpich)
      found = fmt::format("vmlib was not preloaded into {}", image.program);
    else
      found = fmt::format("{} uses no MPI", image.program);
  }
  return none + found;
}

}  // namespace replay::launcher
