// The agent's entrance for daemons over TCP: accepts connections, checks that each proves the key, and hands over the
// streams of those that did. Any host on the network can connect, so an unproved connection (a stranger) gets little: a
// few bytes, 5 seconds, one of 64 places. When all are taken, a newcomer replaces a stranger drawn by lot from the
// address that has the most. A daemon makes its greeting with the key, in its first bytes; such a connection gets one
// of 16 separate places, so that a flood of strangers does not keep it out, however slow its network is.
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

#include "launcher/agent/daemon_stream.hpp"
#include "launcher/daemon/agent_link.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/listener.hpp"
#include "scheduler/base/loop/read_deadline.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

class AgentDoor {
 public:
  struct Callbacks {
    /// A daemon has proved the key and wants this session; returns the answer to it.
    std::function<protocol::LinkAnswer(const protocol::LinkSession&)> answer;
    /// The daemon was told that it is served: its stream is at the first byte after the handshake.
    std::function<void(DaemonStream stream, const protocol::LinkSession&, const std::string& daemon)> on_daemon;
    /// A connection was closed for this reason.
    std::function<void(const std::string& peer, const std::string& reason)> on_refused;
  };

  /// `listener` is a listening, non-blocking socket. Nothing happens before the loop runs.
  AgentDoor(event_base* loop, UniqueFd listener, const protocol::LinkKey& key, Callbacks callbacks);

  [[nodiscard]] LinkAddress address() const { return own_address(listener_.socket()); }
  /// Connections that have been closed without having proved the key.
  [[nodiscard]] std::size_t refused() const { return refused_; }

  static constexpr std::chrono::milliseconds kProveWithin{5'000};
  static constexpr std::size_t kMostStrangers = 64;
  static constexpr std::size_t kMostExpected = 16;  ///< connections with a greeting made with the key
  static constexpr std::size_t kRememberedGreetings = 4096;

 private:
  struct Candidate {
    std::string name;
    std::string network;  ///< the IPv4 address, or the first half of the IPv6 address
    UniqueFd stream;
    protocol::Handshake handshake;
    std::unique_ptr<ReadDeadline> events;
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
  Candidates expected_;                 // oldest first
  std::set<std::string> greetings_;     // nonces of greetings with the key; a repeated one comes from an eavesdropper
  std::deque<std::string> remembered_;  // the same, the oldest first
  std::minstd_rand lot_{std::random_device{}()};
  std::size_t refused_ = 0;
  Listener listener_;
};

}  // namespace replay::launcher
