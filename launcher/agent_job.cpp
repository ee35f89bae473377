#include "launcher/agent_job.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "launcher/binding.hpp"
#include "launcher/mpiexec.hpp"
#include "launcher/registrar.hpp"

namespace replay::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

constexpr auto kMpiexecNoticesWithin = 3000ms;
constexpr auto kBetweenLooks = 5ms;
constexpr std::size_t kTailBytes = 65536;

milliseconds registration_limit(std::size_t ranks) { return 5000ms + 200ms * static_cast<long>(ranks); }
milliseconds time_to_leave(Patience patience) { return patience == Patience::kNormal ? 2000ms : 500ms; }

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

std::string path_variable() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace

AgentJob::AgentJob(const AgentSite& site, protocol::LaunchJob order)
    : site_(site),
      order_(std::move(order)),
      pu_of_rank_(order_.core_of_rank),
      key_(new_key()),
      key_text_(to_hex(key_)),
      ranks_(order_.core_of_rank.size()),
      registration_timer_(site.loop, -1, 0, [this] { on_registration_timeout(); }),
      init_timer_(site.loop, -1, 0, [this] { look_whether_running(); }),
      unnoticed_timer_(site.loop, -1, 0,
                       [this] {
                         found_broken_ = unnoticed_;
                         kill_everything();
                       }),
      kill_timer_(site.loop, -1, 0, [this] { kill_everything(); }),
      leave_timer_(site.loop, -1, 0, [this] { leave(); }) {}

// ---- start -----------------------------------------------------------------------------------------------------------

void AgentJob::launch() {
  try {
    if (const auto reason = why_it_cannot_start()) {
      found_broken_ = reason;
    } else {
      prepare_segment();
      start_processes();
    }
  } catch (const std::exception& error) {
    found_broken_ = error.what();
  }
  if (found_broken_) {
    exit_status_ = 127 << 8;  // as a shell says it: could not be started
    finish();
  } else {
    registration_timer_.arm_after(registration_limit(ranks_.size()));
    if (!segment_) look_whether_running();
  }
}

std::optional<std::string> AgentJob::why_it_cannot_start() {
  if (!find_program(site_.mpiexec.empty() ? "mpiexec" : site_.mpiexec.string(), path_variable()))
    return fmt::format("cannot start {}: not found; install MPICH or name its mpiexec",
                       site_.mpiexec.empty() ? "mpiexec" : site_.mpiexec.string());
  if (!find_program(order_.command.front(), path_variable()))
    return fmt::format("program {}: not found, or not executable", order_.command.front());
  if (std::ranges::find(order_.command, ":") != order_.command.end())
    return "the argument ':' separates programs for mpiexec and cannot be given to one";
  return std::nullopt;
}

void AgentJob::prepare_segment() {
  if (!order_.malleable)
    no_vmlib_reason_ = "asked to be rigid";
  else if (site_.vmlib.empty())
    no_vmlib_reason_ = "vmlib is not available";
  else if (::access(site_.vmlib.c_str(), R_OK) != 0)
    no_vmlib_reason_ = fmt::format("vmlib cannot be read at {}: {}", site_.vmlib.string(), std::strerror(errno));
  else if (ranks_.size() > REPLAY_VM_MAX_RANKS)
    no_vmlib_reason_ = fmt::format("vmlib serves at most {} ranks on a node", REPLAY_VM_MAX_RANKS);
  if (!no_vmlib_reason_.empty()) return;
  const auto name = fmt::format("{}.segment", static_cast<std::int64_t>(order_.job));
  segment_ = std::make_unique<JobSegment>(site_.directory / name, key_, static_cast<std::uint32_t>(ranks_.size()));
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot) {
    segment_->order_core(slot, pu_of_rank_[slot]);
    segment_->order_shared(slot, is_shared(slot));
  }
}

/// What the ranks preload: vmlib first, then what the user has everywhere.
std::string AgentJob::preload_text() const {
  std::string text = segment_ ? site_.vmlib.string() : "";
  const char* everywhere = std::getenv("LD_PRELOAD");
  if (everywhere != nullptr && *everywhere != '\0') text += (text.empty() ? "" : ":") + std::string{everywhere};
  return text;
}

void AgentJob::start_processes() {
  const std::filesystem::path mpiexec =
      find_program(site_.mpiexec.empty() ? "mpiexec" : site_.mpiexec.string(), path_variable()).value();
  const MpiexecCall call{order_.command, order_.environment, {pu_of_rank_.begin(), pu_of_rank_.end()}, preload_text()};
  const std::vector<std::string> arguments = mpiexec_arguments(call);
  // The job's mark: set for rigid jobs too, because it is how strays are recognised.
  Variables mark{{REPLAY_VM_ENV_SOCKET, site_.socket.string()},
                 {REPLAY_VM_ENV_SEGMENT, segment_ ? segment_->path().string() : ""},
                 {REPLAY_VM_ENV_KEY, key_text_}};
  if (!segment_) mark.emplace_back(REPLAY_VM_ENV_OFF, "1");

  const std::filesystem::path directory = order_.directory;
  std::ofstream command{directory / "command"};
  command << quote_for_shell(mpiexec.string());
  for (const std::string& argument : arguments) command << ' ' << quote_for_shell(argument);
  command << '\n';
  std::ofstream environment{directory / "environment"};
  for (const auto& [name, value] : order_.environment) environment << name << '=' << quote_for_shell(value) << '\n';
  if (!command.flush() || !environment.flush())
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot write into {}", order_.directory));

  mpiexec_ = start_mpiexec(mpiexec, arguments, hydra_environment(own_environment(), mark), directory);
}

int AgentJob::admit(const replay_vm_hello& hello) const {
  if (hello.version != REPLAY_VM_VERSION) return kRefusedVersion;
  if (phase_ != Phase::kRunning || !segment_) return kRefusedKey;
  if (hello.world_size != static_cast<std::int32_t>(ranks_.size()) || hello.world_rank < 0 ||
      hello.world_rank >= hello.world_size)
    return kRefusedRank;
  if (ranks_[static_cast<std::size_t>(hello.world_rank)].process) return kRefusedAlready;
  if (!Process::open(hello.pid, hello.pid_start)) return kRefusedKey;
  return hello.world_rank;
}

void AgentJob::add_rank(const replay_vm_hello& hello, UniqueFd stream) {
  const auto number = static_cast<std::size_t>(hello.world_rank);
  Rank& rank = ranks_[number];
  rank.process = Process::open(hello.pid, hello.pid_start);
  if (!rank.process) return;  // died since: mpiexec will say so
  rank.stream = std::move(stream);
  rank.exit_event =
      std::make_unique<LoopEvent>(site_.loop, rank.process->pidfd(), EV_READ, [this, number] { on_rank_exit(number); });
  rank.exit_event->arm();
  if (!is_bound(hello.pid, pu_of_rank_[number])) {
    note(fmt::format("rank {} was not on its core {} and was moved there", number, pu_of_rank_[number]));
    try {
      bind_all_threads(*site_.topology, hello.pid, pu_of_rank_[number]);
    } catch (const std::system_error& error) {
      note(error.what());
    }
  }
  if (form_ == Form::kUnknown && registered() == ranks_.size()) look_whether_running();
}

/// A rank knows only at the end of MPI_Init whether it can give its core away. Ranks without vmlib are there when /proc
/// shows so many processes below Hydra's.
void AgentJob::look_whether_running() {
  if (!segment_) {
    if (program_processes().size() < ranks_.size()) return init_timer_.arm_after(kBetweenLooks);
    return declare_rigid(no_vmlib_reason_);
  }
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (segment_->state(slot) <= REPLAY_VM_STARTING) return init_timer_.arm_after(kBetweenLooks);
  declare_started();
}

void AgentJob::declare_started() {
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot) {
    if (segment_->mode(slot) == REPLAY_VM_MODE_NONE || segment_->state(slot) == REPLAY_VM_SWITCHED_OFF)
      return declare_rigid(
          fmt::format("vmlib cannot give the core away in rank {}: it has no way into this MPI", slot));
  }
  declare(Form::kMalleable, "");
}

void AgentJob::declare_rigid(const std::string& reason) { declare(Form::kRigid, reason); }

void AgentJob::declare(Form form, const std::string& reason) {
  registration_timer_.disarm();
  init_timer_.disarm();
  form_ = form;
  watch_proxy();
  site_.report(protocol::JobStarted{id(), form == Form::kMalleable, reason});
  apply_waiting();
}

void AgentJob::on_registration_timeout() {
  if (phase_ != Phase::kRunning || form_ != Form::kUnknown) return;
  if (!segment_)
    declare_rigid(no_vmlib_reason_);
  else if (registered() == ranks_.size())
    declare_started();  // a long MPI_Init
  else
    declare_rigid(describe_unregistered());
}

/// Names what runs in the ranks' place.
std::string AgentJob::describe_unregistered() const {
  const double limit = static_cast<double>(registration_limit(ranks_.size()).count()) / 1000;
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

/// When the proxy is killed, mpiexec waits for ranks that nobody watches any more.
void AgentJob::watch_proxy() {
  for (const pid_t child : children_of(mpiexec_)) {
    const auto stat = read_stat(child);
    if (!stat || !stat->name.starts_with("hydra_pmi")) continue;
    proxy_ = Process::open(child, stat->start);
    if (!proxy_) continue;
    proxy_event_ = std::make_unique<LoopEvent>(site_.loop, proxy_->pidfd(), EV_READ,
                                               [this] { fail_unless_noticed("Hydra's proxy died"); });
    proxy_event_->arm();
    return;
  }
}

// ---- orders ----------------------------------------------------------------------------------------------------------

void AgentJob::carry_out(const LaterOrder& order) {
  if (phase_ != Phase::kRunning || asked_outcome_) return;  // its end answers every order
  waiting_.push_back(order);
  if (form_ != Form::kUnknown) apply_waiting();
}

void AgentJob::apply_waiting() {
  while (!waiting_.empty()) {
    const LaterOrder order = std::move(waiting_.front());
    waiting_.pop_front();
    std::visit([this](const auto& o) { apply(o); }, order);
  }
}

void AgentJob::refuse(std::string_view action, const std::string& reason) {
  site_.report(protocol::OrderFailed{id(), std::string{action}, reason});
}

bool AgentJob::is_shared(std::size_t rank) const { return std::ranges::count(pu_of_rank_, pu_of_rank_[rank]) > 1; }

bool AgentJob::is_expanded() const {
  auto sorted = pu_of_rank_;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end();
}

void AgentJob::apply(const protocol::MoveRanks& order) {
  if (order.core_of_rank.size() != ranks_.size())
    return refuse("resize",
                  fmt::format("expected {} cores, one per rank, found {}", ranks_.size(), order.core_of_rank.size()));
  if (order.core_of_rank != pu_of_rank_) {
    if (registered() != ranks_.size()) return refuse("resize", "the job is rigid: its ranks are not registered");
    advance_meters();
    const auto before = pu_of_rank_;
    try {
      move(order.core_of_rank);
    } catch (const std::system_error& error) {
      try {
        move(before);
      } catch (const std::system_error&) {
        note(fmt::format("could not be moved back: {}", error.what()));
      }
      return refuse("resize", error.what());
    }
  }
  site_.report(protocol::RanksMoved{id()});
}

/// A rank that shares its core must give it away, so: mark shared before the move, clear the mark after it.
void AgentJob::move(const std::vector<std::int32_t>& pu_of_rank) {
  pu_of_rank_ = pu_of_rank;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot) {
    segment_->order_core(slot, pu_of_rank_[slot]);
    if (is_shared(slot)) segment_->order_shared(slot, true);
  }
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].is_running()) bind_all_threads(*site_.topology, ranks_[slot].process->pid(), pu_of_rank_[slot]);
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (!is_shared(slot)) segment_->order_shared(slot, false);
}

/// What runs the user's program: everything below mpiexec but Hydra's own.
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
  for (const Rank& rank : ranks_)
    if (rank.is_running()) rank.process->signal(SIGSTOP);
  for (const Process& process : program_processes()) process.signal(SIGSTOP);  // unregistered ones, and children
  site_.report(protocol::JobSuspended{id()});
}

void AgentJob::apply(const protocol::ResumeJob&) {
  advance_meters();
  is_suspended_ = false;
  for (const Process& process : program_processes()) process.signal(SIGCONT);
  for (const Rank& rank : ranks_)
    if (rank.is_running()) rank.process->signal(SIGCONT);
  site_.report(protocol::JobResumed{id()});
}

// ---- end -------------------------------------------------------------------------------------------------------------

void AgentJob::end(Outcome outcome, Patience patience) {
  if (phase_ != Phase::kRunning) return;
  if (!asked_outcome_ && !found_broken_) asked_outcome_ = outcome;
  waiting_.clear();
  if (is_suspended_)  // stopped processes cannot act on SIGTERM
    for (const Process& process : program_processes()) process.signal(SIGKILL);
  ::kill(mpiexec_, SIGTERM);
  kill_timer_.arm_after(time_to_leave(patience));
}

void AgentJob::on_rank_exit(std::size_t number) {
  Rank& rank = ranks_[number];
  rank.is_gone = true;
  rank.is_finalized = segment_->state(static_cast<std::uint32_t>(number)) == REPLAY_VM_FINALIZED;
  rank.meter.advance(segment_->times(static_cast<std::uint32_t>(number), now_ns()), now_ns(),
                     is_expanded() && !is_suspended_);
  if (!rank.is_finalized) fail_unless_noticed(fmt::format("rank {} died without MPI_Finalize", number));
}

/// mpiexec usually sees it at once and ends the job itself.
void AgentJob::fail_unless_noticed(const std::string& reason) {
  if (phase_ != Phase::kRunning || asked_outcome_ || !unnoticed_.empty()) return;
  unnoticed_ = fmt::format("{}, and mpiexec did not notice within {} s", reason, kMpiexecNoticesWithin.count() / 1000);
  unnoticed_timer_.arm_after(kMpiexecNoticesWithin);
}

void AgentJob::kill_everything() {
  if (phase_ != Phase::kRunning) return;
  const std::vector<pid_t> below = descendants_of(mpiexec_);
  ::kill(mpiexec_, SIGKILL);  // its exit leads to leave(), which goes on until nobody is left
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
  unnoticed_timer_.disarm();
  kill_timer_.disarm();
  proxy_event_.reset();
  leave();
}

/// Kills whoever is left, and comes back until nobody is.
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
  for (const pid_t pid : site_.orphans_of(key_text_)) {
    const auto process = Process::open(pid);
    if (!process || process->is_gone()) continue;
    process->signal(SIGKILL);
    is_anybody_left = true;
  }
  if (is_anybody_left)
    leave_timer_.arm_after(kBetweenLooks);
  else
    finish();
}

void AgentJob::finish() {
  phase_ = Phase::kOver;
  const JobEnd end = judge();
  segment_.reset();
  for (Rank& rank : ranks_) rank.exit_event.reset();
  site_.report(protocol::JobEnded{id(), end});
  site_.retire(id());
}

JobEnd AgentJob::judge() const {
  const std::filesystem::path directory = order_.directory;
  const std::string output = read_tail(directory / "stdout", kTailBytes);
  JobEnd end;
  const bool is_unfinished = registered() > 0 && !std::ranges::all_of(ranks_, &Rank::is_finalized);
  if (asked_outcome_)
    end.outcome = *asked_outcome_;
  else if (found_broken_ || exit_status_ != 0 || is_unfinished)
    end = failure(output);
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
  std::string who = "a rank";
  for (std::size_t number = 0; number < ranks_.size(); ++number) {
    if (!ranks_[number].process || ranks_[number].is_finalized) continue;
    if (exit_status_ == 0) end.reason = fmt::format("rank {} never reached MPI_Finalize", number);
    break;
  }
  const auto bad = find_bad_termination(output);
  for (std::size_t number = 0; bad && number < ranks_.size(); ++number)
    if (ranks_[number].process && ranks_[number].process->pid() == bad->pid) who = fmt::format("rank {}", number);
  if (!end.reason.empty()) return end;
  if (bad && !bad->how.empty())
    end.reason = fmt::format("{}: {}", who, bad->how);
  else if (exit_status_ != 0)
    end.reason = fmt::format("{}: exit code {}", bad ? who : "mpiexec", WEXITSTATUS(exit_status_));
  else
    end.reason = fmt::format("only {} of {} ranks reached MPI_Init", registered(), ranks_.size());
  if (const std::string line = last_error_line(); !line.empty()) end.reason += fmt::format("; stderr: {}", line);
  return end;
}

std::string AgentJob::last_error_line() const {
  constexpr std::size_t kMost = 200;
  std::string text = read_tail(std::filesystem::path{order_.directory} / "stderr", 4096);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (const std::size_t start = text.rfind('\n'); start != std::string::npos) text.erase(0, start + 1);
  if (text.size() > kMost) text.resize(kMost);
  return text;
}

// ---- figures ---------------------------------------------------------------------------------------------------------

void AgentJob::advance_meters() {
  if (!segment_) return;
  const std::uint64_t now = now_ns();
  const bool counts = is_expanded() && !is_suspended_;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].is_running()) ranks_[slot].meter.advance(segment_->times(slot, now), now, counts);
}

double AgentJob::cpu_use() const {
  double sum = 0;
  for (const Rank& rank : ranks_) {
    const auto use = rank.meter.cpu_use();
    if (!use) return -1;
    sum += *use;
  }
  return sum / static_cast<double>(ranks_.size());
}

void AgentJob::measure() {
  if (phase_ != Phase::kRunning || is_suspended_ || !is_expanded()) return;
  advance_meters();
  if (const double use = cpu_use(); use >= 0) site_.report(protocol::JobMeasured{id(), use});
}

protocol::JobStatistics AgentJob::statistics() const {
  protocol::JobStatistics found{id(), now_ns(), "none", "yield", {}};
  found.ranks.resize(ranks_.size());
  if (!segment_) return found;
  for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot)
    if (ranks_[slot].process) found.ranks[slot] = segment_->statistics(slot, ranks_[slot].process->pid(), found.at_ns);
  if (segment_->mode(0) == REPLAY_VM_MODE_PROGRESS) found.mode = "progress";
  if (segment_->mode(0) == REPLAY_VM_MODE_TEST_LOOP) found.mode = "test-loop";
  return found;
}

std::size_t AgentJob::registered() const {
  return static_cast<std::size_t>(std::ranges::count_if(ranks_, [](const Rank& r) { return r.process.has_value(); }));
}

/// For the user, beside the job's output.
void AgentJob::note(const std::string& text) const {
  std::ofstream{std::filesystem::path{order_.directory} / "notes", std::ios::app} << text << '\n';
}

}  // namespace replay::launcher
