#include "launcher/agent/job/job_processes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

namespace replay::launcher {
namespace {

bool is_hydra(const ProcessStat& stat) { return stat.name.starts_with("hydra_pmi"); }

}  // namespace

/// The control group identifies every process of this job, whatever it does to its parent or environment.
void JobProcesses::take(StartedMpiexec started) {
  mpiexec_ = std::move(started);
  if (site_.group == nullptr) return;
  auto group = site_.group->make_below(fmt::format("job-{}", static_cast<std::int64_t>(job_)));
  if (group && group->take_with_all_below(*mpiexec_.process)) group_.emplace(std::move(*group));
}

std::optional<Process> JobProcesses::proxy() const {
  if (mpiexec() == 0) return std::nullopt;
  for (const pid_t pid : descendants_of(mpiexec())) {
    const auto stat = read_stat(pid);
    if (!stat || !is_hydra(*stat)) continue;
    if (auto process = Process::open(pid, stat->start)) return process;
  }
  return std::nullopt;
}

std::vector<Process> JobProcesses::program() const {
  std::vector<Process> found;
  if (mpiexec() == 0) return found;
  for (const pid_t pid : descendants_of(mpiexec())) {
    const auto stat = read_stat(pid);
    if (!stat || stat->state == 'Z' || is_hydra(*stat)) continue;
    if (auto process = Process::open(pid, stat->start)) found.push_back(std::move(*process));
  }
  return found;
}

/// What the environment says counts for the proxy's children alone: an inner mpiexec gives its ranks other numbers.
std::vector<std::pair<std::optional<std::size_t>, Process>> JobProcesses::program_by_rank(std::size_t ranks) const {
  std::vector<std::pair<std::optional<std::size_t>, Process>> found;
  const auto hydra = proxy();
  if (!hydra) return found;
  std::map<pid_t, std::optional<std::size_t>> known;   // a proxy is not in it
  for (const pid_t pid : descendants_of(mpiexec())) {  // parents first
    const auto stat = read_stat(pid);
    if (!stat || stat->state == 'Z' || is_hydra(*stat)) continue;
    const auto parent = known.find(stat->parent);
    std::optional<std::size_t> rank = stat->parent == hydra->pid() ? rank_of(pid)
                                      : parent != known.end()      ? parent->second
                                                                   : std::nullopt;
    if (rank && *rank >= ranks) rank.reset();
    known[pid] = rank;
    if (auto process = Process::open(pid, stat->start)) found.emplace_back(rank, std::move(*process));
  }
  return found;
}

bool JobProcesses::is_of_inner_mpiexec(pid_t pid) const {
  int proxies = 0;
  for (auto stat = read_stat(pid); stat && pid != mpiexec(); stat = read_stat(pid)) {
    proxies += is_hydra(*stat) ? 1 : 0;
    pid = stat->parent;
  }
  return pid == mpiexec() && proxies > 1;
}

/// Each is opened first and then checked to be below us or in the job's group, so that a pid that the kernel has reused
/// names no other process.
std::vector<Process> JobProcesses::strays() const {
  std::vector<Process> found;
  const auto add = [&found](pid_t pid, const auto& ours) {
    auto process = Process::open(pid);
    if (!process || process->is_gone()) return;
    const std::vector<pid_t> now = ours();
    if (std::ranges::find(now, pid) != now.end()) found.push_back(std::move(*process));
  };
  for (const pid_t pid : site_.orphans_of(key_)) add(pid, [] { return descendants_of(::getpid()); });
  if (!group_) return found;
  const std::vector<pid_t> below = mpiexec() != 0 ? descendants_of(mpiexec()) : std::vector<pid_t>{};
  for (const pid_t pid : group_->processes())
    if (pid != mpiexec() && std::ranges::find(below, pid) == below.end())
      add(pid, [this] { return group_->processes(); });
  return found;
}

std::string JobProcesses::stopped_by_others(bool is_suspended) const {
  if (mpiexec() == 0) return "";
  std::vector<std::string> names;
  std::set<std::size_t> ranks;
  std::vector<pid_t> all = descendants_of(mpiexec());
  all.insert(all.begin(), mpiexec());
  for (const pid_t pid : all) {
    const auto stat = read_stat(pid);
    if (!stat || (stat->state != 'T' && stat->state != 't')) continue;
    if (pid == mpiexec())
      names.emplace_back("mpiexec");
    else if (is_hydra(*stat))
      names.emplace_back("Hydra's proxy");
    else if (const auto rank = rank_of(pid); rank && !is_suspended)
      ranks.insert(*rank);
  }
  for (const std::size_t rank : ranks) names.push_back(fmt::format("rank {}", rank));
  if (names.empty()) return "";
  return fmt::format("{} {} stopped by SIGSTOP from outside", fmt::join(names, ", "),
                     names.size() == 1 ? "was" : "were");
}

void JobProcesses::note_shared_files() {
  for (const Process& process : program()) shared_files_.note(process.pid());
}

void JobProcesses::signal_mpiexec(int number) const {
  if (mpiexec() != 0) mpiexec_.process->signal(number);
}

void JobProcesses::signal_program(int number) const {
  for (const Process& process : program()) process.signal(number);
}

void JobProcesses::kill_tree() const {
  if (mpiexec() == 0) return;
  const std::vector<pid_t> below = descendants_of(mpiexec());
  signal_mpiexec(SIGKILL);
  for (const pid_t pid : below)
    if (const auto process = Process::open(pid)) process->signal(SIGKILL);
}

}  // namespace replay::launcher
