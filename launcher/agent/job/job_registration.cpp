#include "launcher/agent/job/job_registration.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "launcher/os/binding.hpp"
#include "launcher/os/descriptor_limit.hpp"
#include "scheduler/base/process/limit_of_processes.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

constexpr auto kBetweenLooksAtStart = 5ms;
constexpr auto kBetweenLooksLater = 100ms;  // of ranks that register late, and may be in MPI_Init for long

rlim_t limit_of(pid_t pid, __rlimit_resource resource) {
  rlimit limit{};
  return ::prlimit(pid, resource, nullptr, &limit) == 0 ? limit.rlim_cur : 0;
}

/// JobContext::are_ranks_plain, of a rank that waits for an answer at the entry of MPI_Init.
bool is_plain(pid_t pid) {
  constexpr std::size_t kFewDescriptors = 64;
  const auto stat = read_stat(pid);
  const auto parent = stat ? Process::open(stat->parent) : std::nullopt;
  return parent && JobProcesses::is_hydra(*parent) && threads_of(pid).size() == 1 && children_of(pid).empty() &&
         limit_of(pid, RLIMIT_NPROC) == limit_of(::getpid(), RLIMIT_NPROC) &&
         count_descriptors(pid).value_or(kFewDescriptors) < kFewDescriptors &&
         limit_of(pid, RLIMIT_NOFILE) > 2 * kFewDescriptors && limit_of(pid, RLIMIT_AS) == RLIM_INFINITY &&
         limit_of(pid, RLIMIT_DATA) == RLIM_INFINITY;
}

}  // namespace

JobRegistration::JobRegistration(JobContext& job, JobEnding& ending, JobWatch& watch, OnStarted on_started)
    : job_(job),
      ending_(ending),
      watch_(watch),
      on_started_(std::move(on_started)),
      limit_timer_(job.site.loop, -1, 0, [this] { on_timeout(); }),
      look_timer_(job.site.loop, -1, 0, [this] { look_whether_running(); }) {}

void JobRegistration::begin(std::string no_vmlib_reason) {
  no_vmlib_reason_ = std::move(no_vmlib_reason);
  limit_timer_.arm_after(job_.registration_limit());
  if (job_.ranks.segment() == nullptr) look_whether_running();
}

void JobRegistration::stop() {
  limit_timer_.disarm();
  look_timer_.disarm();
}

// ---- ranks ----------------------------------------------------------------------------------------------------------

Admission JobRegistration::admit(const replay_vm_hello& hello) {
  const int slot = slot_for(hello);
  if (slot < 0) return {slot, {}};
  job_.are_ranks_plain = job_.are_ranks_plain && is_plain(hello.pid);
  return {slot, {job_.ranks.segment()->descriptor(), job_.site.cores->segment().descriptor()}};
}

void JobRegistration::note_init(const replay_vm_hello& hello) {
  if ((hello.flags & REPLAY_VM_HAS_LEFT_INIT) != 0) {
    job_.init_of_unregistered = JobContext::Init::kLeft;
    return;
  }
  job_.are_ranks_plain = job_.are_ranks_plain && is_plain(hello.pid) && !job_.processes.is_of_inner_mpiexec(hello.pid);
  if (job_.init_of_unregistered == JobContext::Init::kAhead) job_.init_of_unregistered = JobContext::Init::kEntered;
}

int JobRegistration::slot_for(const replay_vm_hello& hello) {
  if (hello.version != REPLAY_VM_VERSION) return kRefusedVersion;
  if (!ending_.is_running() || job_.ranks.segment() == nullptr) return kRefusedKey;
  const std::int64_t slot = std::int64_t{hello.world_rank} - static_cast<std::int64_t>(job_.ranks.world_rank(0));
  if (hello.world_size != static_cast<std::int32_t>(job_.order.world_size()) || slot < 0 ||
      slot >= static_cast<std::int64_t>(job_.ranks.size()))
    return kRefusedRank;
  if (job_.ranks.all()[static_cast<std::size_t>(slot)].process) return kRefusedAlready;
  if (!Process::open(hello.pid, hello.pid_start)) return kRefusedKey;
  if (job_.processes.is_of_inner_mpiexec(hello.pid)) return kRefusedRank;
  if (job_.site.is_emulated && (hello.flags & REPLAY_VM_FIT_FOR_EMULATION) == 0) {
    const std::string program = std::filesystem::path{image_of(hello.pid).program}.filename();
    ending_.break_off(fmt::format("{} computes for real: {}", program, kOnlyFitPrograms));
    return kRefusedUnfit;
  }
  return static_cast<int>(slot);
}

void JobRegistration::add(const replay_vm_hello& hello, UniqueFd stream) {
  if (!job_.ranks.add(hello, std::move(stream))) return;  // mpiexec reports its death
  if (job_.order.is_on_several_nodes() && !job_.site.is_emulated) bind_at_start(hello);
  watch_.find_proxy();
  if (may_register_ && !ending_.is_to_end() && job_.ranks.have_all_registered()) look_whether_running();
}

/// Hydra binds no rank of a job on several nodes. UCX looks at the binding later, in MPI_Init.
void JobRegistration::bind_at_start(const replay_vm_hello& hello) const {
  const std::size_t slot = static_cast<std::size_t>(hello.world_rank) - job_.ranks.world_rank(0);
  try {
    bind_all_threads(*job_.site.topology, hello.pid, PuId{job_.ranks.core_of_rank()[slot]});
  } catch (const std::system_error&) {  // the binding check notices, and says so
  }
}

// ---- what the job is ------------------------------------------------------------------------------------------------

void JobRegistration::look_whether_running() {
  const bool has_vmlib = job_.ranks.segment() != nullptr;
  if (!(has_vmlib ? is_running_with_vmlib() : is_running_without_vmlib()))
    return look_timer_.arm_after(is_declared_ ? kBetweenLooksLater : kBetweenLooksAtStart);
  has_vmlib ? declare_started() : declare_rigid(no_vmlib_reason_);
}

/// Ranks without vmlib count as running when /proc shows all of them below Hydra.
bool JobRegistration::is_running_without_vmlib() const {
  std::set<std::size_t> found;
  for (const auto& [rank, process] : job_.processes.program_by_rank(job_.ranks.size()))
    if (rank) found.insert(*rank);
  return found.size() == job_.ranks.size();
}

/// A rank knows only at the end of MPI_Init whether it can give its core away.
bool JobRegistration::is_running_with_vmlib() const {
  for (std::uint32_t slot = 0; slot < job_.ranks.size(); ++slot)
    if (job_.ranks.segment()->state(slot) <= REPLAY_VM_STARTING) return false;
  return true;
}

void JobRegistration::declare_started() {
  const JobSegment& segment = *job_.ranks.segment();
  for (std::uint32_t slot = 0; slot < job_.ranks.size(); ++slot) {
    if (segment.mode(slot) == REPLAY_VM_MODE_NONE || segment.state(slot) == REPLAY_VM_SWITCHED_OFF)
      return declare_rigid(
          fmt::format("vmlib cannot give the core away in rank {}: it has no way into this MPI", slot));
  }
  if (!job_.order.malleable) return declare(false, "asked to be rigid");
  declare(true, is_declared_ ? "its ranks have registered" : "");
}

void JobRegistration::declare_rigid(const std::string& reason) {
  if (job_.site.is_emulated) return ending_.break_off(fmt::format("{}; {}", reason, kOnlyFitPrograms));
  declare(false, reason);
}

void JobRegistration::declare(bool is_malleable, const std::string& reason) {
  stop();
  may_register_ = false;
  is_declared_ = true;
  on_started_(is_malleable, reason);
}

void JobRegistration::on_timeout() {
  if (!ending_.is_running() || is_declared_) return;
  const auto now = std::chrono::steady_clock::now();
  if (job_.processes.is_hydra_stopped()) {
    job_.stopped = now;
    job_.note_begin();  // its time limit counts meanwhile
    return limit_timer_.arm_after(job_.registration_limit() / 4);
  }
  if (const auto left = std::chrono::ceil<std::chrono::milliseconds>(job_.stopped + job_.registration_limit() - now);
      left > 0ms)
    return limit_timer_.arm_after(left);
  if (job_.ranks.registered() == 0 && job_.processes.program().empty() && job_.processes.strays().empty())
    return ending_.break_off_unstarted(fmt::format("mpiexec has started no process of the program within {} s: {}",
                                                   static_cast<double>(job_.registration_limit().count()) / 1000,
                                                   kLimitOfProcesses));
  if (job_.ranks.segment() == nullptr)
    declare_rigid(no_vmlib_reason_);
  else if (job_.ranks.have_all_registered())
    declare_started();  // a long MPI_Init
  else if (!watch_.end_if_a_rank_left_early())
    declare_not_yet(describe_unregistered());
}

/// A program that loads for long before MPI_Init, or starts another that calls it, registers later.
void JobRegistration::declare_not_yet(const std::string& reason) {
  declare_rigid(reason);
  may_register_ = true;
}

/// Names the program that was found instead of registered ranks.
std::string JobRegistration::describe_unregistered() const {
  const double seconds = static_cast<double>(job_.registration_limit().count()) / 1000;
  if (const std::size_t registered = job_.ranks.registered(); registered > 0)
    return fmt::format("not yet shrinkable: only {} of {} ranks registered within {} s", registered, job_.ranks.size(),
                       seconds);
  const std::string none = fmt::format("no rank registered within {} s: ", seconds);
  std::string found = "no process of the program was found";
  for (const Process& process : job_.processes.program()) {
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
  return "not yet shrinkable: " + none + found;
}

}  // namespace replay::launcher
