#include "launcher/daemon/agent_client.hpp"

#include <event2/buffer.h>
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "scheduler/base/error.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {

AgentClient::AgentClient(event_base* loop, int stream, OnReport on_report, OnLost on_lost,
                         std::chrono::milliseconds silence_limit, std::optional<Sealed> sealed)
    : on_report_(std::move(on_report)),
      on_lost_(std::move(on_lost)),
      silence_limit_(silence_limit),
      line_(bufferevent_socket_new(loop, stream, 0)),
      silence_event_(loop, -1, 0, [this] { on_silence(); }) {
  INVARIANT(line_ != nullptr, "libevent takes no line to the agent");
  bufferevent_setcb(
      line_.get(), [](bufferevent*, void* self) { static_cast<AgentClient*>(self)->on_readable(); }, nullptr,
      [](bufferevent*, short, void* self) { static_cast<AgentClient*>(self)->lose("the node agent has died"); }, this);
  if (sealed) {
    writer_ = sealed->writer;
    decoder_ = std::move(sealed->decoder);
  }
  bufferevent_enable(line_.get(), writer_ != nullptr ? EV_READ : EV_READ | EV_WRITE);
  silence_event_.arm_after(silence_limit_);
}

void AgentClient::send(const protocol::AgentOrder& order) {
  if (is_lost_) return;
  const std::string bytes = protocol::encode(order);
  if (writer_ != nullptr)
    writer_->send(bytes);
  else
    bufferevent_write(line_.get(), bytes.data(), bytes.size());
}

void AgentClient::on_readable() {
  evbuffer* input = bufferevent_get_input(line_.get());
  std::string bytes(evbuffer_get_length(input), '\0');
  evbuffer_remove(input, bytes.data(), bytes.size());
  try {
    decoder_.feed(bytes);
    while (const auto frame = decoder_.next()) {
      on_frame(*frame);
      if (is_lost_) return;
    }
  } catch (const protocol::ProtocolError& error) {
    lose(fmt::format("the node agent sent no report: {}", error.what()));
  }
}

/// Only whole frames count as a sign of life: the sender of other bytes is unknown.
void AgentClient::on_frame(const protocol::Frame& frame) {
  was_silent_ = false;
  silence_event_.arm_after(silence_limit_);
  const protocol::AgentReport report = protocol::decode_report(frame);
  if (const auto* farewell = std::get_if<protocol::Farewell>(&report))
    lose(fmt::format("the node agent has ended the connection and all jobs: {}", farewell->reason));
  else
    on_report_(report);
}

/// If this process itself was stopped, what has come meanwhile is read before the timer fires a second time.
void AgentClient::on_silence() {
  if (was_silent_)
    return lose(fmt::format("the node agent has not been heard of for {:g} s",
                            static_cast<double>(silence_limit_.count()) / 1000));
  was_silent_ = true;
  silence_event_.arm_after(std::chrono::milliseconds{200});
}

void AgentClient::lose(const std::string& reason) {
  if (is_lost_) return;
  is_lost_ = true;
  silence_event_.disarm();
  bufferevent_disable(line_.get(), EV_READ | EV_WRITE);
  on_lost_(reason);
}

}  // namespace replay::launcher
