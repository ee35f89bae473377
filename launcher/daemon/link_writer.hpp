// The daemon's writing end of a connection over a network: seals its orders, and sends Ping once a second from a thread
// of its own, from the handshake on, because an agent takes silence for a cut link. So a policy that computes for
// minutes, a question to the user or a long preparation loses no agent. One lock covers sealing and queueing, because
// the other side opens frames only in the order in which they were sealed.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::launcher {

class LinkWriter {
 public:
  static constexpr std::chrono::milliseconds kBetweenPings{1000};

  /// `socket` is connected and non-blocking, belongs to the caller and outlives this; nothing else writes to it.
  /// `ping` is the first one, which is sent at once. Throws std::system_error.
  LinkWriter(int socket, const protocol::SealKey& key, const protocol::Ping& ping,
             std::chrono::milliseconds between_pings = kBetweenPings);
  LinkWriter(const LinkWriter&) = delete;
  LinkWriter& operator=(const LinkWriter&) = delete;
  /// Ends the thread, at once; what could not be written yet is dropped.
  ~LinkWriter();

  /// One whole frame, from any thread. Returns at once; on a broken connection it does nothing, which the side that
  /// reads notices.
  void send(std::string_view frame);
  /// What the next Pings say.
  void acknowledge(const protocol::Ping& ping);

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void add(std::string_view frame);
  void write_some();

  const int socket_;
  const std::chrono::milliseconds between_pings_;
  UniqueFd wake_;
  std::mutex mutex_;  // for all below
  protocol::FrameSealer sealer_;
  std::string unsent_;
  protocol::Ping ping_;
  bool is_broken_ = false;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace replay::launcher
