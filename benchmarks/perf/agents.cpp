// A measurement of a daemon with many agents: sessions alone, over sealed lines on the loopback, without nodes behind them. A
// child process has the agents' ends, and sends reports at a given rate; the daemon's process has one session for each, on one
// core and one loop. Its CPU time counts, pings and acknowledgements of both sides included.

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher/agent/daemon_line.hpp"
#include "launcher/daemon/agent_session.hpp"
#include "launcher/service/agent_door.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/send_signal.hpp"

namespace replay::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLease = 30s;
constexpr protocol::LinkKey kKey{7};

struct Given {
  std::size_t agents = 1000;
  double rate = 10'000;
  int seconds = 10;
};

/// The agents' ends, in a process of their own.
class Agents {
 public:
  Agents(const Given& given, UniqueFd listener) : given_(given) {
    door_.emplace(loop_.get(), std::move(listener), kKey,
                  launcher::AgentDoor::Callbacks{
                      [](const protocol::LinkSession&) { return protocol::LinkAnswer::kServedStays; },
                      [this](launcher::DaemonStream stream, const protocol::LinkSession& session, const std::string&) {
                        take(std::move(stream), session);
                      },
                      [](const std::string&, const std::string& why) { fmt::print(stderr, "refused: {}\n", why); }});
  }
  void run() { event_base_dispatch(loop_.get()); }

 private:
  void take(launcher::DaemonStream stream, const protocol::LinkSession& session) {
    lines_.push_back(std::make_unique<launcher::DaemonLine>(
        loop_.get(), 0ms, milliseconds{session.lease_ms},
        launcher::DaemonLine::Callbacks{[](const protocol::AgentOrder&) {},
                                        [] { return protocol::Hello{.pid = 1, .cores = {0}}; },
                                        [this](const std::string&) { event_base_loopbreak(loop_.get()); }}));
    lines_.back()->connect(std::move(stream));
    if (lines_.size() < given_.agents) return;
    begin_ = last_beat_ = Clock::now();
    tick_.arm_after(1ms);
  }

  /// What is due since the last tick; a heartbeat of each agent once a second.
  void tick() {
    const auto now = Clock::now();
    const double due = std::chrono::duration<double>(now - begin_).count() * given_.rate;
    for (; static_cast<double>(sent_) < due; ++sent_)
      lines_[sent_ % lines_.size()]->send(protocol::JobMeasured{JobId{1}, 0.5});
    if (now - last_beat_ >= 1s) {
      last_beat_ += 1s;
      for (const auto& line : lines_) line->send_heartbeat();
    }
    tick_.arm_after(1ms);
  }

  Given given_;
  EventBase loop_ = precise_loop();
  std::optional<launcher::AgentDoor> door_;
  std::vector<std::unique_ptr<launcher::DaemonLine>> lines_;
  Clock::time_point begin_, last_beat_;
  std::uint64_t sent_ = 0;
  LoopEvent tick_{loop_.get(), -1, 0, [this] { tick(); }};
};

/// A child process that does this, until it is killed by the destructor.
class Child {
 public:
  explicit Child(const std::function<void()>& does) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    does();
    ::_exit(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    send_signal(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// All threads of this process, now and later, on the first core that it may use.
void stay_on_one_core() {
  cpu_set_t all;
  CPU_ZERO(&all);
  ::sched_getaffinity(0, sizeof all, &all);
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &all)) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      ::sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

class Daemon {
 public:
  Daemon(const Given& given, const launcher::LinkAddress& address) : given_(given) {
    for (std::size_t agent = 0; agent < given.agents; ++agent) {
      launcher::AgentLink& link = links_.emplace_back(launcher::connect_agent(address, kKey, kLease));
      sessions_.emplace_back(
          loop_.get(), link, [this](const protocol::AgentReport&) { ++reports_; },
          [](const std::string& why) { throw std::runtime_error("an agent is lost: " + why); },
          [](launcher::AgentSession::LineState, const std::string& what) { throw std::runtime_error(what); });
    }
  }

  void measure() {
    run_for(2s);  // the lines are warm
    const std::uint64_t before = reports_;
    const double cpu_before = cpu_seconds();
    const auto begin = Clock::now();
    run_for(std::chrono::seconds{given_.seconds});
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const double cpu = cpu_seconds() - cpu_before;
    const auto handled = static_cast<double>(reports_ - before);
    fmt::print(
        "{} agents, {:.0f} reports/s and 1 heartbeat/s of each sent: {:.0f}/s handled, {:.1f} % of a core, {:.1f} us "
        "each\n",
        given_.agents, given_.rate, handled / seconds, cpu / seconds * 100, cpu / handled * 1e6);
  }

 private:
  void run_for(std::chrono::microseconds time) {
    LoopEvent end{loop_.get(), -1, 0, [this] { event_base_loopbreak(loop_.get()); }};
    end.arm_after(time);
    event_base_dispatch(loop_.get());
  }

  Given given_;
  EventBase loop_ = precise_loop();
  std::list<launcher::AgentLink> links_;
  std::list<launcher::AgentSession> sessions_;
  std::uint64_t reports_ = 0;
};

/// A socket and a timer for each.
void allow_files(std::size_t agents) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t wanted = 64 + 4 * agents;
  if (files.rlim_cur >= wanted) return;
  if (files.rlim_max < wanted)
    throw std::runtime_error(fmt::format("{} agents need {} open files, and the hard limit (ulimit -Hn) is {}", agents,
                                         wanted, files.rlim_max));
  files.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

void measure(const Given& given) {
  allow_files(given.agents);
  ::signal(SIGPIPE, SIG_IGN);
  UniqueFd listener = launcher::listen_on({"127.0.0.1", 0});
  const launcher::LinkAddress address = launcher::own_address(listener.get());
  std::optional<Daemon> daemon;  // is destroyed behind the agents, which complain of cut lines
  const Child agents{[&] { Agents{given, std::move(listener)}.run(); }};
  listener.reset();
  stay_on_one_core();
  daemon.emplace(given, address);
  daemon->measure();
}

}  // namespace
}  // namespace replay::bench

int main(int argc, char** argv) {
  CLI::App app{"A daemon with many agents, without nodes behind them."};
  replay::bench::Given given;
  app.add_option("--agents", given.agents, "how many (default 1000)")->check(CLI::Range(1, 100'000));
  app.add_option("--rate", given.rate, "reports that they send in a second, all together (default 10000)");
  app.add_option("--seconds", given.seconds, "how long (default 10)")->check(CLI::Range(1, 3600));
  CLI11_PARSE(app, argc, argv);
  try {
    replay::bench::measure(given);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
