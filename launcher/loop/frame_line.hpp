// A connection in an event loop on which both sides send frames. It is lost when it is closed, when its bytes are no
// frames, or when the peer is silent. Only whole frames count as a sign of life: the sender of other bytes is unknown.
#pragma once

#include <event2/bufferevent.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/loop/loop_event.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::launcher {

class FrameLine {
 public:
  /// Called by the loop; none of them may destroy the line.
  struct Callbacks {
    /// May throw ProtocolError; then the line is faulty.
    std::function<void(const protocol::Frame&)> on_frame;
    std::function<void()> on_closed;
    /// The peer broke the protocol or is silent, as a sentence for the user.
    std::function<void(const std::string& reason)> on_fault;
  };
  /// What a fault's sentence calls them: "the daemon", "order".
  struct Peer {
    std::string name;
    std::string message;
  };

  /// `stream` is connected and non-blocking, belongs to the caller and outlives this. Nothing happens before begin().
  /// Without a message for `silence_limit` the peer counts as silent; 0: no limit.
  FrameLine(event_base* loop, int stream, protocol::FrameDecoder decoder, std::chrono::milliseconds silence_limit,
            Peer peer, Callbacks callbacks);
  FrameLine(FrameLine&&) = delete;

  enum class Use : bool { kReads, kReadsAndWrites };
  void begin(Use use);
  /// From here on nothing is called, read or written.
  void stop();

  /// Queues bytes for the stream. REQUIRES: Use::kReadsAndWrites.
  void send(std::string_view bytes);
  /// Writes at once what the stream takes. REQUIRES: stop() follows.
  void write_last_bytes();

 private:
  void on_readable();
  void on_silence();
  void await_sign_of_life(std::chrono::milliseconds within);

  int stream_;
  protocol::FrameDecoder decoder_;
  std::chrono::milliseconds silence_limit_;
  Peer peer_;
  Callbacks callbacks_;
  bool is_stopped_ = false;
  bool was_silent_ = false;
  std::chrono::steady_clock::time_point due_;  // of silence_event_
  struct Deleter {
    void operator()(bufferevent* line) const { bufferevent_free(line); }
  };
  std::unique_ptr<bufferevent, Deleter> line_;
  LoopEvent silence_event_;
};

}  // namespace replay::launcher
