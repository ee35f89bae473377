// Fuzz target of shared memory with arbitrary contents, read by both sides. A rank maps job and core segments of
// arbitrary bytes and passes tokens to the seats named there; the agent reads arbitrary reports and takes tokens out of
// arbitrary cores. No reader goes beyond the end of the file, trusts an index or a figure, or loops for ever.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "launcher/agent/cores/core_segment.hpp"
#include "launcher/agent/cores/job_segment.hpp"
#include "launcher/agent/job/cpu_use_meter.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/wire.h"
#include "tests/fuzz/targets.hpp"
#include "vmlib/core_token.hpp"
#include "vmlib/cores.hpp"
#include "vmlib/segment.hpp"

namespace replay::fuzz {
namespace {

constexpr vm::Key kKey{};  // zeros, as fuzzers find soonest
constexpr std::uint32_t kMe = 4711;

/// A sealed file with these bytes, as a rank gets it from an agent.
UniqueFd file_of(std::string_view bytes) {
  UniqueFd file{::memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  check(file.is_open() && ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  check(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  return file;
}

/// Overwrites the memory mapped from `file`, up to the shorter of both.
void overwrite(int file, std::string_view bytes) {
  struct stat status {};
  check(::fstat(file, &status) == 0);
  const auto length = std::min(static_cast<std::size_t>(status.st_size), bytes.size());
  check(::pwrite(file, bytes.data(), length, 0) == static_cast<ssize_t>(length));
}

/// A system with a clock that advances at each reading; waits always time out.
struct FakeSystem {
  static inline std::uint64_t time = 0;
  static inline std::uint64_t looks = 0;
  static std::uint64_t now() {
    check(++looks < 1'000'000);  // no endless loop
    return time += 1000;
  }
  static void wait_on(std::uint32_t&, std::uint32_t, std::uint64_t limit_ns) { time += limit_ns; }
  static void wake(std::uint32_t&) {}
  static std::optional<std::uint64_t> process_cpu(std::uint32_t pid) {
    if (pid % 2 == 0) return std::nullopt;
    return pid;
  }
};

void as_rank_with_job_segment(std::string_view bytes) {
  const auto segment = vm::Segment::map(file_of(bytes).get(), kKey);
  if (!segment) return;
  check(segment->slots() >= 1 && segment->slots() <= REPLAY_VM_MAX_RANKS);
  check(bytes.size() == vm::segment_bytes(segment->slots()));
  const vm::JobFacts& facts = segment->facts();
  check(facts.polls_before_yield >= 1 && facts.polls_before_yield <= vm::Segment::kMostPolls);
  check(facts.quantum_ns <= vm::Segment::kLongestQuantumNs);
  for (std::uint32_t slot = 0; slot < segment->slots(); ++slot) {
    replay_vm_slot& its = *segment->slot(slot);
    its.report.polls += its.orders.mpl;  // read and write it to its end
    its.report.reserved[sizeof its.report.reserved - 1] = 1;
  }
}

/// Passes the token of the place in the orders as a rank does.
void pass_tokens(vm::CoreTokens tokens, std::uint64_t place) {
  FakeSystem::looks = 0;
  vm::CurrentToken<FakeSystem> mine;
  mine.use(tokens, kMe);
  auto* token = mine.at(place);
  check((token != nullptr) ==
        (tokens.find(replay_vm_core_of(place)) != nullptr && replay_vm_seat_of(place) < REPLAY_VM_SEATS));
  if (token == nullptr) return;
  (void)token->want();
  (void)token->wait(1'000'000);
  for (int tries = 0; tries < 5; ++tries) (void)token->overtake(1'000'000);
  check(token->granted_ns() <= FakeSystem::now());
  (void)token->hand_over();
  (void)token->want();
  mine.leave();
  const replay_vm_core& core = *tokens.find(replay_vm_core_of(place));
  check(core.seats[replay_vm_seat_of(place)].wanter != kMe);
  // The bytes may name this rank at another seat: then the token is ours until it counts as stale.
  check(core.holder != kMe || std::ranges::find(core.seats, kMe, &replay_vm_seat::wanter) != std::end(core.seats));
}

void as_rank_with_core_segment(std::string_view bytes) {
  const auto cores = vm::Cores::map(file_of(bytes).get());
  if (!cores) return;
  const vm::CoreTokens tokens = cores->tokens();
  check(tokens.count >= 1 && tokens.count <= REPLAY_VM_MAX_CORES);
  check(bytes.size() == vm::core_segment_bytes(tokens.count));
  check(tokens.find(tokens.count) == nullptr && tokens.find(UINT32_MAX) == nullptr);
  pass_tokens(tokens, replay_vm_place(tokens.count - 1, 0));
  pass_tokens(tokens, replay_vm_place(0, REPLAY_VM_SEATS - 1));
  pass_tokens(tokens, tokens.first->granted_ns);  // any orders
}

void as_agent_with_reports(std::string_view bytes) {
  constexpr std::uint32_t kRanks = 3;
  launcher::JobSegment segment{"job", {}, kRanks, {}};
  launcher::CpuUseMeter meter;
  std::uint64_t now = 1;
  for (int round = 0; round < 4 && !bytes.empty(); ++round) {
    overwrite(segment.descriptor(), bytes);  // header and orders too: a rank can write where it likes
    for (std::uint32_t slot = 0; slot < kRanks; ++slot) {
      check(segment.state(slot) <= REPLAY_VM_SWITCHED_OFF && segment.mode(slot) <= REPLAY_VM_MODE_TEST_LOOP);
      meter.advance(segment.times(slot, now), now, slot != 1);
      const auto use = meter.cpu_use();
      check(!use || (*use >= 0 && *use <= 1));
      check(segment.statistics(slot, ::getpid(), now).pid == ::getpid());
    }
    now += std::uint64_t{1} << (static_cast<unsigned char>(bytes.front()) % 63U);
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), sizeof(replay_vm_slot) / 2));
  }
}

void as_agent_with_cores(std::string_view bytes) {
  constexpr std::uint32_t kCores = 2;
  launcher::CoreSegment segment{kCores};
  overwrite(segment.descriptor(), bytes);
  check(segment.cores() == kCores);
  for (std::uint32_t core = 0; core < kCores; ++core) {
    segment.wake(core, static_cast<std::uint32_t>(bytes.size()));
    const pid_t holder = segment.holder(core);
    if (holder <= 0) continue;
    check(segment.is_here(core, holder) && segment.take_away(core, holder));
    check(!segment.is_here(core, holder));  // no concurrent writer
  }
  segment.take_away_everywhere(static_cast<pid_t>(kMe));
  for (std::uint32_t core = 0; core < kCores; ++core) check(!segment.is_here(core, static_cast<pid_t>(kMe)));
}

}  // namespace

void segment(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto who = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  switch (who % 4) {
    case 0: return as_rank_with_job_segment(bytes);
    case 1: return as_rank_with_core_segment(bytes);
    case 2: return as_agent_with_reports(bytes);
    default: return as_agent_with_cores(bytes);
  }
}

}  // namespace replay::fuzz
