// A session outlives its connections: each side numbers its messages from 1, keeps those that the other side has not
// acknowledged, and sends them again on the next connection; the other side drops what it has already. So a message takes
// effect once, in order, however often its connection is cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {

/// The messages of one side.
class Outbox {
 public:
  /// Without `keeps` the session ends with its connection, and nothing is sent again.
  explicit Outbox(bool keeps) : keeps_(keeps) {}

  /// The number of the next message, and of the last one.
  [[nodiscard]] std::uint64_t next() const { return last_ + 1; }
  [[nodiscard]] std::uint64_t last() const { return last_; }
  /// The whole frame of the message with that number.
  void add(std::string frame) {
    ++last_;
    if (keeps_) kept_.push_back(std::move(frame));
  }
  /// The other side has all up to this number. Throws ProtocolError when it cannot have.
  void acknowledge(std::uint64_t number) {
    if (number > last_ || (keeps_ && number < last_ - kept_.size()))
      throw ProtocolError(
          fmt::format("acknowledged: expected {} to {}, found {}", last_ - kept_.size(), last_, number));
    while (keeps_ && last_ - kept_.size() < number) kept_.pop_front();
  }
  /// Calls `send` with each frame behind the number `sent`, up to `last`, that is not acknowledged, in order.
  template <class Send>
  void send_from(std::uint64_t sent, std::uint64_t last, Send send) const {
    const std::uint64_t first = last_ - kept_.size() + 1;  // of kept_
    for (std::uint64_t number = std::max(sent + 1, first); number <= last; ++number) send(kept_[number - first]);
  }
  /// Frames that are not acknowledged, in order.
  [[nodiscard]] const std::deque<std::string>& kept() const { return kept_; }

 private:
  bool keeps_;
  std::uint64_t last_ = 0;
  std::deque<std::string> kept_;
};

/// What has come from the other side.
class Inbox {
 public:
  /// Whether the message with this number is new. 0: it has none, and counts as new. Throws ProtocolError when one before
  /// it has not come.
  [[nodiscard]] bool take(std::uint64_t number) {
    if (number > received_ + 1)
      throw ProtocolError(fmt::format("number of a message: expected at most {}, found {}", received_ + 1, number));
    if (number == 0) return true;
    return number == received_ + 1 && ++received_ > 0;
  }
  /// The number of the last one.
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  std::uint64_t received_ = 0;
};

}  // namespace replay::protocol
