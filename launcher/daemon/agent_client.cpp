#include "launcher/daemon/agent_client.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace replay::launcher {

AgentClient::AgentClient(event_base* loop, int stream, OnReport on_report, OnLost on_lost,
                         std::chrono::milliseconds silence_limit, std::optional<Sealed> sealed)
    : on_report_(std::move(on_report)),
      on_lost_(std::move(on_lost)),
      writer_(sealed ? sealed->writer : nullptr),
      line_(loop, stream, sealed ? std::move(sealed->decoder) : protocol::FrameDecoder{}, silence_limit,
            "the node agent", "report",
            {[this](const protocol::Frame& frame) { on_frame(frame); }, [this] { lose("the node agent has died"); },
             [this](const std::string& reason) { lose(reason); }}) {
  line_.begin();
}

void AgentClient::send(const protocol::AgentOrder& order) {
  if (is_lost_) return;
  const std::string bytes = protocol::encode(order);
  if (writer_ != nullptr)
    writer_->send(bytes);
  else
    line_.send(bytes);
}

void AgentClient::on_frame(const protocol::Frame& frame) {
  const protocol::AgentReport report = protocol::decode_report(frame);
  if (const auto* farewell = std::get_if<protocol::Farewell>(&report))
    lose(fmt::format("the node agent has ended the connection and all jobs: {}", farewell->reason));
  else
    on_report_(report);
}

void AgentClient::lose(const std::string& reason) {
  if (is_lost_) return;
  is_lost_ = true;
  line_.stop();
  on_lost_(reason);
}

}  // namespace replay::launcher
