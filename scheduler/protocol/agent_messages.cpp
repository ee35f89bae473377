#include "scheduler/protocol/agent_messages.hpp"

#include <string_view>
#include <type_traits>

#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/enum_words.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {
namespace {

// A frame's type is the message's place in its variant, orders from 1 and reports from 101. Messages are only ever
// added at the end.
constexpr std::uint16_t kFirstOrder = 1;
constexpr std::uint16_t kFirstReport = 101;

void put(ByteWriter& out, JobId job) { out.put(static_cast<std::int64_t>(job)); }
void put(ByteWriter& out, const std::vector<std::int32_t>& numbers) {
  out.put(static_cast<std::uint32_t>(numbers.size()));
  for (const std::int32_t number : numbers) out.put(number);
}

void put(ByteWriter& out, const std::vector<std::pair<std::string, std::string>>& variables) {
  out.put(static_cast<std::uint32_t>(variables.size()));
  for (const auto& [name, value] : variables) {
    out.put_text(name);
    out.put_text(value);
  }
}

void put(ByteWriter& out, const LaunchJob& message) {
  put(out, message.job);
  out.put(static_cast<std::uint32_t>(message.command.size()));
  for (const std::string& word : message.command) out.put_text(word);
  put(out, message.environment);
  out.put_text(message.directory);
  put(out, message.core_of_rank);
  out.put_bool(message.malleable);
  out.put(message.given_ns);
  out.put_text(message.working_directory);
  put(out, message.surroundings);
}
void put(ByteWriter& out, const MoveRanks& message) {
  put(out, message.job);
  put(out, message.core_of_rank);
}
void put(ByteWriter& out, const EndJob& message) {
  put(out, message.job);
  out.put(static_cast<std::uint8_t>(message.outcome));
}
void put(ByteWriter& out, const Hello& message) {
  out.put(message.version);
  out.put(message.pid);
  put(out, message.cores);
  out.put_bool(message.emulated);
}
void put(ByteWriter& out, const JobStarted& message) {
  put(out, message.job);
  out.put_bool(message.malleable);
  out.put_text(message.reason);
}
void put(ByteWriter& out, const JobNoted& message) {
  put(out, message.job);
  out.put_text(message.text);
}
void put(ByteWriter& out, const JobMeasured& message) {
  put(out, message.job);
  out.put_double(message.cpu_use);
}
void put(ByteWriter& out, const JobEnded& message) {
  put(out, message.job);
  out.put(static_cast<std::uint8_t>(message.end.outcome));
  out.put(static_cast<std::int32_t>(message.end.exit_code));
  out.put(static_cast<std::uint8_t>(message.end.verification));
  out.put_double(message.end.cpu_use);
  out.put_text(message.end.reason);
  out.put_bool(message.is_site_fault);
}
void put(ByteWriter& out, const OrderFailed& message) {
  put(out, message.job);
  out.put_text(message.action);
  out.put_text(message.reason);
}
void put(ByteWriter& out, const SlowDown& message) {
  put(out, message.job);
  out.put_double(message.slowdown);
}
void put(ByteWriter& out, const JobStatistics& message) {
  put(out, message.job);
  out.put(message.at_ns);
  out.put_text(message.mode);
  out.put_text(message.back_end);
  out.put(static_cast<std::uint32_t>(message.ranks.size()));
  for (const RankStatistics& rank : message.ranks) {
    out.put(rank.pid);
    for (const std::uint64_t figure : {rank.blocked_ns, rank.calls, rank.polls, rank.handoffs, rank.naps, rank.cpu_ns})
      out.put(figure);
  }
}
void put(ByteWriter& out, const Farewell& message) { out.put_text(message.reason); }
template <typename Message>
void put_any(ByteWriter& out, const Message& message) {
  if constexpr (requires { put(out, message); })
    put(out, message);
  else if constexpr (requires { message.job; })
    put(out, message.job);  // nothing but the job; Goodbye, Ping, Heartbeat: nothing at all
}

JobId take_job(ByteReader& in) { return JobId{in.take<std::int64_t>("job")}; }
std::vector<std::int32_t> take_cores(ByteReader& in) {
  std::vector<std::int32_t> cores(in.take_count(sizeof(std::int32_t), "core of rank"));
  for (std::int32_t& core : cores) {
    core = in.take<std::int32_t>("core of rank");
    if (core < 0) throw ProtocolError(fmt::format("core of rank: expected an index, found {}", core));
  }
  if (cores.empty()) throw ProtocolError("core of rank: expected at least one rank, found none");
  return cores;
}

std::vector<std::pair<std::string, std::string>> take_variables(ByteReader& in, const char* field) {
  std::vector<std::pair<std::string, std::string>> variables(in.take_count(8, field));
  for (auto& [name, value] : variables) {
    name = in.take_text(field);
    value = in.take_text(field);
  }
  return variables;
}

void take(ByteReader& in, LaunchJob& message) {
  message.job = take_job(in);
  message.command.resize(in.take_count(4, "command"));
  for (std::string& word : message.command) word = in.take_text("command");
  if (message.command.empty()) throw ProtocolError("command: expected a program, found nothing");
  message.environment = take_variables(in, "environment");
  message.directory = in.take_text("directory");
  message.core_of_rank = take_cores(in);
  message.malleable = in.take_bool("malleable");
  message.given_ns = in.take<std::uint64_t>("given");
  message.working_directory = in.take_text("working directory");
  if (!message.working_directory.empty() && !message.working_directory.starts_with('/'))
    throw ProtocolError(fmt::format("working directory: expected an absolute path, found '{}'",
                                    visible_text(message.working_directory, 200)));
  message.surroundings = take_variables(in, "surroundings");
}
void take(ByteReader& in, MoveRanks& message) {
  message.job = take_job(in);
  message.core_of_rank = take_cores(in);
}
void take(ByteReader& in, EndJob& message) {
  message.job = take_job(in);
  message.outcome = in.take_enum(kLastOf<Outcome>, "outcome");
}
void take(ByteReader& in, SlowDown& message) {
  message.job = take_job(in);
  message.slowdown = in.take_double("slowdown");
  if (message.slowdown < kLeastSlowdown || message.slowdown > kMostSlowdown)
    throw ProtocolError(
        fmt::format("slowdown: expected {} to {}, found {}", kLeastSlowdown, kMostSlowdown, message.slowdown));
}
void take(ByteReader& in, Hello& message) {
  message.version = in.take<std::uint16_t>("version");
  message.pid = in.take<std::int32_t>("pid");
  message.cores = take_cores(in);
  message.emulated = in.take_bool("emulated");
}
void take(ByteReader& in, JobStarted& message) {
  message.job = take_job(in);
  message.malleable = in.take_bool("malleable");
  message.reason = in.take_text("reason");
}
void take(ByteReader& in, JobNoted& message) {
  message.job = take_job(in);
  message.text = in.take_text("text");
}
void take(ByteReader& in, JobMeasured& message) {
  message.job = take_job(in);
  message.cpu_use = in.take_double("CPU use");
}
void take(ByteReader& in, JobEnded& message) {
  message.job = take_job(in);
  message.end.outcome = in.take_enum(kLastOf<Outcome>, "outcome");
  message.end.exit_code = in.take<std::int32_t>("exit code");
  message.end.verification = in.take_enum(kLastOf<Verification>, "verification");
  message.end.cpu_use = in.take_double("CPU use");
  message.end.reason = in.take_text("reason");
  message.is_site_fault = in.take_bool("site fault");
}
void take(ByteReader& in, OrderFailed& message) {
  message.job = take_job(in);
  message.action = in.take_text("action");
  message.reason = in.take_text("reason");
}
void take(ByteReader& in, JobStatistics& message) {
  constexpr std::size_t kRankBytes = 4 + 6 * 8;
  message.job = take_job(in);
  message.at_ns = in.take<std::uint64_t>("at");
  message.mode = in.take_text("mode");
  message.back_end = in.take_text("back end");
  message.ranks.resize(in.take_count(kRankBytes, "ranks"));
  for (RankStatistics& rank : message.ranks) {
    rank.pid = in.take<std::int32_t>("pid");
    for (std::uint64_t* figure : {&rank.blocked_ns, &rank.calls, &rank.polls, &rank.handoffs, &rank.naps, &rank.cpu_ns})
      *figure = in.take<std::uint64_t>("figure of a rank");
  }
}
void take(ByteReader& in, Farewell& message) { message.reason = in.take_text("reason"); }
template <typename Message>
void take_any(ByteReader& in, Message& message) {
  if constexpr (requires { take(in, message); })
    take(in, message);
  else if constexpr (requires { message.job; })
    message.job = take_job(in);
}

template <typename Variant>
std::string encode_any(const Variant& message, std::uint16_t first) {
  ByteWriter out;
  std::visit([&out](const auto& m) { put_any(out, m); }, message);
  return encode_frame(static_cast<std::uint16_t>(first + message.index()), out.bytes());
}

template <typename Variant, std::size_t index = 0>
Variant decode_any(const Frame& frame, std::uint16_t first, std::string_view kind) {
  if constexpr (index == std::variant_size_v<Variant>) {
    throw ProtocolError(
        fmt::format("frame type: expected {} to {} ({}), found {}", first, first + index - 1, kind, frame.type));
  } else {
    if (frame.type != first + index) return decode_any<Variant, index + 1>(frame, first, kind);
    std::variant_alternative_t<index, Variant> message;
    ByteReader in{frame.payload};
    take_any(in, message);
    in.expect_end();
    return message;
  }
}

}  // namespace

bool JobEnded::operator==(const JobEnded& other) const {
  return job == other.job && end.outcome == other.end.outcome && end.exit_code == other.end.exit_code &&
         end.verification == other.end.verification && end.cpu_use == other.end.cpu_use &&
         end.reason == other.end.reason && is_site_fault == other.is_site_fault;
}

std::string encode(const AgentOrder& order) { return encode_any(order, kFirstOrder); }
std::string encode(const AgentReport& report) { return encode_any(report, kFirstReport); }
AgentOrder decode_order(const Frame& frame) { return decode_any<AgentOrder>(frame, kFirstOrder, "an order"); }
AgentReport decode_report(const Frame& frame) { return decode_any<AgentReport>(frame, kFirstReport, "a report"); }

}  // namespace replay::protocol
