#include "launcher/agent/cores/job_segment.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>

#include "scheduler/base/error.hpp"

namespace replay::launcher {
namespace {

constexpr std::uint32_t kPollsBeforeYield = 10;

template <typename Value>
Value load(const Value& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

}  // namespace

JobKey new_key() {
  JobKey key;
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    throw std::system_error(errno, std::generic_category(), "cannot draw a job's key");
  return key;
}

std::string to_hex(const JobKey& key) { return fmt::format("{:02x}", fmt::join(key, "")); }

JobSegment::JobSegment(const std::string& name, const JobKey& key, std::uint32_t ranks, const JobFacts& facts)
    : ranks_(ranks), file_(name, sizeof(replay_vm_segment) + ranks * sizeof(replay_vm_slot)) {
  INVARIANT(ranks >= 1 && ranks <= REPLAY_VM_MAX_RANKS, "a segment for {} ranks", ranks);
  replay_vm_segment& header = *mapped();
  header.magic = REPLAY_VM_MAGIC;
  header.version = REPLAY_VM_VERSION;
  header.bytes = static_cast<std::uint32_t>(file_.bytes());
  header.slots = ranks;
  header.polls_before_yield = kPollsBeforeYield;
  std::memcpy(header.key, key.data(), key.size());
  header.start_ns = facts.start_ns;
  header.end_cost_ns = facts.end_cost_ns;
  header.emulated = facts.is_emulated ? 1 : 0;
  header.quantum_us = facts.quantum_us;
  for (std::uint32_t slot = 0; slot < ranks_; ++slot) order_place(slot, replay_vm_place(0, REPLAY_VM_NO_SEAT));
  order_mpl(1);
  order_slowdown(1);
}

void JobSegment::order_place(std::uint32_t slot, std::uint64_t place) {
  // Pairs with the rank, which takes its seat and then reads its place again; we write the place and then read the
  // seats.
  __atomic_store_n(&at(slot)->orders.place, place, __ATOMIC_SEQ_CST);
}

/// The back end first: a rank that sees `shared` gives its core away with that back end.
void JobSegment::order_sharing(std::uint32_t slot, bool is_shared, replay_vm_back_end back_end) {
  __atomic_store_n(&at(slot)->orders.back_end, static_cast<std::uint32_t>(back_end), __ATOMIC_RELAXED);
  __atomic_store_n(&at(slot)->orders.shared, is_shared ? 1U : 0U, __ATOMIC_RELEASE);
}

void JobSegment::order_mpl(std::uint32_t mpl) {
  for (std::uint32_t slot = 0; slot < ranks_; ++slot) __atomic_store_n(&at(slot)->orders.mpl, mpl, __ATOMIC_RELAXED);
}

void JobSegment::order_slowdown(double slowdown) {
  const double millionths = std::clamp(slowdown * REPLAY_VM_SLOWDOWN_OF_ONE, double{REPLAY_VM_LEAST_SLOWDOWN},
                                       double{REPLAY_VM_MOST_SLOWDOWN});
  const auto order = static_cast<std::uint32_t>(std::lround(millionths));
  for (std::uint32_t slot = 0; slot < ranks_; ++slot)
    __atomic_store_n(&at(slot)->orders.slowdown, order, __ATOMIC_RELAXED);
}

replay_vm_state JobSegment::state(std::uint32_t slot) const {
  const std::uint32_t state = __atomic_load_n(&at(slot)->report.state, __ATOMIC_ACQUIRE);
  return state <= REPLAY_VM_SWITCHED_OFF ? static_cast<replay_vm_state>(state) : REPLAY_VM_EMPTY;
}

replay_vm_mode JobSegment::mode(std::uint32_t slot) const {
  const std::uint32_t mode = load(at(slot)->report.mode);
  return mode <= REPLAY_VM_MODE_TEST_LOOP ? static_cast<replay_vm_mode>(mode) : REPLAY_VM_MODE_NONE;
}

JobSegment::Waiting JobSegment::waiting(std::uint32_t slot) const {
  const replay_vm_report& report = at(slot)->report;
  return {state(slot) == REPLAY_VM_RUNNING ? load(report.blocked_since) : 0, load(report.polls)};
}

JobSegment::Times JobSegment::times(std::uint32_t slot, std::uint64_t now) const {
  const replay_vm_report& report = at(slot)->report;
  // A call can end between the two reads; then the sum changes, and one more try gets a pair that belongs together.
  Times times;
  std::uint64_t done = load(report.blocked_ns);
  for (int tries = 0; tries < 10; ++tries) {
    const std::uint64_t since = load(report.blocked_since);
    times.blocked = done + (since != 0 && since < now ? now - since : 0);
    const std::uint64_t again = load(report.blocked_ns);
    if (again == done) break;
    done = again;
  }
  times.init = load(report.init_ns);
  times.finalize = load(report.finalize_ns);
  return times;
}

protocol::RankStatistics JobSegment::statistics(std::uint32_t slot, pid_t pid, std::uint64_t now) const {
  const replay_vm_report& report = at(slot)->report;
  protocol::RankStatistics found;
  found.pid = pid;
  found.blocked_ns = times(slot, now).blocked;
  found.calls = load(report.calls);
  found.polls = load(report.polls);
  found.handoffs = load(report.handoffs);
  found.naps = load(report.naps);
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &used) == 0)
    found.cpu_ns = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
  return found;
}

}  // namespace replay::launcher
