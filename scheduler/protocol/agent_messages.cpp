#include "scheduler/protocol/agent_messages.hpp"

#include <concepts>
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

// Each message names its fields once, in the order in which they travel: `io` puts them or takes them.
template <class Message, class Of>
concept A = std::same_as<std::remove_const_t<Message>, Of>;

void fields(auto& io, auto& m) {
  if constexpr (requires { m.job; }) io(m.job, "job");  // nothing else; Goodbye: nothing at all
}
void fields(auto& io, A<JobHost> auto& m) {
  io(m.name, "host");
  io(m.address, "address");
  io(m.ranks, "ranks");
}
void fields(auto& io, A<LaunchJob> auto& m) {
  io(m.job, "job");
  io(m.command, "command");
  io(m.environment, "environment");
  io(m.directory, "directory");
  io(m.core_of_rank, "core of rank");
  io(m.malleable, "malleable");
  io(m.given_ns, "given");
  io(m.working_directory, "working directory");
  io(m.surroundings, "surroundings");
  io(m.hosts, "hosts");
  io(m.own_host, "own host");
  io(m.key, "key");
  io(m.label, "label");
}
void fields(auto& io, A<MoveRanks> auto& m) {
  io(m.job, "job");
  io(m.core_of_rank, "core of rank");
}
void fields(auto& io, A<EndJob> auto& m) {
  io(m.job, "job");
  io(m.outcome, "outcome");
}
void fields(auto& io, A<SlowDown> auto& m) {
  io(m.job, "job");
  io(m.slowdown, "slowdown");
}
void fields(auto& io, A<CheckNode> auto& m) {
  io(m.file, "file");
  io(m.programs, "programs");
}
void fields(auto& io, A<Hello> auto& m) {
  io(m.version, "version");
  io(m.pid, "pid");
  io(m.cores, "core of rank");
  io(m.emulated, "emulated");
  io(m.packages, "packages");
  io(m.host, "host");
  io(m.received, "received");
}
void fields(auto& io, A<Ping> auto& m) {
  io(m.received, "received");
  io(m.heard, "heard");
}
void fields(auto& io, A<Heartbeat> auto& m) {
  io(m.received, "received");
  io(m.count, "count");
}
void fields(auto& io, A<JobStarted> auto& m) {
  io(m.job, "job");
  io(m.malleable, "malleable");
  io(m.reason, "reason");
}
void fields(auto& io, A<JobNoted> auto& m) {
  io(m.job, "job");
  io(m.text, "text");
}
void fields(auto& io, A<JobMeasured> auto& m) {
  io(m.job, "job");
  io(m.cpu_use, "CPU use");
}
void fields(auto& io, A<JobEnded> auto& m) {
  io(m.job, "job");
  io(m.end.outcome, "outcome");
  io(m.end.exit_code, "exit code");
  io(m.end.verification, "verification");
  io(m.end.cpu_use, "CPU use");
  io(m.end.reason, "reason");
  io(m.is_site_fault, "site fault");
}
void fields(auto& io, A<OrderFailed> auto& m) {
  io(m.job, "job");
  io(m.action, "action");
  io(m.reason, "reason");
}
void fields(auto& io, A<RankStatistics> auto& m) {
  io(m.pid, "pid");
  for (auto* figure : {&m.blocked_ns, &m.calls, &m.polls, &m.handoffs, &m.naps, &m.cpu_ns})
    io(*figure, "figure of a rank");
}
void fields(auto& io, A<JobStatistics> auto& m) {
  io(m.job, "job");
  io(m.at_ns, "at");
  io(m.mode, "mode");
  io(m.back_end, "back end");
  io(m.ranks, "ranks");
}
void fields(auto& io, A<Farewell> auto& m) { io(m.reason, "reason"); }
void fields(auto& io, A<NodeChecked> auto& m) {
  io(m.clock_us, "clock");
  io(m.word, "word");
  io(m.unreadable, "unreadable");
  io(m.missing, "missing");
  io(m.mpi, "MPI");
  io(m.vmlib, "vmlib");
  io(m.notes, "notes");
  io(m.turn_us, "turn");
}

template <class Value>
concept Enumerator = std::is_enum_v<Value>;

struct Put {
  ByteWriter out;

  void operator()(bool value, const char* /*field*/) { out.put_bool(value); }
  void operator()(double value, const char* /*field*/) { out.put_double(value); }
  void operator()(const std::string& text, const char* /*field*/) { out.put_text(text); }
  void operator()(std::integral auto value, const char* /*field*/) { out.put(value); }
  template <Enumerator Value>
  void operator()(Value value, const char* /*field*/) {
    out.put(static_cast<std::underlying_type_t<Value>>(value));
  }
  template <class Item>
  void operator()(const std::vector<Item>& list, const char* field) {
    out.put(static_cast<std::uint32_t>(list.size()));
    for (const Item& item : list) (*this)(item, field);
  }
  void operator()(const std::pair<std::string, std::string>& variable, const char* /*field*/) {
    out.put_text(variable.first);
    out.put_text(variable.second);
  }
  void operator()(const RankStatistics& rank, const char* /*field*/) { fields(*this, rank); }
  void operator()(const JobHost& host, const char* /*field*/) { fields(*this, host); }
};

template <class Item>
constexpr std::size_t kLeastBytes = 4;
template <>
constexpr std::size_t kLeastBytes<std::pair<std::string, std::string>> = 8;
template <>
constexpr std::size_t kLeastBytes<RankStatistics> = 4 + 6 * 8;
template <>
constexpr std::size_t kLeastBytes<JobHost> = 4 + 4 + 4;

struct Take {
  ByteReader in;

  void operator()(bool& value, const char* field) { value = in.take_bool(field); }
  void operator()(double& value, const char* field) { value = in.take_double(field); }
  void operator()(std::string& text, const char* field) { text = in.take_text(field); }
  void operator()(std::integral auto& value, const char* field) {
    value = in.take<std::remove_reference_t<decltype(value)>>(field);
  }
  void operator()(JobId& job, const char* field) { job = JobId{in.take<std::int64_t>(field)}; }
  void operator()(Enumerator auto& value, const char* field) {
    value = in.take_enum(kLastOf<std::remove_reference_t<decltype(value)>>, field);
  }
  template <class Item>
  void operator()(std::vector<Item>& list, const char* field) {
    list.resize(in.take_count(kLeastBytes<Item>, field));
    for (Item& item : list) (*this)(item, field);
  }
  void operator()(std::pair<std::string, std::string>& variable, const char* field) {
    variable.first = in.take_text(field);
    variable.second = in.take_text(field);
  }
  void operator()(RankStatistics& rank, const char* /*field*/) { fields(*this, rank); }
  void operator()(JobHost& host, const char* /*field*/) { fields(*this, host); }
};

void expect_cores(const std::vector<std::int32_t>& cores) {
  for (const std::int32_t core : cores)
    if (core < 0) throw ProtocolError(fmt::format("core of rank: expected an index, found {}", core));
  if (cores.empty()) throw ProtocolError("core of rank: expected at least one rank, found none");
}

void expect_sense(const auto& /*message*/) {}
void expect_sense(const LaunchJob& message) {
  if (message.command.empty()) throw ProtocolError("command: expected a program, found nothing");
  expect_cores(message.core_of_rank);
  if (!message.working_directory.empty() && !message.working_directory.starts_with('/'))
    throw ProtocolError(fmt::format("working directory: expected an absolute path, found '{}'",
                                    visible_text(message.working_directory, 200)));
  if (message.hosts.empty()) return;
  const auto own = static_cast<std::size_t>(message.own_host);
  if (message.own_host < 0 || own >= message.hosts.size() ||
      message.hosts[own].ranks != static_cast<std::int32_t>(message.core_of_rank.size()))
    throw ProtocolError(fmt::format("own host: expected one of {} with {} ranks, found {}", message.hosts.size(),
                                    message.core_of_rank.size(), message.own_host));
  for (const JobHost& host : message.hosts)
    if (host.ranks < 1) throw ProtocolError(fmt::format("ranks: expected at least 1, found {}", host.ranks));
  constexpr std::size_t kKeyBytes = 16;
  if (message.key.size() != kKeyBytes)
    throw ProtocolError(fmt::format("key: expected {} bytes, found {}", kKeyBytes, message.key.size()));
}
void expect_sense(const MoveRanks& message) { expect_cores(message.core_of_rank); }
void expect_sense(const Hello& message) {
  expect_cores(message.cores);
  if (message.packages < 1 || message.cores.size() % static_cast<std::size_t>(message.packages) != 0)
    throw ProtocolError(
        fmt::format("packages: expected a divisor of {} cores, found {}", message.cores.size(), message.packages));
}
void expect_sense(const CheckNode& message) {
  if (!message.file.starts_with('/'))
    throw ProtocolError(fmt::format("file: expected an absolute path, found '{}'", visible_text(message.file, 200)));
}
void expect_sense(const SlowDown& message) {
  if (message.slowdown < kLeastSlowdown || message.slowdown > kMostSlowdown)
    throw ProtocolError(
        fmt::format("slowdown: expected {} to {}, found {}", kLeastSlowdown, kMostSlowdown, message.slowdown));
}

template <typename Variant>
std::string encode_any(const Variant& message, std::uint16_t first, std::uint64_t number) {
  Put put;
  std::visit([&put](const auto& m) { fields(put, m); }, message);
  return encode_frame(static_cast<std::uint16_t>(first + message.index()), put.out.bytes(), number);
}

template <typename Variant, std::size_t index = 0>
Variant decode_any(const Frame& frame, std::uint16_t first, std::string_view kind) {
  if constexpr (index == std::variant_size_v<Variant>) {
    throw ProtocolError(
        fmt::format("frame type: expected {} to {} ({}), found {}", first, first + index - 1, kind, frame.type));
  } else {
    if (frame.type != first + index) return decode_any<Variant, index + 1>(frame, first, kind);
    std::variant_alternative_t<index, Variant> message;
    Take take{ByteReader{frame.payload}};
    fields(take, message);
    take.in.expect_end();
    expect_sense(message);
    return message;
  }
}

}  // namespace

std::size_t LaunchJob::first_rank() const {
  std::size_t before = 0;
  for (std::size_t host = 0; host < static_cast<std::size_t>(own_host); ++host)
    before += static_cast<std::size_t>(hosts[host].ranks);
  return before;
}

std::size_t LaunchJob::world_size() const {
  if (hosts.empty()) return core_of_rank.size();
  std::size_t all = 0;
  for (const JobHost& host : hosts) all += static_cast<std::size_t>(host.ranks);
  return all;
}

bool is_numbered(const AgentReport& report) {
  return !std::holds_alternative<Hello>(report) && !std::holds_alternative<Heartbeat>(report) &&
         !std::holds_alternative<Farewell>(report) && !std::holds_alternative<NodeChecked>(report);
}
std::string encode(const AgentOrder& order, std::uint64_t number) { return encode_any(order, kFirstOrder, number); }
std::string encode(const AgentReport& report, std::uint64_t number) { return encode_any(report, kFirstReport, number); }
AgentOrder decode_order(const Frame& frame) { return decode_any<AgentOrder>(frame, kFirstOrder, "an order"); }
AgentReport decode_report(const Frame& frame) { return decode_any<AgentReport>(frame, kFirstReport, "a report"); }

}  // namespace replay::protocol
