// Where daemons come in over TCP: accepts connections, lets each prove the key, hands over the streams of those that have
// it. Everybody on the network may knock, so a connection is given little: a few bytes, 5 seconds, one of 16 places. A
// newcomer takes the place of the one that has waited longest, because who has the key needs milliseconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "launcher/agent_link.hpp"
#include "launcher/listener.hpp"
#include "launcher/loop_event.hpp"
#include "launcher/unique_fd.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

class AgentDoor {
 public:
  struct Callbacks {
    /// A daemon has proved the key: what is it told?
    std::function<protocol::LinkAnswer()> answer;
    /// It was told that it is served: its stream, non-blocking, at the first byte after the handshake.
    std::function<void(UniqueFd stream, const std::string& daemon)> on_daemon;
    /// It was closed, because of this.
    std::function<void(const std::string& peer, const std::string& reason)> on_refused;
  };

  /// `listener` is a listening, non-blocking socket. Nothing happens before the loop runs.
  AgentDoor(event_base* loop, UniqueFd listener, const protocol::LinkKey& key, Callbacks callbacks);

  [[nodiscard]] LinkAddress address() const { return own_address(listener_.socket()); }
  /// Connections that have been closed without having proved the key.
  [[nodiscard]] std::size_t refused() const { return refused_; }

  static constexpr std::chrono::milliseconds kProveWithin{5'000};
  static constexpr std::size_t kMostCandidates = 16;

 private:
  struct Candidate {
    std::string name;
    UniqueFd stream;
    protocol::Handshake handshake;
    std::unique_ptr<LoopEvent> readable;
    std::unique_ptr<LoopEvent> too_late;
  };
  using Place = std::list<Candidate>::iterator;

  void add(UniqueFd stream);
  void read_from(Place place);
  void let_in(Place place);
  void refuse(Place place, const std::string& reason);

  event_base* loop_;
  protocol::LinkKey key_;
  Callbacks callbacks_;
  std::list<Candidate> candidates_;  // the one that has waited longest first
  std::size_t refused_ = 0;
  Listener listener_;
};

}  // namespace replay::launcher
