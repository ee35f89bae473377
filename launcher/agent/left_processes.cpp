#include "launcher/agent/left_processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <utility>

#include "launcher/agent/agent_directory.hpp"
#include "launcher/mpich/shared_files.hpp"
#include "launcher/os/control_group.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

constexpr int kRounds = 3;  // a process may be on its way to a stop, or be forked, while the first one goes on
constexpr useconds_t kBetweenRounds = 20'000;

constexpr int kLooks = 2000;
constexpr useconds_t kBetweenLooks = 5'000;

// What one look at the machine finds of a dead agent.
struct Look {
  std::vector<Process> left;
  std::vector<pid_t> undecided;  // in the middle of execve() a process shows no environment, and so no mark
};

Look look_for(const std::filesystem::path& agent_directory) {
  Look look;
  const std::string mark = fmt::format("{}={}", REPLAY_VM_ENV_SOCKET, (agent_directory / kAgentSocket).string());
  auto [marked, in_execve] = find_processes_with(mark);
  look.undecided = std::move(in_execve);
  for (const pid_t pid : marked) {
    auto process = Process::open(pid);
    if (!process) continue;
    if (environment_has(pid, mark))
      look.left.push_back(std::move(*process));
    else
      look.undecided.push_back(pid);
  }
  if (const auto group = ControlGroup::find(agent_directory.filename().string()))
    for (const pid_t pid : group->processes())
      if (auto process = Process::open(pid); process && group->has(pid)) look.left.push_back(std::move(*process));
  return look;
}

/// This process, its parent and so on.
std::set<pid_t> own_line() {
  std::set<pid_t> line;
  for (pid_t pid = ::getpid(); pid > 0 && line.insert(pid).second;) pid = read_stat(pid).value_or(ProcessStat{}).parent;
  return line;
}

[[noreturn]] void be_guard(int alive, const std::filesystem::path& directory) {
  ::prctl(PR_SET_NAME, "replay-guard");
  for (const int number : {SIGINT, SIGHUP, SIGTERM, SIGPIPE}) ::signal(number, SIG_IGN);
  constexpr int kKept = 3;
  if (alive != kKept && ::dup2(alive, kKept) != kKept) ::_exit(1);
  ::close_range(kKept + 1, ~0U, 0);
  char byte = 0;
  while (::read(kKept, &byte, 1) < 0 && errno == EINTR) {
  }
  for (int round = 0; round < kRounds; ++round) {
    for (const Process& process : processes_left_by(directory)) process.signal(SIGCONT);
    ::usleep(kBetweenRounds);
  }
  ::_exit(0);
}

}  // namespace

std::vector<Process> processes_left_by(const std::filesystem::path& agent_directory) {
  return look_for(agent_directory).left;
}

bool end_processes_left_by(const std::filesystem::path& agent_directory,
                           const std::function<std::vector<Process>()>& others) {
  const std::set<pid_t> spared = own_line();
  SharedFiles files;
  bool is_any_left = true;
  for (int looks = 0; looks < kLooks; ++looks) {
    auto [left, undecided] = look_for(agent_directory);
    if (others) std::ranges::move(others(), std::back_inserter(left));
    std::erase_if(left, [&spared](const Process& one) { return one.is_gone() || spared.contains(one.pid()); });
    is_any_left = !left.empty();
    if (!is_any_left && undecided.empty()) break;
    for (const Process& process : left) files.note(process.pid());
    for (const Process& process : left) process.signal(SIGKILL);
    ::usleep(kBetweenLooks);
  }
  if (!is_any_left) files.remove();
  return !is_any_left;
}

void Guard::begin() {
  if (pid_ != 0) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const UniqueFd theirs{ends[0]};
  UniqueFd ours{ends[1]};
  const pid_t pid = ::fork();
  if (pid < 0) return;
  if (pid == 0) {
    ours.reset();
    be_guard(theirs.get(), directory_);
  }
  pid_ = pid;
  alive_ = std::move(ours);
}

void Guard::on_exit(pid_t pid) {
  if (pid != pid_) return;
  pid_ = 0;
  alive_.reset();
}

}  // namespace replay::launcher
