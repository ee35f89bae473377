#include "launcher/agent/daemon_line.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "scheduler/base/text/say_on_stderr.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;

double seconds(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

DaemonLine::DaemonLine(event_base* loop, milliseconds silence_limit, milliseconds lease, Callbacks callbacks)
    : loop_(loop),
      silence_limit_(lease > 0ms && silence_limit > 0ms ? std::min(silence_limit, lease) : silence_limit),
      lease_(lease),
      callbacks_(std::move(callbacks)),
      outbox_(lease > 0ms),
      lease_event_(loop, -1, 0, [this] {
        callbacks_.on_end(fmt::format("the daemon has not been heard of for {:g} s", seconds(lease_)));
      }) {}

void DaemonLine::connect(DaemonStream connection) {
  if (is_over_) return;
  if (!line_)
    heard_ = Clock::now();
  else if (is_cut_)
    say_on_stderr("replay-agent: the line to the daemon is mended");
  line_.reset();  // before its stream
  connection_ = std::move(connection);
  sealer_.reset();
  if (connection_.seals) sealer_.emplace(connection_.seals->sending);
  line_ = std::make_unique<FrameLine>(
      loop_, connection_.stream.get(),
      connection_.seals ? protocol::FrameDecoder{connection_.seals->receiving} : protocol::FrameDecoder{},
      silence_limit_, "the daemon", "order",
      FrameLine::Callbacks{[this](const protocol::Frame& frame) { on_frame(frame); }, [this] { on_cut(""); },
                           [this](const std::string& reason) { on_cut(reason); }});
  is_cut_ = false;
  lease_event_.disarm();
  line_->begin();
  protocol::Hello hello = callbacks_.hello();
  hello.received = inbox_.received();
  write(protocol::encode(hello));
  try {
    outbox_.acknowledge(connection_.received);
  } catch (const protocol::ProtocolError& error) {
    return callbacks_.on_end(error.what());
  }
  for (const std::string& frame : outbox_.kept()) write(frame);
  if (lease_ > 0ms) send_heartbeat();
}

void DaemonLine::send_heartbeat() {
  if (is_cut_) return;
  if (lease_ > 0ms) unheard_.push_back(Clock::now());
  send(protocol::Heartbeat{inbox_.received(), ++heartbeats_});
}

void DaemonLine::send(const protocol::AgentReport& report) {
  if (is_over_) return;
  const std::uint64_t number = protocol::is_numbered(report) ? outbox_.next() : 0;
  std::string frame = protocol::encode(report, number);
  write(frame);
  if (number > 0) outbox_.add(std::move(frame));
}

void DaemonLine::write(std::string_view frame) {
  if (is_cut_) return;
  line_->send(sealer_ ? sealer_->seal(frame) : std::string{frame});
}

void DaemonLine::on_frame(const protocol::Frame& frame) {
  try {
    if (!inbox_.take(frame.number)) return;
    const protocol::AgentOrder order = protocol::decode_order(frame);
    if (const auto* ping = std::get_if<protocol::Ping>(&order)) {
      outbox_.acknowledge(ping->received);
      for (; !unheard_.empty() && heartbeats_ - unheard_.size() < ping->heard; unheard_.pop_front())
        heard_ = unheard_.front();
    }
    callbacks_.on_order(order);
  } catch (const protocol::ProtocolError& error) {  // the daemon itself has sent it, and would send it again
    callbacks_.on_end(fmt::format("the daemon sent no order: {}", error.what()));
  }
}

void DaemonLine::on_cut(const std::string& reason) {
  if (lease_ == 0ms) return callbacks_.on_end(reason);
  is_cut_ = true;
  line_->stop();
  ::shutdown(connection_.stream.get(), SHUT_RDWR);
  const auto alone = std::chrono::duration_cast<milliseconds>(Clock::now() - heard_);
  const milliseconds left = std::max(lease_ - alone, 0ms);
  say_on_stderr(fmt::format("replay-agent: the line to the daemon is cut{}{}: its jobs go on for {:.1f} s",
                            reason.empty() ? "" : ": ", reason, seconds(left)));
  lease_event_.arm_after(left);
}

void DaemonLine::part(const std::string& reason) {
  if (!is_cut_ && !is_over_) {
    send(protocol::Farewell{reason});
    line_->write_last_bytes();
  }
  stop();
}

void DaemonLine::stop() {
  is_over_ = true;
  lease_event_.disarm();
  if (line_) line_->stop();
}

}  // namespace replay::launcher
