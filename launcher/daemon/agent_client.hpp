// The daemon's end of a line to a node agent: orders out, reports in, on the thread of an event loop. It decides
// nothing; it detects a lost line: closed, breaking the protocol, or silent although the agent sends a heartbeat every
// second.
#pragma once

#include <event2/bufferevent.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "launcher/daemon/link_writer.hpp"
#include "launcher/loop/loop_event.hpp"
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
  void on_readable();
  void on_frame(const protocol::Frame& frame);
  void on_silence();
  void lose(const std::string& reason);

  OnReport on_report_;
  OnLost on_lost_;
  std::chrono::milliseconds silence_limit_;
  LinkWriter* writer_ = nullptr;  // none: line_ writes
  protocol::FrameDecoder decoder_;
  bool is_lost_ = false;
  bool was_silent_ = false;
  struct LineDeleter {
    void operator()(bufferevent* line) const { bufferevent_free(line); }
  };
  std::unique_ptr<bufferevent, LineDeleter> line_;
  LoopEvent silence_event_;
};

}  // namespace replay::launcher
