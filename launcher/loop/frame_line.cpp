#include "launcher/loop/frame_line.hpp"

#include <event2/buffer.h>
#include <fmt/format.h>

#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;

using Clock = std::chrono::steady_clock;

constexpr auto kSecondChance = 200ms;

}  // namespace

FrameLine::FrameLine(event_base* loop, int stream, protocol::FrameDecoder decoder,
                     std::chrono::milliseconds silence_limit, Peer peer, Callbacks callbacks)
    : stream_(stream),
      decoder_(std::move(decoder)),
      silence_limit_(silence_limit),
      peer_(std::move(peer)),
      callbacks_(std::move(callbacks)),
      line_(bufferevent_socket_new(loop, stream, 0)),
      silence_event_(loop, -1, 0, [this] { on_silence(); }) {
  INVARIANT(line_ != nullptr, "libevent takes no line to {}", peer_.name);
  bufferevent_setcb(
      line_.get(), [](bufferevent*, void* self) { static_cast<FrameLine*>(self)->on_readable(); }, nullptr,
      [](bufferevent*, short, void* self) { static_cast<FrameLine*>(self)->callbacks_.on_closed(); }, this);
}

void FrameLine::begin(Use use) {
  bufferevent_enable(line_.get(), use == Use::kReads ? EV_READ : EV_READ | EV_WRITE);
  if (silence_limit_ > 0ms) await_sign_of_life(silence_limit_);
}

void FrameLine::stop() {
  is_stopped_ = true;
  silence_event_.disarm();
  bufferevent_disable(line_.get(), EV_READ | EV_WRITE);
}

void FrameLine::send(std::string_view bytes) { bufferevent_write(line_.get(), bytes.data(), bytes.size()); }

void FrameLine::write_last_bytes() {
  evbuffer* output = bufferevent_get_output(line_.get());
  evbuffer_unfreeze(output, 1);  // libevent's own writes, which keep it frozen, are over with stop()
  evbuffer_write(output, stream_);
}

void FrameLine::on_readable() {
  evbuffer* input = bufferevent_get_input(line_.get());
  std::string bytes(evbuffer_get_length(input), '\0');
  evbuffer_remove(input, bytes.data(), bytes.size());
  try {
    decoder_.feed(bytes);
    while (const auto frame = decoder_.next()) {
      was_silent_ = false;
      if (silence_limit_ > 0ms) await_sign_of_life(silence_limit_);
      callbacks_.on_frame(*frame);
      if (is_stopped_) return;
    }
  } catch (const protocol::ProtocolError& error) {
    callbacks_.on_fault(fmt::format("{} sent no {}: {}", peer_.name, peer_.message, error.what()));
  }
}

void FrameLine::await_sign_of_life(std::chrono::milliseconds within) {
  due_ = Clock::now() + within;
  silence_event_.arm_after(within);
}

/// What has come meanwhile is read before the timer fires a second time. A timer that fires late shows that this process
/// was stopped itself, perhaps with its peer, which then gets the whole time again.
void FrameLine::on_silence() {
  if (Clock::now() > due_ + kSecondChance) return await_sign_of_life(silence_limit_);
  if (was_silent_)
    return callbacks_.on_fault(fmt::format("{} has not been heard of for {:g} s", peer_.name,
                                           static_cast<double>(silence_limit_.count()) / 1000));
  was_silent_ = true;
  await_sign_of_life(kSecondChance);
}

}  // namespace replay::launcher
