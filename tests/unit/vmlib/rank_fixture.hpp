// Fixtures for the tests of vmlib's ranks: on a fake system, polled by hand.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/vmlib/fake_system.hpp"
#include "vmlib/rank.hpp"

namespace replay::vm::test {

inline constexpr unsigned kNothing = 0, kSomething = 1;

/// A rank with N = 5 that has passed MPI_Init at time 1000.
class VmRank : public ::testing::Test {
 public:
  VmRank() {
    FakeSystem::reset();
    slot.orders.mpl = 1;
  }
  void join() {
    replay_vm_hello hello{};
    hello.mode = REPLAY_VM_MODE_PROGRESS;
    hello.pid = 77;
    hello.world_rank = 3;
    hello.pid_start = 88;
    rank.join(thread, slot, hello, facts, {.first = cores, .count = 2});
  }
  void run() {
    join();
    rank.started(thread);
    FakeSystem::clock_reads = 0;
  }
  void poll(int times, unsigned events = kNothing) {
    for (int i = 0; i < times; ++i) rank.polled(thread, events);
  }

  Rank<FakeSystem> rank;
  JobFacts facts{.polls_before_yield = 5};
  replay_vm_core cores[2]{};
  Waiting thread;
  replay_vm_slot slot{};
  replay_vm_report& report = slot.report;
};

inline constexpr std::uint32_t kMe = 77, kOther = 78;

/// The same rank, running, at seat 0 of core 0, which is shared; the test plays the other rank there.
class VmRankWithToken : public VmRank {
 public:
  VmRankWithToken() {
    FakeSystem::processes = {{kMe, 1}, {kOther, 1}};
    FakeSystem::away_ns = 1000;  // a yield comes back soon
    run();
    slot.orders.shared = 1;
    slot.orders.back_end = REPLAY_VM_TOKEN;
    slot.orders.place = replay_vm_place(0, 0);
    rank.enter_call(thread);
  }
  void come_to_the_table() { poll(5); }

  CoreToken<FakeSystem> other{cores[0], 1, kOther};
};

}  // namespace replay::vm::test
