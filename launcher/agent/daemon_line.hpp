// The agent's end of a session with its daemon. A session over a network outlives its connections: while there is none,
// orders and reports wait, and the jobs go on until the lease is over. The lease counts from the last heartbeat that the
// daemon says it has heard, as a link may be cut in one direction only. Without a lease the session ends with its connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launcher/agent/daemon_stream.hpp"
#include "launcher/agent/frame_line.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/session.hpp"

namespace replay::launcher {

class DaemonLine {
 public:
  /// Called by the loop.
  struct Callbacks {
    std::function<void(const protocol::AgentOrder&)> on_order;
    std::function<protocol::Hello()> hello;
    /// Once, when the session is over: no connection, and no lease any more. `reason` is empty for a daemon that has closed
    /// a connection without lease. stop() or part() follows.
    std::function<void(const std::string& reason)> on_end;
  };

  /// `silence_limit`: after this long without a message a connection counts as cut; 0: no limit. `lease`: how long the
  /// session outlives its last sign of life; 0: not at all.
  DaemonLine(event_base* loop, std::chrono::milliseconds silence_limit, std::chrono::milliseconds lease,
             Callbacks callbacks);

  /// The first connection, or one in place of the last. Says hello, then what the daemon has not got.
  void connect(DaemonStream connection);
  void send(const protocol::AgentReport& report);
  void send_heartbeat();
  /// Ends the session for this reason. The daemon is told, if it still can be.
  void part(const std::string& reason);
  /// From here on nothing is called, read or written.
  void stop();

 private:
  void on_frame(const protocol::Frame& frame);
  void on_cut(const std::string& reason);
  void write(std::string_view frame);

  event_base* loop_;
  std::chrono::milliseconds silence_limit_;
  std::chrono::milliseconds lease_;
  Callbacks callbacks_;
  protocol::Outbox outbox_;
  protocol::Inbox inbox_;
  DaemonStream connection_;
  std::optional<protocol::FrameSealer> sealer_;
  std::unique_ptr<FrameLine> line_;
  std::uint64_t heartbeats_ = 0;
  std::deque<std::chrono::steady_clock::time_point>
      unheard_;  // when the last ones were sent, of a session with a lease
  std::chrono::steady_clock::time_point
      heard_;  // when the last one that the daemon has heard was sent, or the session's begin
  bool is_cut_ = true;
  bool is_over_ = false;
  LoopEvent lease_event_;
};

}  // namespace replay::launcher
