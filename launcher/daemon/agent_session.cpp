#include "launcher/daemon/agent_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

namespace replay::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono_literals::operator""ms;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kEndsWithin = 2'000ms;  // the agent's jobs, after the lease

/// Half the lease, so that there is time to mend the line; but heartbeats may be late.
milliseconds silence_limit_of(const AgentLink& link) {
  constexpr milliseconds kLeast = 2'000ms;
  if (link.lease() == 0ms) return AgentSession::kSilenceLimit;
  return std::min({std::max(link.lease() / 2, kLeast), link.lease(), AgentSession::kSilenceLimit});
}

}  // namespace

AgentSession::AgentSession(event_base* loop, int stream, OnReport on_report, OnLost on_lost, milliseconds silence_limit)
    : loop_(loop),
      on_report_(std::move(on_report)),
      on_lost_(std::move(on_lost)),
      silence_limit_(silence_limit),
      outbox_(false),
      cut_event_(loop, -1, 0, [this] { begin_to_mend(); }) {
  open_line(stream, {});
}

AgentSession::AgentSession(event_base* loop, AgentLink& link, OnReport on_report, OnLost on_lost, OnLine on_line,
                           bool holds)
    : loop_(loop),
      on_report_(std::move(on_report)),
      on_lost_(std::move(on_lost)),
      on_line_(std::move(on_line)),
      silence_limit_(silence_limit_of(link)),
      link_(&link),
      holds_(holds),
      outbox_(link.lease() > 0ms),
      heard_(Clock::now()),
      cut_event_(loop, -1, 0, [this] { begin_to_mend(); }) {
  INVARIANT(!holds || link.lease() > 0ms, "a session without a lease holds its orders");
  if (link.stream.is_open()) open_line(link.stream.get(), std::move(link.decoder));
}

void AgentSession::open_line(int stream, protocol::FrameDecoder decoder) {
  heard_ = Clock::now();
  line_ = std::make_unique<FrameLine>(
      loop_, stream, std::move(decoder), silence_limit_, "the node agent", "report",
      FrameLine::Callbacks{
          [this](const protocol::Frame& frame) { on_frame(frame); },
          [this] { on_cut(link_ == nullptr ? "the node agent has died" : "the connection has ended"); },
          [this](const std::string& reason) { on_cut(reason); }});
  line_->begin();
}

void AgentSession::send(const protocol::AgentOrder& order) {
  if (is_lost_) return;
  std::string frame = protocol::encode(order, outbox_.next());
  if (link_ == nullptr)
    line_->send(frame);
  else if (link_->writer && !holds_)
    link_->writer->send(frame);
  outbox_.add(std::move(frame));
  if (!holds_) released_ = outbox_.last();
}

void AgentSession::release() {
  if (!holds_ || is_lost_) return;
  const std::uint64_t before = std::exchange(released_, outbox_.last());
  acknowledged_ = inbox_.received();
  if (!link_->writer) return;
  outbox_.send_from(before, released_, [this](const std::string& frame) { link_->writer->send(frame); });
  link_->writer->acknowledge({acknowledged_, heartbeats_});
}

void AgentSession::play(const protocol::AgentReport& report) {
  (void)inbox_.take(inbox_.received() + 1);
  on_report_(report);
}

void AgentSession::go_on() {
  goes_on_ = true;
  cut_reason_ = "the line of the daemon before this one has ended";
  heard_ = Clock::now();
  if (link_->is_gone) heard_ -= link_->lease() + kEndsWithin;
  mend();
}

void AgentSession::on_frame(const protocol::Frame& frame) {
  heard_ = Clock::now();
  try {
    if (!inbox_.take(frame.number)) return;
    const protocol::AgentReport report = protocol::decode_report(frame);
    const auto* const heartbeat = std::get_if<protocol::Heartbeat>(&report);
    if (heartbeat != nullptr) heartbeats_ = heartbeat->count;
    if (!holds_) acknowledged_ = inbox_.received();
    if (link_ != nullptr) link_->writer->acknowledge({acknowledged_, heartbeats_});
    if (const auto* farewell = std::get_if<protocol::Farewell>(&report))
      return lose(fmt::format("the node agent has ended the connection and all jobs: {}", farewell->reason));
    if (heartbeat != nullptr) outbox_.acknowledge(heartbeat->received);
    on_report_(report);
  } catch (const protocol::ProtocolError& error) {  // the agent itself has sent it, and would send it again
    lose(fmt::format("the node agent sent no report: {}", error.what()));
  }
}

// ---- a cut line ----

/// Called by the line, which must not be destroyed meanwhile.
void AgentSession::on_cut(const std::string& reason) {
  if (link_ == nullptr || link_->lease() == 0ms) return lose(reason);
  line_->stop();
  cut_reason_ = reason;
  cut_event_.arm_after(0ms);
}

void AgentSession::begin_to_mend() {
  line_.reset();
  link_->close();
  on_line_(LineState::kCut, fmt::format("the line is cut ({}), and is to be mended", cut_reason_));
  mend();
}

void AgentSession::mend() {
  try {
    LinkTarget target = *link_;
    target.session.purpose = protocol::LinkPurpose::kGoesOn;
    target.session.received = acknowledged_;
    mender_ = std::make_unique<BlockingCall<AgentLink>>(
        loop_,
        [target, until = heard_ + link_->lease() + kEndsWithin](int cancel) {
          return mend_link(target, until, cancel);
        },
        [this](BlockingCall<AgentLink>::Result result) { on_mended(std::move(result)); });
  } catch (const std::system_error& error) {
    lose(fmt::format("{}, and it cannot be mended: {}", cut_reason_, error.what()));
  }
}

void AgentSession::on_mended(BlockingCall<AgentLink>::Result result) {
  if (is_lost_) return;
  if (const auto* why_not = std::get_if<std::string>(&result))
    return lose(fmt::format("{}, and {}", cut_reason_, *why_not));
  const double seconds = std::chrono::duration<double>(Clock::now() - heard_).count();
  *link_ = std::move(std::get<AgentLink>(result));
  mender_.reset();
  try {
    outbox_.acknowledge(link_->hello.received);
  } catch (const protocol::ProtocolError& error) {
    return lose(fmt::format("the node agent sent no report: {}", error.what()));
  }
  open_line(link_->stream.get(), std::move(link_->decoder));
  outbox_.send_from(0, released_, [this](const std::string& frame) { link_->writer->send(frame); });
  on_line_(LineState::kMended,
           std::exchange(goes_on_, false)
               ? "its jobs are found again"
               : fmt::format("the line is mended, {:.1f} s after the last message before the cut", seconds));
}

void AgentSession::give_up() {
  is_lost_ = true;
  cut_event_.disarm();
  if (line_) line_->stop();
}

void AgentSession::lose(const std::string& reason) {
  if (is_lost_) return;
  give_up();
  on_lost_(reason);
}

}  // namespace replay::launcher
