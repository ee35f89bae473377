#include "launcher/agent/job/job_processes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace replay::launcher {

bool is_of_hydra(const ProcessStat& stat) { return stat.name.starts_with("hydra_pmi") || stat.name == "replay-proxy"; }

bool JobProcesses::is_hydra(const Process& process) {
  const auto stat = read_stat(process.pid());
  return stat && is_of_hydra(*stat);
}

void JobProcesses::take(StartedMpiexec started) {
  mpiexec_ = std::move(started);
  join_group(*mpiexec_.process);
}

void JobProcesses::take(StartedProxy started) {
  own_proxy_ = std::move(started);
  join_group(own_proxy_->process);
}

/// The control group identifies every process of this job, whatever it does to its parent or environment.
void JobProcesses::join_group(const Process& process) {
  if (site_.group == nullptr) return;
  auto group = group_ ? std::optional<ControlGroup>{}
                      : site_.group->make_below(fmt::format("job-{}", static_cast<std::int64_t>(job_)));
  ControlGroup* const joined = group_ ? &*group_ : group ? &*group : nullptr;
  if (joined != nullptr && joined->take_with_all_below(process) && group) group_.emplace(std::move(*group));
}

/// All of the job's tree but mpiexec, parents first.
std::vector<pid_t> JobProcesses::below() const {
  std::vector<pid_t> found = mpiexec() != 0 ? descendants_of(mpiexec()) : std::vector<pid_t>{};
  if (own_proxy() == 0) return found;
  found.push_back(own_proxy());
  std::ranges::move(descendants_of(own_proxy()), std::back_inserter(found));
  return found;
}

std::optional<Process> JobProcesses::proxy() const {
  for (const pid_t pid : own_proxy() != 0 ? std::vector<pid_t>{own_proxy()} : below()) {
    const auto stat = read_stat(pid);
    if (!stat || !is_of_hydra(*stat)) continue;
    if (auto process = Process::open(pid, stat->start)) return process;
  }
  return std::nullopt;
}

bool JobProcesses::is_hydra_stopped() const {
  const auto hydra = proxy();
  for (const pid_t pid : {mpiexec(), hydra ? hydra->pid() : 0})
    if (pid != 0 && read_stat(pid).value_or(ProcessStat{}).state == 'T') return true;
  return false;
}

bool JobProcesses::was_program_started() const {
  const auto hydra = proxy();
  if (!program().empty() || (hydra && !children_of(hydra->pid()).empty())) return true;
  const auto stat = read_stat(hydra ? hydra->pid() : mpiexec());
  return has_proxy_exited_ || (stat && stat->faults_of_children > 0);
}

std::vector<Process> JobProcesses::program() const {
  std::vector<Process> found;
  for (const pid_t pid : below()) {
    const auto stat = read_stat(pid);
    if (!stat || stat->state == 'Z' || is_of_hydra(*stat)) continue;
    if (auto process = Process::open(pid, stat->start)) found.push_back(std::move(*process));
  }
  return found;
}

/// What the environment says counts for the proxy's children alone: an inner mpiexec gives its ranks other numbers.
std::vector<std::pair<std::optional<std::size_t>, Process>> JobProcesses::program_by_rank(std::size_t ranks) const {
  std::vector<std::pair<std::optional<std::size_t>, Process>> found;
  const auto hydra = proxy();
  if (!hydra) return found;
  std::map<pid_t, std::optional<std::size_t>> known;  // a proxy is not in it
  for (const pid_t pid : below()) {
    const auto stat = read_stat(pid);
    if (!stat || stat->state == 'Z' || is_of_hydra(*stat)) continue;
    const auto parent = known.find(stat->parent);
    std::optional<std::size_t> rank = stat->parent == hydra->pid() ? rank_of(pid)
                                      : parent != known.end()      ? parent->second
                                                                   : std::nullopt;
    if (rank && stat->parent == hydra->pid()) rank = *rank - first_rank_;  // of another node: a huge number
    if (rank && *rank >= ranks) rank.reset();
    known[pid] = rank;
    if (auto process = Process::open(pid, stat->start)) found.emplace_back(rank, std::move(*process));
  }
  return found;
}

bool JobProcesses::is_of_inner_mpiexec(pid_t pid) const {
  const pid_t root = own_proxy() != 0 ? own_proxy() : mpiexec();
  int proxies = root == own_proxy() ? 1 : 0;
  for (auto stat = read_stat(pid); stat && pid != root; stat = read_stat(pid)) {
    proxies += is_of_hydra(*stat) ? 1 : 0;
    pid = stat->parent;
  }
  return pid == root && proxies > 1;
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
  const std::vector<pid_t> known = below();
  for (const pid_t pid : group_->processes())
    if (pid != mpiexec() && std::ranges::find(known, pid) == known.end())
      add(pid, [this] { return group_->processes(); });
  return found;
}

std::string JobProcesses::stopped_by_others(bool is_suspended) const {
  std::vector<std::string> names;
  std::set<std::size_t> ranks;
  std::vector<pid_t> all = below();
  if (mpiexec() != 0) all.insert(all.begin(), mpiexec());
  for (const pid_t pid : all) {
    const auto stat = read_stat(pid);
    if (!stat || (stat->state != 'T' && stat->state != 't')) continue;
    if (pid == mpiexec())
      names.emplace_back("mpiexec");
    else if (is_of_hydra(*stat))
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

void JobProcesses::ask_to_end() const {
  if (mpiexec() != 0)
    mpiexec_.process->signal(SIGTERM);
  else if (own_proxy() != 0)
    own_proxy_->process.signal(SIGPIPE);  // ignores SIGTERM; by this it kills its ranks and ends
}

std::string JobProcesses::output(std::size_t most) const {
  return mpiexec_.out.is_open() ? read_tail(mpiexec_.out.get(), most) : std::string{};
}

std::string JobProcesses::error_output(std::size_t most) const {
  if (mpiexec_.err.is_open()) return read_tail(mpiexec_.err.get(), most);
  return own_proxy_ ? read_tail(own_proxy_->err.get(), most) : std::string{};
}

void JobProcesses::signal_program(int number) const {
  for (const Process& process : program()) process.signal(number);
}

void JobProcesses::kill_tree() const {
  const std::vector<pid_t> all = below();
  if (mpiexec() != 0) mpiexec_.process->signal(SIGKILL);
  for (const pid_t pid : all)
    if (const auto process = Process::open(pid)) process->signal(SIGKILL);
}

}  // namespace replay::launcher
