#include "launcher/agent/frame_line.hpp"

#include <fmt/format.h>

#include <utility>

#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

using Clock = std::chrono::steady_clock;

constexpr auto kSecondChance = 200ms;

}  // namespace

FrameLine::FrameLine(event_base* loop, int stream, protocol::FrameDecoder decoder,
                     std::chrono::milliseconds silence_limit, std::string peer, std::string message,
                     Callbacks callbacks)
    : decoder_(std::move(decoder)),
      silence_limit_(silence_limit),
      peer_(std::move(peer)),
      message_(std::move(message)),
      callbacks_(std::move(callbacks)),
      connection_(loop, stream, *this) {}

void FrameLine::begin() {
  connection_.read();
  if (silence_limit_ > 0ms) await_sign_of_life(silence_limit_);
}

void FrameLine::stop() {
  is_stopped_ = true;
  connection_.stop();
}

void FrameLine::on_bytes() {
  try {
    decoder_.feed(connection_.unread());
    connection_.drop(connection_.unread().size());
    while (const auto frame = decoder_.next()) {
      was_silent_ = false;
      if (silence_limit_ > 0ms) await_sign_of_life(silence_limit_);
      callbacks_.on_frame(*frame);
      if (is_stopped_) return;
    }
  } catch (const protocol::ProtocolError& error) {
    callbacks_.on_fault(fmt::format("{} sent no {}: {}", peer_, message_, error.what()));
  }
}

void FrameLine::on_end(Connection::End end) {
  if (end == Connection::End::kLate) return on_silence();
  callbacks_.on_closed();
}

void FrameLine::await_sign_of_life(std::chrono::milliseconds within) {
  due_ = Clock::now() + within;
  connection_.set_deadline(within);
}

/// What has come meanwhile is read before the timer fires a second time. A timer that fires late shows that this process
/// was stopped itself, perhaps with its peer, which then gets the whole time again.
void FrameLine::on_silence() {
  if (Clock::now() > due_ + kSecondChance) return await_sign_of_life(silence_limit_);
  if (was_silent_)
    return callbacks_.on_fault(
        fmt::format("{} has not been heard of for {:g} s", peer_, static_cast<double>(silence_limit_.count()) / 1000));
  was_silent_ = true;
  await_sign_of_life(kSecondChance);
}

}  // namespace replay::launcher
