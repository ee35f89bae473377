#include "tests/fuzz/made_seeds.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <variant>

#include "launcher/agent/cores/core_segment.hpp"
#include "launcher/agent/cores/job_segment.hpp"
#include "launcher/daemon/executor_inputs.hpp"
#include "launcher/mpich/proxy_message.hpp"
#include "launcher/mpich/sealed_relay.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/bytes.hpp"
#include "scheduler/protocol/handshake.hpp"
#include "scheduler/protocol/wire.h"
#include "tests/support/shell.hpp"

namespace replay::fuzz {
namespace {

using namespace protocol;

const std::string kInOnePiece = "\xff";
const std::string kInPiecesOfThree = "\x02";

std::vector<AgentOrder> orders() {
  const JobId job{7};
  return {LaunchJob{job,
                    {"phases", "--runtime"},
                    {{"A", "b"}},
                    "/tmp/jobs/7",
                    {0, 1, 1},
                    true,
                    123456789012,
                    "/home/a",
                    {{"PATH", "/bin"}}},
          MoveRanks{job, {0, 0, 1}},
          SuspendJob{job},
          ResumeJob{job},
          EndJob{job, Outcome::kOverrun},
          Goodbye{},
          AskStatistics{job},
          Ping{},
          SlowDown{job, 1.25},
          CheckNode{"/runs/1/word", {"phases", "/bin/cg"}}};
}

std::vector<AgentReport> reports() {
  const JobId job{7};
  return {Hello{kProtocolVersion, 4711, {0, 1}, true, 2, "n1", 3},
          JobStarted{job, false, "no MPI"},
          RanksMoved{job},
          JobSuspended{job},
          JobResumed{job},
          JobMeasured{job, 0.5},
          JobEnded{job, JobEnd{Outcome::kFailed, 9, Verification::kNone, -1, "rank 1"}, true},
          OrderFailed{job, "resize", "it is rigid"},
          Heartbeat{},
          JobStatistics{job, 5, "progress", "token", {RankStatistics{.pid = 3, .calls = 4}, RankStatistics{}}},
          Farewell{"not the one that was sent"},
          JobNoted{job, "rank 1 was not on its core"},
          NodeChecked{1'795'772'000'000'001, "4f", "no such file", {"cg"}, "MPICH 4.0.2", "ab", {"a note"}, 40'000},
          JobBegun{job}};
}

void add_wire(std::vector<Seed>& seeds) {
  std::string all_orders;
  for (const AgentOrder& order : orders()) {
    seeds.push_back({fmt::format("wire/order-{}", order.index()), kInOnePiece + encode(order)});
    all_orders += encode(order);
  }
  std::string all_reports;
  for (const AgentReport& report : reports()) {
    seeds.push_back({fmt::format("wire/report-{}", report.index()), kInOnePiece + encode(report)});
    all_reports += encode(report);
  }
  INVARIANT(orders().size() == std::variant_size_v<AgentOrder> && reports().size() == std::variant_size_v<AgentReport>,
            "a message has no seed");
  seeds.push_back({"wire/all-orders", kInPiecesOfThree + all_orders});
  seeds.push_back({"wire/all-reports", kInPiecesOfThree + all_reports});
}

LinkNonce filled(std::uint8_t byte) {
  LinkNonce bytes;
  bytes.fill(byte);
  return bytes;
}

/// In the format of handshake_fuzz.cpp: the mode, the size of pieces, then messages or changes.
void add_handshake(std::vector<Seed>& seeds) {
  Handshake daemon{LinkRole::kDaemon, filled(9), filled(3)};
  Handshake agent{LinkRole::kAgent, filled(9), filled(4)};
  const std::string greeting = daemon.greeting();
  (void)agent.feed(greeting.substr(0, kOpeningBytes));
  const std::string opening = agent.feed(greeting.substr(kOpeningBytes));
  const std::string proof = daemon.feed(opening);
  (void)agent.feed(proof);
  seeds.push_back({"handshake/daemon-with-another-key", std::string("\x00\x3f", 2) + greeting + proof});
  seeds.push_back(
      {"handshake/agent-with-another-key", std::string("\x01\x3f", 2) + opening + agent.answer(LinkAnswer::kServed)});
  seeds.push_back({"handshake/nobody-between", std::string("\x02\x3f\0\0\0\0\0\0", 8)});
  seeds.push_back({"handshake/changed-opening", std::string("\x02\x0f\x01\x14\x01", 5)});
  seeds.push_back({"handshake/changed-agents-opening", std::string("\x02\x0f\0\x01\x14\x01", 6)});
  seeds.push_back({"handshake/changed-proof", std::string("\x02\x0f\0\0\x01\x05\x80", 7)});
  seeds.push_back({"handshake/changed-answer", std::string("\x02\x0f\0\0\0\x01\x01\0\x01", 9)});
}

/// In the format of sealed_fuzz.cpp: the size of pieces, then the relay's action for each sealed piece.
void add_sealed(std::vector<Seed>& seeds) {
  seeds.push_back({"sealed/passed-on", std::string(1, '\x3f') + std::string(24, '\0')});
  seeds.push_back({"sealed/dropped", std::string("\x3f\0\0\1", 4)});
  seeds.push_back({"sealed/repeated", std::string("\x3f\0\0\2", 4)});
  seeds.push_back({"sealed/exchanged", std::string("\x3f\0\0\3", 4)});
  seeds.push_back({"sealed/changed", std::string("\x3f\0\0\4\x05\x80", 6)});
  seeds.push_back({"sealed/made-up", std::string("\x3f\0\0\5\x19", 5) + std::string(25, 'x')});
}

/// In the format of proxies_fuzz.cpp.
void add_proxies(std::vector<Seed>& seeds) {
  ByteWriter call;
  for (const char* text : {"0123456789abcdef", "n2"}) call.put_text(text);
  call.put(std::uint32_t{4});
  for (const char* word : {"--control-port", "vm:42061", "--proxy-id", "1"}) call.put_text(word);
  seeds.push_back({"proxies/call", 'c' + encode_frame(launcher::kProxyCallType, call.bytes())});
  seeds.push_back({"proxies/end", 'e' + launcher::encode(launcher::ProxyEnd{2, 2, ""})});
  seeds.push_back({"proxies/end-with-reason", 'e' + launcher::encode(launcher::ProxyEnd{1, 2, "rank 1: Killed"})});
}

std::string bytes_in(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) throw std::system_error(errno, std::generic_category(), "fstat");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(file, bytes.data(), bytes.size(), 0) != status.st_size)
    throw std::system_error(errno, std::generic_category(), "pread");
  return bytes;
}

/// A rank in MPI_Finalize, blocked for 5 of 10 ms.
std::string some_report() {
  replay_vm_report report{};
  report.state = REPLAY_VM_FINALIZING;
  report.mode = REPLAY_VM_MODE_PROGRESS;
  report.pid = 4712;
  report.init_ns = 1'000'000;
  report.blocked_ns = 5'000'000;
  report.finalize_ns = 11'000'000;
  return {reinterpret_cast<const char*>(&report), sizeof report};
}

/// One rank holds the token; two seats are taken.
std::string some_core() {
  replay_vm_core core{};
  core.holder = 4712;
  core.granted_ns = 1000;
  core.seats[0].wanter = 4712;
  core.seats[5].wanter = 4713;
  return {reinterpret_cast<const char*>(&core), sizeof core};
}

/// In the format of segment_fuzz.cpp: the reader, then the file.
void add_segments(std::vector<Seed>& seeds) {
  std::string job;
  std::string emulated;
  std::string cores;
  {
    launcher::JobSegment segment{"job", {}, 2, {}};
    segment.order_sharing(1, true, REPLAY_VM_TOKEN);
    segment.order_place(1, replay_vm_place(1, 3));
    job = bytes_in(segment.descriptor());
    const launcher::JobSegment other{"emulated", {}, 1, {1000, 2000, true, 10'000}};
    emulated = bytes_in(other.descriptor());
    const launcher::CoreSegment segment_of_cores{2};
    cores = bytes_in(segment_of_cores.descriptor());
  }
  cores.replace(sizeof(replay_vm_cores), sizeof(replay_vm_core), some_core());
  std::string reported = job;
  reported.replace(sizeof(replay_vm_segment) + offsetof(replay_vm_slot, report), sizeof(replay_vm_report),
                   some_report());
  seeds.push_back({"segment/rank-job", std::string(1, '\0') + job});
  seeds.push_back({"segment/rank-emulated", std::string(1, '\0') + emulated});
  seeds.push_back({"segment/rank-cores", std::string(1, '\1') + cores});
  seeds.push_back({"segment/agent-reports", std::string(1, '\2') + reported});
  seeds.push_back({"segment/agent-cores", std::string(1, '\3') + cores});
}

void add_executor_inputs(std::vector<Seed>& seeds) {
  const auto add = [&seeds](const char* name, const launcher::ExecutorInput& input) {
    seeds.push_back({std::string{"executor_input/"} + name, launcher::to_bytes(input)});
  };
  add("reported", launcher::Reported{1, JobMeasured{JobId{7}, 0.5}});
  add("line-mended", launcher::LineChanged{0, true, "the line is mended"});
  add("node-lost", launcher::NodeLost{3, "not heard of"});
  add("node-rejoined", launcher::NodeRejoined{2, "127.0.0.1:40123", {1, 2, 3}});
  add("rejoin-failed", launcher::RejoinFailed{2, "no agent yet"});
}

}  // namespace

std::vector<Seed> made_seeds() {
  std::vector<Seed> seeds;
  add_wire(seeds);
  add_handshake(seeds);
  add_sealed(seeds);
  add_proxies(seeds);
  add_segments(seeds);
  add_executor_inputs(seeds);
  return seeds;
}

}  // namespace replay::fuzz
