// Where daemons come in over TCP: accepts connections, lets each prove the key, hands over the streams of those that have
// it. Everybody on the network may knock, so a stranger is given little: a few bytes, 5 seconds, one of 64 places. When
// they are full, a newcomer takes the place of one of the address that has the most of them, drawn by lot. A daemon whose
// greeting was made with the key does not wait among strangers: it has one of 16 places of its own, and its greeting comes
// with the first bytes, so that a flood of strangers does not keep it out, however long the way to it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "launcher/daemon/agent_link.hpp"
#include "launcher/loop/listener.hpp"
#include "launcher/loop/loop_event.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

class AgentDoor {
 public:
  struct Callbacks {
    /// A daemon has proved the key: what is it told?
    std::function<protocol::LinkAnswer()> answer;
    /// It was told that it is served: its stream, non-blocking, at the first byte after the handshake, and the keys for
    /// what follows.
    std::function<void(UniqueFd stream, const protocol::LinkSeals& seals, const std::string& daemon)> on_daemon;
    /// It was closed, because of this.
    std::function<void(const std::string& peer, const std::string& reason)> on_refused;
  };

  /// `listener` is a listening, non-blocking socket. Nothing happens before the loop runs.
  AgentDoor(event_base* loop, UniqueFd listener, const protocol::LinkKey& key, Callbacks callbacks);

  [[nodiscard]] LinkAddress address() const { return own_address(listener_.socket()); }
  /// Connections that have been closed without having proved the key.
  [[nodiscard]] std::size_t refused() const { return refused_; }

  static constexpr std::chrono::milliseconds kProveWithin{5'000};
  static constexpr std::size_t kMostStrangers = 64;
  static constexpr std::size_t kMostExpected = 16;  ///< whose greeting was made with the key
  static constexpr std::size_t kRememberedGreetings = 4096;

 private:
  struct Candidate {
    std::string name;
    std::string network;  ///< the IPv4 address, or the first half of the IPv6 address
    UniqueFd stream;
    protocol::Handshake handshake;
    std::unique_ptr<LoopEvent> readable;
    std::unique_ptr<LoopEvent> too_late;
    bool is_expected = false;  ///< is in expected_, not in strangers_
  };
  using Candidates = std::list<Candidate>;
  using Place = Candidates::iterator;

  void add(UniqueFd stream);
  void make_room_for_a_stranger();
  void read_from(Place place);
  [[nodiscard]] bool take_in(Place place);
  void let_in(Place place);
  void refuse(Place place, const std::string& reason);
  void forget(Place place);

  event_base* loop_;
  protocol::LinkKey key_;
  Callbacks callbacks_;
  Candidates strangers_;
  Candidates expected_;                 // the one that has waited longest first
  std::set<std::string> greetings_;     // nonces of greetings with the key: one that is repeated is an eavesdropper's
  std::deque<std::string> remembered_;  // the same, the oldest first
  std::minstd_rand lot_{std::random_device{}()};
  std::size_t refused_ = 0;
  Listener listener_;
};

}  // namespace replay::launcher
