// A connection between daemon and agent, on which both sides send frames. It is lost when it is closed, when its bytes are
// no frames, or when the peer is silent. Only whole frames count as a sign of life: the sender of other bytes is unknown.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "scheduler/base/loop/connection.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::launcher {

class FrameLine final : Connection::Owner {
 public:
  /// Called by the loop; none of them may destroy the line.
  struct Callbacks {
    /// May throw ProtocolError; then the line is faulty.
    std::function<void(const protocol::Frame&)> on_frame;
    std::function<void()> on_closed;
    /// The peer broke the protocol or is silent, as a sentence for the user.
    std::function<void(const std::string& reason)> on_fault;
  };

  /// `stream` is connected and non-blocking, belongs to the caller and outlives this. Nothing happens before begin().
  /// Without a message for `silence_limit` the peer counts as silent; 0: no limit. What a fault's sentence calls them:
  /// `peer` "the daemon", `message` "order".
  FrameLine(event_base* loop, int stream, protocol::FrameDecoder decoder, std::chrono::milliseconds silence_limit,
            std::string peer, std::string message, Callbacks callbacks);

  void begin();
  /// From here on nothing is called, read or written.
  void stop();
  /// Queues bytes for the stream.
  void send(std::string_view bytes) { connection_.send(bytes); }
  /// Writes at once what the stream takes. REQUIRES: stop() follows.
  void write_last_bytes() { connection_.write_last_bytes(); }

 private:
  void on_bytes() override;
  void on_end(Connection::End end) override;
  void on_silence();
  void await_sign_of_life(std::chrono::milliseconds within);

  protocol::FrameDecoder decoder_;
  std::chrono::milliseconds silence_limit_;
  std::string peer_;
  std::string message_;
  Callbacks callbacks_;
  bool is_stopped_ = false;
  bool was_silent_ = false;
  std::chrono::steady_clock::time_point due_;  // the deadline of connection_
  Connection connection_;
};

}  // namespace replay::launcher
