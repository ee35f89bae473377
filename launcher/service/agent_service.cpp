#include "launcher/service/agent_service.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "launcher/daemon/agent_session.hpp"
#include "launcher/service/agent_door.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/say_on_stderr.hpp"

namespace replay::launcher {
namespace {

using protocol::LinkAnswer;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 500ms;

/// The signal that ended this child, which is not reaped yet; 0: none.
int signal_that_ended(pid_t pid) {
  siginfo_t how{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid != pid) return 0;
  return how.si_code == CLD_EXITED ? 0 : how.si_status;
}

void say(const std::string& line) { say_on_stderr("replay agent: " + line); }

class AgentService {
 public:
  explicit AgentService(const AgentServiceOptions& options)
      : options_(options),
        loop_(event_base_new()),
        stop_event_(loop_.get(), stop_descriptor(), EV_READ, [this] { on_stop(); }),
        look_event_(loop_.get(), -1, EV_PERSIST, [this] { look_whether_stopped(); }),
        door_(loop_.get(), listen_on(options.listen), options.key,
              {[this](const protocol::LinkSession& session) { return answer(session); },
               [this](DaemonStream stream, const protocol::LinkSession& session, const std::string& daemon) {
                 serve(std::move(stream), session, daemon);
               },
               [this](const std::string& peer, const std::string& reason) { note_refusal(peer, reason); }}) {
    stop_event_.arm();
    if (options.starter < 0) return;
    starter_event_.emplace(loop_.get(), options.starter, EV_READ | EV_PERSIST, [this] { hear_starter(); });
    starter_event_->arm();
    alone_event_.emplace(loop_.get(), -1, 0, [this] { on_alone(); });
    alone_event_->arm_after(options.first_daemon_within);
  }

  int run() {
    options_.on_listening(door_.address());
    event_base_dispatch(loop_.get());
    agent_.reset();
    if (door_.refused() > 0) say(fmt::format("{} connections were refused", door_.refused()));
    return status_;
  }

 private:
  LinkAnswer answer(const protocol::LinkSession& session) const {
    const bool is_for_agent = session.purpose == protocol::LinkPurpose::kJobLine || session.id == session_.id;
    if (agent_) return is_for_agent ? LinkAnswer::kResumed : LinkAnswer::kBusy;
    if (session.purpose != protocol::LinkPurpose::kNewSession) return LinkAnswer::kBusy;  // its agent is gone
    return options_.stays ? LinkAnswer::kServedStays : LinkAnswer::kServed;
  }

  AgentOptions agent_options() const {
    AgentOptions agent = options_.agent;
    agent.dial = [key = options_.key](const std::string& address, const protocol::LinkSession& line,
                                      Clock::time_point until, int cancel) {
      return dial_agent({fmt::format("agent {}", address), LinkAddress::parse(address), key, line}, until, cancel);
    };
    return agent;
  }

  void serve(DaemonStream stream, const protocol::LinkSession& session, const std::string& daemon) {
    if (agent_) {
      if (!agent_->pass_on(stream, session)) say("the agent does not take a further connection");
      return;
    }
    session_ = session;
    say(fmt::format("serving the daemon at {}", daemon));
    alone_event_.reset();
    daemon_ = daemon;
    try {
      agent_.emplace(start_agent(agent_options(), std::move(stream), std::chrono::milliseconds{session.lease_ms}));
    } catch (const std::exception& error) {  // the daemon sees its connection end
      say(error.what());
      status_ = 1;
      return leave_unless_staying();
    }
    agent_event_ = std::make_unique<LoopEvent>(loop_.get(), agent_->pidfd(), EV_READ, [this] { on_agent_gone(); });
    agent_event_->arm();
    stopped_since_.reset();
    look_event_.arm_after(kBetweenLooks);
  }

  /// A stopped agent answers no daemon and reports nothing: its daemon gives it up after the same time, and the next
  /// one would find it busy for ever.
  void look_whether_stopped() {
    const auto now = Clock::now();
    if (!is_stopped(agent_->pid())) return stopped_since_.reset();
    if (!stopped_since_) stopped_since_ = now;
    if (now - *stopped_since_ < stopped_limit()) return;
    say(fmt::format("the agent has been stopped (SIGSTOP) for {:g} s; ending it and its jobs",
                    std::chrono::duration<double>(stopped_limit()).count()));
    status_ = 1;
    end_agent();
  }

  /// Its jobs, which run on, must have ended when the daemon takes them for lost: 2 s after the lease, less the second since
  /// the last heartbeat, one look, and what their end takes.
  std::chrono::milliseconds stopped_limit() const {
    auto limit = AgentSession::kSilenceLimit;
    if (const auto silence = options_.agent.silence_limit; silence > 0ms) limit = std::min(limit, silence);
    if (const std::chrono::milliseconds lease{session_.lease_ms}; lease > 0ms)
      limit = std::min(limit, std::max(lease - 1s, lease / 2));
    return limit;
  }

  void on_agent_gone() {
    if (const int signal = signal_that_ended(agent_->pid()); signal != 0) {
      say(fmt::format("the agent was killed (signal {}); ending what it left", signal));
      status_ = 1;
    }
    end_agent();
  }

  /// Ends the agent if it still runs, and cleans up what is left.
  void end_agent() {
    agent_event_.reset();
    look_event_.disarm();
    agent_.reset();
    say(fmt::format("the daemon at {} is gone, and so are its jobs", daemon_));
    leave_unless_staying();
  }

  void leave_unless_staying() {
    if (!options_.stays) event_base_loopbreak(loop_.get());
  }

  /// Nothing that the starter may still write has a meaning.
  void hear_starter() {
    char unread[512];
    const ssize_t got = ::read(options_.starter, unread, sizeof unread);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    say("the program that started this agent has closed its standard input");
    starter_event_->disarm();
    if (agent_ && session_.lease_ms > 0)
      options_.stays = false;  // the daemon may be there still
    else
      event_base_loopbreak(loop_.get());
  }

  void on_alone() {
    say(fmt::format("no daemon has come within {:g} s",
                    std::chrono::duration<double>(options_.first_daemon_within).count()));
    status_ = 1;
    event_base_loopbreak(loop_.get());
  }

  void on_stop() {
    if (stop_signal() == SIGINT) status_ = exit_status_after_stop();  // the others are an agent's ordinary end
    event_base_loopbreak(loop_.get());
  }

  /// At most one line per second, so that refused connections cannot fill a disk.
  void note_refusal(const std::string& peer, const std::string& reason) {
    const auto now = Clock::now();
    if (last_note_ && now - *last_note_ < 1s) return;
    last_note_ = now;
    say(fmt::format("refused {}: {} ({} refused so far)", peer, reason, door_.refused()));
  }

  AgentServiceOptions options_;
  EventBase loop_;
  HeedStops heeding_{HeedStops::Ignored::kStaysIgnored};
  LoopEvent stop_event_;
  LoopEvent look_event_;  // armed while there is an agent
  std::optional<LoopEvent> starter_event_;
  std::optional<LoopEvent> alone_event_;  // until the first daemon comes
  std::string daemon_;
  protocol::LinkSession session_;
  std::optional<AgentHandle> agent_;  // none: no daemon is served
  std::unique_ptr<LoopEvent> agent_event_;
  std::optional<Clock::time_point> stopped_since_;
  std::optional<Clock::time_point> last_note_;
  int status_ = 0;
  AgentDoor door_;
};

}  // namespace

int serve_daemons(const AgentServiceOptions& options) { return AgentService{options}.run(); }

}  // namespace replay::launcher
