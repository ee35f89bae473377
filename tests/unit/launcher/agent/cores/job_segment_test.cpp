// Tests of the agent's side of the shared segment, and of the meter that reads from it.
#include "launcher/agent/cores/job_segment.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "launcher/agent/job/cpu_use_meter.hpp"

namespace replay::launcher {
namespace {

/// Maps the segment as a rank does.
replay_vm_segment* map_as_rank(const JobSegment& segment, std::size_t bytes) {
  return static_cast<replay_vm_segment*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment.descriptor(), 0));
}

TEST(Segment, IsAsLargeAsItsSlotsNeedAndClosedOnExec) {
  const JobSegment segment{"s", new_key(), 3, JobFacts{}};
  struct stat status {};
  ASSERT_EQ(::fstat(segment.descriptor(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), sizeof(replay_vm_segment) + 3 * sizeof(replay_vm_slot));
  EXPECT_EQ(::fcntl(segment.descriptor(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Segment, NoRankCanTakeItsPagesAwayFromTheAgent) {
  const JobSegment segment{"s", new_key(), 1, JobFacts{}};
  const std::string path = fmt::format("/proc/self/fd/{}", segment.descriptor());
  EXPECT_NE(::ftruncate(segment.descriptor(), 0), 0);
  EXPECT_NE(::truncate(path.c_str(), 0), 0);
  EXPECT_NE(::ftruncate(segment.descriptor(), 1 << 20), 0) << "nor make it larger";
  EXPECT_NE(::fcntl(segment.descriptor(), F_ADD_SEALS, F_SEAL_WRITE), 0) << "nor keep others from writing";
  EXPECT_EQ(segment.state(0), REPLAY_VM_EMPTY);
}

TEST(Segment, TellsAllRanksWhatTheirJobWasGiven) {
  const JobSegment segment{"s", new_key(), 1,
                           JobFacts{.start_ns = 11, .end_cost_ns = 22, .is_emulated = true, .quantum_us = 33}};
  const std::size_t bytes = sizeof(replay_vm_segment) + sizeof(replay_vm_slot);
  replay_vm_segment* theirs = map_as_rank(segment, bytes);
  EXPECT_EQ(theirs->start_ns, 11U);
  EXPECT_EQ(theirs->end_cost_ns, 22U);
  EXPECT_EQ(theirs->emulated, 1U);
  EXPECT_EQ(theirs->quantum_us, 33U);
  const replay_vm_orders& orders = replay_vm_slot_at(theirs, 0)->orders;
  EXPECT_EQ(replay_vm_seat_of(orders.place), REPLAY_VM_NO_SEAT) << "until it is given one";
  EXPECT_EQ(orders.mpl, 1U);
  EXPECT_EQ(orders.slowdown, REPLAY_VM_SLOWDOWN_OF_ONE);
  ::munmap(theirs, bytes);
}

TEST(Segment, OrdersReachTheRankAndReportsTheAgent) {
  JobSegment segment{"s", new_key(), 2, JobFacts{}};
  const std::size_t bytes = sizeof(replay_vm_segment) + 2 * sizeof(replay_vm_slot);
  replay_vm_segment* theirs = map_as_rank(segment, bytes);
  segment.order_place(1, replay_vm_place(5, 3));
  segment.order_sharing(1, true, REPLAY_VM_TOKEN);
  segment.order_mpl(4);
  segment.order_slowdown(1.25);
  replay_vm_slot* slot = replay_vm_slot_at(theirs, 1);
  EXPECT_EQ(replay_vm_core_of(slot->orders.place), 5U);
  EXPECT_EQ(replay_vm_seat_of(slot->orders.place), 3U);
  EXPECT_EQ(slot->orders.shared, 1U);
  EXPECT_EQ(slot->orders.back_end, static_cast<std::uint32_t>(REPLAY_VM_TOKEN));
  EXPECT_EQ(slot->orders.mpl, 4U);
  EXPECT_EQ(slot->orders.slowdown, 1'250'000U);
  slot->report.state = REPLAY_VM_FINALIZED;
  slot->report.mode = REPLAY_VM_MODE_PROGRESS;
  slot->report.init_ns = 100;
  slot->report.blocked_ns = 30;
  slot->report.blocked_since = 190;
  EXPECT_EQ(segment.state(1), REPLAY_VM_FINALIZED);
  EXPECT_EQ(segment.mode(1), REPLAY_VM_MODE_PROGRESS);
  EXPECT_EQ(segment.times(1, 200).blocked, 40U);
  EXPECT_EQ(segment.times(1, 150).blocked, 30U) << "a call that begins in the future";
  EXPECT_EQ(segment.state(0), REPLAY_VM_EMPTY);
  slot->report.state = 77;
  slot->report.mode = 77;
  EXPECT_EQ(segment.state(1), REPLAY_VM_EMPTY) << "a rank that writes nonsense has not registered";
  EXPECT_EQ(segment.mode(1), REPLAY_VM_MODE_NONE);
  ::munmap(theirs, bytes);
}

TEST(JobKey, IsNeverTheSame) {
  EXPECT_NE(new_key(), new_key());
  EXPECT_EQ(to_hex(JobKey{0x00, 0xff, 0x0a}).substr(0, 6), "00ff0a");
}

JobSegment::Times times(std::uint64_t init, std::uint64_t blocked, std::uint64_t finalize = 0) {
  return {.init = init, .finalize = finalize, .blocked = blocked};
}

TEST(CpuUseMeter, IsTheShareOfTimeNotBlocked) {
  CpuUseMeter meter;
  EXPECT_EQ(meter.cpu_use(), std::nullopt);
  meter.advance(times(1000, 250), 2000, true);
  EXPECT_EQ(meter.cpu_use(), 0.75);
  meter.advance(times(1000, 250), 3000, true);
  EXPECT_EQ(meter.cpu_use(), 0.875);
}

TEST(CpuUseMeter, LeavesOutTheTimeOnSharedCores) {
  CpuUseMeter meter;
  meter.advance(times(1000, 500), 2000, true);
  meter.advance(times(1000, 9500), 12000, false);
  EXPECT_EQ(meter.cpu_use(), 0.5);
  meter.advance(times(1000, 10000), 13000, true);
  EXPECT_EQ(meter.cpu_use(), 0.5);
}

TEST(CpuUseMeter, LeavesOutInitAndFinalize) {
  CpuUseMeter meter;
  meter.advance(times(0, 900), 900, true);
  EXPECT_EQ(meter.cpu_use(), std::nullopt);
  meter.advance(times(1000, 0, 2000), 9000, true);
  EXPECT_EQ(meter.cpu_use(), 1.0);
}

TEST(CpuUseMeter, StaysBetweenZeroAndOneWhateverTheRankWrites) {
  CpuUseMeter meter;
  meter.advance(times(1000, 1'000'000), 2000, true);
  EXPECT_EQ(meter.cpu_use(), 0.0);
  meter.advance(times(5000, 3), 2500, true);  // an init in the future, blocked time that decreases
  EXPECT_EQ(meter.cpu_use(), 0.0);
}

}  // namespace
}  // namespace replay::launcher
