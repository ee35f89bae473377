#include "launcher/daemon/executor_inputs.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

enum class Kind : std::uint8_t { kReported, kLineChanged, kNodeLost, kNodeRejoined, kRejoinFailed };

void put(protocol::ByteWriter& to, const Reported& input) { to.put_text(protocol::encode(input.report)); }
void put(protocol::ByteWriter& to, const LineChanged& input) {
  to.put_bool(input.is_mended);
  to.put_text(input.text);
}
void put(protocol::ByteWriter& to, const NodeLost& input) { to.put_text(input.reason); }
void put(protocol::ByteWriter& to, const NodeRejoined& input) {
  to.put_text(input.address);
  to.put_text({reinterpret_cast<const char*>(input.session.data()), input.session.size()});
}
void put(protocol::ByteWriter& to, const RejoinFailed& input) { to.put_text(input.why_not); }

protocol::AgentReport report_in(const std::string& bytes) {
  protocol::FrameDecoder decoder;
  decoder.feed(bytes);
  const std::optional<protocol::Frame> frame = decoder.next();
  if (!frame) throw protocol::ProtocolError("report: expected a frame, found a part of one");
  return protocol::decode_report(*frame);
}

protocol::SessionId session_in(std::string_view bytes) {
  protocol::SessionId id{};
  if (bytes.size() != id.size())
    throw protocol::ProtocolError(fmt::format("session: expected {} bytes, found {}", id.size(), bytes.size()));
  std::ranges::transform(bytes, id.begin(), [](char byte) { return static_cast<std::uint8_t>(byte); });
  return id;
}

ExecutorInput take(protocol::ByteReader& from, Kind kind, std::size_t node) {
  switch (kind) {
    case Kind::kReported: return Reported{node, report_in(from.take_text("report"))};
    case Kind::kLineChanged: {
      const bool is_mended = from.take_bool("whether the line is mended");
      return LineChanged{node, is_mended, from.take_text("text")};
    }
    case Kind::kNodeLost: return NodeLost{node, from.take_text("reason")};
    case Kind::kNodeRejoined: {
      std::string address = from.take_text("address");
      return NodeRejoined{node, std::move(address), session_in(from.take_text("session"))};
    }
    case Kind::kRejoinFailed: break;
  }
  return RejoinFailed{node, from.take_text("reason")};
}

}  // namespace

std::string to_bytes(const ExecutorInput& input) {
  protocol::ByteWriter writer;
  writer.put(static_cast<std::uint8_t>(input.index()));
  std::visit(
      [&writer](const auto& one) {
        writer.put(static_cast<std::uint32_t>(one.node));
        put(writer, one);
      },
      input);
  return writer.bytes();
}

ExecutorInput executor_input(const std::string& bytes, std::size_t nodes) {
  protocol::ByteReader reader{bytes};
  const auto kind = reader.take_enum(Kind::kRejoinFailed, "kind of an executor's input");
  const auto node = reader.take<std::uint32_t>("node");
  if (node >= nodes) throw protocol::ProtocolError(fmt::format("node: expected less than {}, found {}", nodes, node));
  ExecutorInput input = take(reader, kind, node);
  reader.expect_end();
  return input;
}

}  // namespace replay::launcher
