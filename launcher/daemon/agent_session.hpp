// The daemon's end of a session with a node agent: orders out, reports in, on the thread of an event loop. It decides
// nothing; it detects a cut line: closed, breaking the protocol, or silent although the agent sends a heartbeat every second.
// A line over a network is mended for as long as the session's lease permits, and then nothing is lost; else the agent is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launcher/agent/frame_line.hpp"
#include "launcher/daemon/agent_link.hpp"
#include "scheduler/base/loop/blocking_call.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/session.hpp"

namespace replay::launcher {

class AgentSession {
 public:
  using OnReport = std::function<void(const protocol::AgentReport&)>;
  /// Called once, with the reason; nothing is reported after it.
  using OnLost = std::function<void(const std::string&)>;
  /// The line was cut, and is to be mended, or it is mended; with a text for the user.
  enum class LineState : std::uint8_t { kCut, kMended };
  using OnLine = std::function<void(LineState, const std::string&)>;

  /// 15 missed heartbeats.
  static constexpr std::chrono::milliseconds kSilenceLimit{15'000};

  /// A forked agent's: `stream` is connected and non-blocking, belongs to the caller and outlives this. No function is called
  /// from inside send(), and none may destroy this.
  AgentSession(event_base* loop, int stream, OnReport on_report, OnLost on_lost,
               std::chrono::milliseconds silence_limit = kSilenceLimit);
  /// One over a network: `link` belongs to the caller and outlives this; a mended line replaces it. One that is not
  /// connected is the session of a daemon that has ended: play(), then go_on(). `holds`: no order goes out, and no report is
  /// acknowledged, before release().
  AgentSession(event_base* loop, AgentLink& link, OnReport on_report, OnLost on_lost, OnLine on_line,
               bool holds = false);

  void send(const protocol::AgentOrder& order);
  void release();
  /// The next report with a number, which that daemon has got.
  void play(const protocol::AgentReport& report);
  /// Connects again. The agent is lost if it does not work within the lease.
  void go_on();
  /// The agent is lost; nothing is called from now on.
  void give_up();
  /// Since the last frame, before a cut too.
  [[nodiscard]] std::chrono::duration<double> silent_for() const { return std::chrono::steady_clock::now() - heard_; }

 private:
  void open_line(int stream, protocol::FrameDecoder decoder);
  void on_frame(const protocol::Frame& frame);
  void on_cut(const std::string& reason);
  void begin_to_mend();
  void mend();
  void on_mended(BlockingCall<AgentLink>::Result result);
  void lose(const std::string& reason);

  event_base* loop_;
  OnReport on_report_;
  OnLost on_lost_;
  OnLine on_line_;
  std::chrono::milliseconds silence_limit_;
  AgentLink* link_ = nullptr;  // none: a forked agent's, to which line_ writes
  bool holds_ = false;
  bool goes_on_ = false;  // with the session of a daemon that has ended, and has not connected yet
  protocol::Outbox outbox_;
  protocol::Inbox inbox_;
  std::uint64_t released_ = 0;                   // the number of the last order that may go out
  std::uint64_t acknowledged_ = 0;               // of the last report that the agent need not keep
  std::chrono::steady_clock::time_point heard_;  // the last frame
  std::uint64_t heartbeats_ = 0;                 // the count of the last one
  std::string cut_reason_;
  bool is_lost_ = false;
  std::unique_ptr<FrameLine> line_;
  std::unique_ptr<BlockingCall<AgentLink>> mender_;  // none: the line is not cut
  LoopEvent cut_event_;
};

}  // namespace replay::launcher
