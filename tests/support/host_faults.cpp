#include "tests/support/host_faults.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <system_error>

#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/shell.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kVictimWithin = 3s;

double seconds(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

milliseconds drawn(Random& random, milliseconds least, milliseconds most) {
  return milliseconds{random.between(least.count(), most.count())};
}

HostFault drawn_fault(Random& random, int hosts, int jobs) {
  HostFault fault{HostFault::Kind::kKill,
                  fmt::format("node{}", random.between(1, hosts)),
                  "",
                  static_cast<int>(random.between(1, jobs)),
                  drawn(random, 0ms, 500ms),
                  0ms,
                  random.below(1'000'000)};
  const auto process = [&random] { return random.one_of<const char*>({"agent", "door", "mpiexec", "proxy", "rank"}); };
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2: fault.what = process(); break;
    case 3:
    case 4:
      fault.kind = HostFault::Kind::kStop;
      fault.what = process();
      fault.lasts = drawn(random, 50ms, 9s);
      if (!random.one_in(8)) break;
      fault.host.clear();
      fault.what = "daemon";
      fault.lasts = std::min(fault.lasts, 5000ms);
      break;
    case 5:
    case 6:
      fault.kind = HostFault::Kind::kLink;
      fault.what = random.one_of<const char*>({"down", "deaf", "mute", "slow"});
      fault.lasts = drawn(random, 100ms, 8s);
      break;
    default: fault.kind = HostFault::Kind::kCrash; fault.lasts = drawn(random, 200ms, 6s);
  }
  return fault;
}

bool keeps_watch(const HostFault& fault) {
  return fault.kind == HostFault::Kind::kStop && (fault.what == "agent" || fault.what == "door");
}

std::string what_it_is(pid_t pid, pid_t daemon) {
  if (pid == daemon) return "daemon";
  const std::string name = read_stat(pid).value_or(ProcessStat{}).name;
  if (name == "replay") return "door";
  if (name == "replay-agent") return "agent";
  if (name.starts_with("mpiexec")) return "mpiexec";
  if (name.starts_with("hydra_pmi")) return "proxy";
  if (name == "phases") return "rank";
  return "";
}

std::string process_space_of(pid_t pid) {
  std::error_code error;
  return fs::read_symlink(fmt::format("/proc/{}/ns/pid", pid), error).string();
}

/// The first process of the host, or this one.
pid_t first_process_of(const std::string& host) {
  if (host.empty()) return ::getpid();
  const std::string names = text_of("/etc/hosts");
  std::smatch found;
  return std::regex_search(names, found, std::regex{" " + host + " # ([0-9]+)\n"}) ? std::stoi(found[1]) : 0;
}

/// With nsenter, which has started a host's first process of the run, and stops when that does.
std::vector<Process> with_its_nsenter(Process process) {
  std::vector<Process> all;
  const pid_t parent = read_stat(process.pid()).value_or(ProcessStat{}).parent;
  const bool has_nsenter = read_stat(parent).value_or(ProcessStat{}).name == "nsenter";
  auto nsenter = has_nsenter ? Process::open(parent) : std::nullopt;
  all.push_back(std::move(process));
  if (nsenter) all.push_back(std::move(*nsenter));
  return all;
}

}  // namespace

std::string HostFault::to_text() const {
  const char* const doing = kind == Kind::kKill   ? "kill "
                            : kind == Kind::kStop ? "stop "
                            : kind == Kind::kLink ? "link "
                                                  : "crash";
  const std::string until =
      lasts == 0ms ? kind == Kind::kKill ? "" : " for ever" : fmt::format(" for {:.3f} s", seconds(lasts));
  return fmt::format("after {} launches and {:.3f} s: {}{}{}{}", after_launches, seconds(delay),
                     host.empty() ? "" : host + ": ", doing, what, until);
}

std::vector<HostFault> draw_faults(Random& random, int hosts, int jobs) {
  std::vector<HostFault> faults;
  for (auto left = 5 + random.below(6); left > 0; --left) faults.push_back(drawn_fault(random, hosts, jobs));
  std::ranges::stable_sort(faults, {}, [](const HostFault& one) { return std::pair{one.after_launches, one.delay}; });
  for (const std::string host : {"node1", "node2", "node3", "node4"}) {
    const auto first =
        std::ranges::find_if(faults, [&](const HostFault& f) { return f.host == host && keeps_watch(f); });
    if (first == faults.end()) continue;
    for (auto other = first + 1; other != faults.end(); ++other)
      if (other->host == host && keeps_watch(*other)) other->what = first->what;
  }
  if (random.one_in(3))
    if (const auto crash = std::ranges::find(faults, HostFault::Kind::kCrash, &HostFault::kind); crash != faults.end())
      crash->lasts = 0ms;
  if (random.one_in(6)) {
    faults.back().kind = HostFault::Kind::kKill;
    faults.back().host.clear();
    faults.back().what = "daemon";
    faults.back().lasts = 0ms;
  }
  return faults;
}

HostFaults::HostFaults(std::vector<HostFault> faults, std::string mark, pid_t daemon, fs::path host_cluster,
                       std::function<void(const std::string&)> on_boot)
    : faults_(std::move(faults)),
      mark_(std::move(mark)),
      daemon_(daemon),
      host_cluster_(std::move(host_cluster)),
      on_boot_(std::move(on_boot)) {}

bool HostFaults::is_down(const std::string& host) const { return std::ranges::find(down_, host) != down_.end(); }

std::vector<pid_t> HostFaults::processes_on(const std::string& host) const {
  const std::string there = process_space_of(first_process_of(host));
  std::vector<pid_t> found = processes_with(mark_);
  std::erase_if(found, [&](pid_t pid) { return there.empty() || process_space_of(pid) != there; });
  return found;
}

std::optional<Process> HostFaults::victim_of(const HostFault& fault) const {
  std::vector<pid_t> all = processes_on(fault.host);
  std::erase_if(all, [&](pid_t pid) { return what_it_is(pid, daemon_) != fault.what; });
  std::ranges::sort(all);
  if (all.empty()) return std::nullopt;
  return Process::open(all[fault.lot % all.size()]);
}

void HostFaults::call(const std::string& words) const {
  const ShellResult result = shell(host_cluster_.string() + " " + words);
  EXPECT_EQ(result.status, 0) << "host-cluster " << words << ": " << result.err;
}

/// False: there is no such process.
bool HostFaults::strike(const HostFault& fault) {
  std::optional<Process> victim;
  std::vector<Process> stopped;
  switch (fault.kind) {
    case HostFault::Kind::kKill:
    case HostFault::Kind::kStop:
      victim = victim_of(fault);
      if (!victim) return false;
      victim->signal(fault.kind == HostFault::Kind::kKill ? SIGKILL : SIGSTOP);
      if (fault.kind == HostFault::Kind::kStop) stopped = with_its_nsenter(std::move(*victim));
      has_killed_daemon_ = has_killed_daemon_ || (fault.kind == HostFault::Kind::kKill && fault.what == "daemon");
      break;
    case HostFault::Kind::kLink:
      if (is_down(fault.host)) return false;
      call(fmt::format("link {} {}", fault.host, fault.what));
      std::erase_if(lasting_, [&](const Mend& other) {
        return other.fault.kind == HostFault::Kind::kLink && other.fault.host == fault.host;
      });
      break;
    case HostFault::Kind::kCrash:
      if (is_down(fault.host)) return false;
      call("crash " + fault.host);
      std::erase_if(lasting_, [&](const Mend& other) {
        if (other.fault.host != fault.host) return false;
        for (const Process& process : other.stopped) process.signal(SIGCONT);  // a stopped nsenter would reap nothing
        return true;
      });
      down_.push_back(fault.host);
      break;
  }
  if (fault.lasts > 0ms) lasting_.push_back({Clock::now() + fault.lasts, fault, std::move(stopped)});
  return true;
}

void HostFaults::mend(const Mend& one) {
  for (const Process& process : one.stopped) process.signal(SIGCONT);
  if (one.fault.kind == HostFault::Kind::kLink) call(fmt::format("link {} up", one.fault.host));
  if (one.fault.kind != HostFault::Kind::kCrash) return;
  on_boot_(one.fault.host);
  call("boot " + one.fault.host);
  std::erase(down_, one.fault.host);
}

void HostFaults::turn(int launches) {
  const auto now = Clock::now();
  for (bool is_any = true; is_any;) {  // mend() may take time
    const auto due = std::ranges::find_if(lasting_, [&](const Mend& one) { return one.at <= now; });
    is_any = due != lasting_.end();
    if (!is_any) break;
    const Mend one = std::move(*due);
    lasting_.erase(due);
    mend(one);
  }
  if (faults_.empty() || launches < faults_.front().after_launches) return;
  const HostFault& next = faults_.front();
  if (!due_) due_ = now + next.delay;
  if (now < *due_) return;
  const bool has_struck = strike(next);
  if (!has_struck && now < *due_ + kVictimWithin && next.kind != HostFault::Kind::kLink &&
      next.kind != HostFault::Kind::kCrash)
    return;
  if (has_struck) ++struck_;
  thrown_.push_back(fmt::format("{:7.3f} s: {}{}", std::chrono::duration<double>(now - begin_).count(), next.to_text(),
                                has_struck ? "" : ": met nothing"));
  faults_.erase(faults_.begin());
  due_.reset();
}

void HostFaults::end() {
  for (const Mend& one : std::exchange(lasting_, {}))
    if (one.fault.kind != HostFault::Kind::kCrash) mend(one);
  for (const pid_t pid : processes_with(mark_))  // an nsenter may have stopped since
    if (is_stopped(pid)) send_signal(pid, SIGCONT);
}

}  // namespace replay::test
