// A stress test of a core's token with real futexes and one thread per seat: no two threads have it at a time, no
// waiting thread is forgotten, and it survives a thread that leaves at a bad moment. Also run under the thread
// sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "vmlib/core_token.hpp"
#include "vmlib/linux_system.hpp"

namespace replay::vm {
namespace {

constexpr std::uint32_t kNobody = 999;  // not a process

/// The threads of this process stand for ranks, with numbers that are no pids; all of them compute.
struct Threads : Linux {
  static std::optional<std::uint64_t> process_cpu(std::uint32_t pid) {
    return pid == kNobody ? std::nullopt : std::optional{now()};
  }
};
using ThreadToken = CoreToken<Threads>;

constexpr std::uint32_t kFirstPid = 1000;
constexpr std::uint64_t kLimitNs = 3'000'000'000;  // longer than any hand-over: after this a thread was forgotten

struct Shared {
  replay_vm_core core{};
  std::uint64_t guarded = 0;  // by the token only
  std::atomic<int> forgotten{0};
};

/// Waits until the token is here, without ever overtaking. False: a thread was forgotten, so all may stop.
bool acquire(ThreadToken& token, Shared& shared) {
  if (token.want()) return true;
  const std::uint64_t end = Linux::now() + kLimitNs;
  while (!token.wait(kLimitNs)) {
    if (Linux::now() > end) ++shared.forgotten;
    if (shared.forgotten != 0) return false;
  }
  return true;
}

template <class Work>
void on_every_seat(std::uint32_t ranks, Shared& shared, Work work) {
  std::vector<std::jthread> threads;
  for (std::uint32_t seat = 0; seat < ranks; ++seat) {
    threads.emplace_back([&shared, seat, work] {
      ThreadToken token{shared.core, seat, kFirstPid + seat};
      work(token, seat);
      token.leave();
    });
  }
}

TEST(VmCoreTokenStress, OneHasItAndNobodyIsForgotten) {
  constexpr int kRounds = 300;
  for (const std::uint32_t ranks : {2U, 5U, REPLAY_VM_SEATS}) {
    Shared shared;
    on_every_seat(ranks, shared, [&shared](ThreadToken& token, std::uint32_t) {
      for (int i = 0; i < kRounds && acquire(token, shared); ++i) {
        ++shared.guarded;
        token.hand_over();
      }
    });
    EXPECT_EQ(shared.forgotten, 0);
    EXPECT_EQ(shared.guarded, std::uint64_t{ranks} * kRounds);
    EXPECT_EQ(shared.core.holder, 0U);
    EXPECT_FALSE(ThreadToken(shared.core, 0, 1).is_wanted());
  }
}

TEST(VmCoreTokenStress, WhoComesWhileItBecomesFreeIsSeen) {
  constexpr int kRounds = 20'000;
  Shared shared;
  on_every_seat(2, shared, [&shared](ThreadToken& token, std::uint32_t seat) {
    std::minstd_rand chance{seat + 1};
    for (int i = 0; i < kRounds && acquire(token, shared); ++i) {
      token.leave();
      for (std::atomic<unsigned> spins = chance() % 256; spins > 0; --spins) {
      }
    }
  });
  EXPECT_EQ(shared.forgotten, 0);
  EXPECT_EQ(shared.core.holder, 0U);
}

TEST(VmCoreTokenStress, WhoComesAndGoesTakesNothingWithIt) {
  constexpr int kRounds = 500;
  Shared shared;
  on_every_seat(8, shared, [&shared](ThreadToken& token, std::uint32_t seat) {
    std::minstd_rand chance{seat + 1};
    for (int i = 0; i < kRounds && shared.forgotten == 0; ++i) {
      switch (chance() % 3) {
        case 0:  // waits without limit, then leaves with the token, which passes on
          if (acquire(token, shared)) ++shared.guarded;
          break;
        case 1: token.want(); break;                     // withdraws at once
        default: token.want(), token.wait(1000); break;  // or after a time limit
      }
      token.leave();
    }
  });
  EXPECT_EQ(shared.forgotten, 0);
  EXPECT_EQ(shared.core.holder, 0U);
}

TEST(VmCoreTokenStress, AHolderThatVanishesIsOvertakenAndForgotten) {
  constexpr std::uint64_t kStaleNs = 1'000'000;
  constexpr int kRounds = 200;
  Shared shared;
  shared.core.seats[REPLAY_VM_SEATS - 1].wanter = kNobody;
  shared.core.holder = kNobody;
  std::atomic<int> overtakes{0};
  on_every_seat(4, shared, [&](ThreadToken& token, std::uint32_t) {
    for (int i = 0; i < kRounds; ++i) {
      for (bool is_here = token.want(); !is_here;) {
        is_here = token.wait(kStaleNs);
        if (is_here || !token.overtake(kStaleNs)) continue;
        is_here = true;
        ++overtakes;
      }
      token.hand_over();
    }
  });
  EXPECT_GE(overtakes, 1);
  EXPECT_EQ(shared.core.holder, 0U);
  EXPECT_EQ(shared.core.seats[REPLAY_VM_SEATS - 1].wanter, 0U);
}

}  // namespace
}  // namespace replay::vm
