#include "launcher/mpich/hydra_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/posix.hpp>
#include <cerrno>
#include <climits>
#include <system_error>

#include "launcher/os/descriptor_limit.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/process/reset_signals.hpp"
#include "scheduler/base/process/send_signal.hpp"

namespace replay::launcher {
namespace {

namespace bp = boost::process;

constexpr std::size_t kCpusOfAMask = 8192;  // that Linux can be built for
constexpr std::size_t kCpusOfAWord = sizeof(unsigned long) * CHAR_BIT;
using CpuMask = std::array<unsigned long, kCpusOfAMask / kCpusOfAWord>;

CpuMask mask_of(const std::vector<int>& cores) {
  CpuMask mask{};
  for (const int core : cores) {
    const auto cpu = static_cast<std::size_t>(core);
    INVARIANT(core >= 0 && cpu < kCpusOfAMask, "core {}", core);
    mask[cpu / kCpusOfAWord] |= 1UL << (cpu % kCpusOfAWord);
  }
  return mask;
}

bool bind_to(const CpuMask& mask) {
  const void* words = mask.data();
  return ::sched_setaffinity(0, sizeof mask, static_cast<const cpu_set_t*>(words)) == 0;
}

// What has kept a child from becoming the program. `what` is in the child's copy of our memory, and in ours.
struct Refusal {
  int error;
  const char* what;
};

[[noreturn]] void cannot_become(const char* what, int told) {
  const Refusal refusal{errno, what};
  (void)!::write(told, &refusal, sizeof refusal);
  ::_exit(127);
}

/// In the child, between fork and exec. Resets the agent's signal handling, descriptor limit and open descriptors,
/// which Hydra and the ranks must not inherit.
void become(const HydraStart& start, const CpuMask& mask, pid_t agent, int told) {
  if (start.network == JobNetwork::kOwn && !enter_own_network()) cannot_become("no network of the job's own", told);
  if (!start.directory.empty() && ::chdir(start.directory.c_str()) != 0) cannot_become(start.directory.c_str(), told);
  if (!start.cores.empty() && !bind_to(mask)) cannot_become("cannot be bound to the job's cores", told);
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // those of libraries too, such as Boost's /dev/null
  if (start.kept >= 0) ::fcntl(start.kept, F_SETFD, 0);
  restore_descriptor_limit(start.descriptors);
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, start.at_our_death);
  if (::getppid() != agent) ::_exit(127);  // the agent died before the prctl
  reset_signals();
}

}  // namespace

Process start_hydra(const HydraStart& start) {
  bp::environment environment;
  for (const auto& [name, value] : start.environment) environment[name] = value;
  const CpuMask mask = mask_of(start.cores);
  const pid_t agent = ::getpid();
  const std::string program = start.program.string();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot start {}", program));
  const UniqueFd told{ends[0]};
  UniqueFd tells{ends[1]};
  bool has_forked = true;
  std::error_code error;  // without it Boost keeps a failed fork to itself: a child with the number -1
  bp::child child{bp::exe(program),
                  bp::args(start.arguments),
                  environment,
                  bp::std_in < bp::null,
                  bp::posix::fd.bind(STDOUT_FILENO, start.out),
                  bp::posix::fd.bind(STDERR_FILENO, start.err),
                  bp::extend::on_exec_setup = [&](auto&) { become(start, mask, agent, tells.get()); },
                  bp::extend::on_fork_error = [&has_forked](auto&, const std::error_code&) { has_forked = false; },
                  error};
  if (error)
    throw std::system_error(error, has_forked ? fmt::format("cannot execute {}", program)
                                              : fmt::format("cannot fork a process for {}", program));
  const pid_t pid = child.id();
  child.detach();
  tells.reset();
  // Where Boost gets no pipe of its own (the limit of open files), it reports nothing.
  if (pid <= 0)
    throw std::system_error(EMFILE, std::generic_category(), fmt::format("cannot fork a process for {}", program));
  if (Refusal refusal{}; ::read(told.get(), &refusal, sizeof refusal) == ssize_t{sizeof refusal}) {
    ::waitpid(pid, nullptr, 0);
    throw std::system_error(refusal.error, std::generic_category(), refusal.what);
  }
  auto process = Process::open(pid);
  if (!process) {
    const int why = errno;
    send_signal(pid, SIGKILL);  // our child, not reaped
    throw std::system_error(why, std::generic_category(), fmt::format("cannot open the process of {}", program));
  }
  return std::move(*process);
}

}  // namespace replay::launcher
