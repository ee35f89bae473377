// The daemon's end of a line to a node agent: orders out, reports in, on the thread of an event loop. It decides
// nothing; it detects a lost line: closed, breaking the protocol, or silent although the agent sends a heartbeat every
// second.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "launcher/agent/frame_line.hpp"
#include "launcher/daemon/link_writer.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::launcher {

class AgentClient {
 public:
  using OnReport = std::function<void(const protocol::AgentReport&)>;
  /// Called once, with the reason; nothing is reported after it.
  using OnLost = std::function<void(const std::string&)>;

  /// 15 missed heartbeats.
  static constexpr std::chrono::milliseconds kSilenceLimit{15'000};

  /// A line over a network. The writer belongs to the caller and outlives this.
  struct Sealed {
    LinkWriter* writer = nullptr;
    protocol::FrameDecoder decoder;  ///< with its state after the frames read so far
  };

  /// `stream` is connected and non-blocking, belongs to the caller and outlives this. Neither function is called from
  /// inside send(), and neither may destroy this. Without `sealed`, frames travel as they are.
  AgentClient(event_base* loop, int stream, OnReport on_report, OnLost on_lost,
              std::chrono::milliseconds silence_limit = kSilenceLimit, std::optional<Sealed> sealed = std::nullopt);

  void send(const protocol::AgentOrder& order);

 private:
  void on_frame(const protocol::Frame& frame);
  void lose(const std::string& reason);

  OnReport on_report_;
  OnLost on_lost_;
  LinkWriter* writer_ = nullptr;  // none: line_ writes
  bool is_lost_ = false;
  FrameLine line_;
};

}  // namespace replay::launcher
