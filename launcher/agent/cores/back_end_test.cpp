#include "launcher/agent/cores/back_end_test.hpp"

#include <sched.h>

#include <atomic>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace replay::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

constexpr auto kLongest = 20ms;
constexpr auto kSlowHandover = 50us;
constexpr int kSlowShare = 10;  // a tenth

bool stay_on(PuId pu) {
  constexpr std::size_t kCpus = 8192;
  const std::size_t size = CPU_ALLOC_SIZE(kCpus);
  const std::unique_ptr<cpu_set_t, decltype([](cpu_set_t* s) { CPU_FREE(s); })> set{CPU_ALLOC(kCpus)};
  CPU_ZERO_S(size, set.get());
  CPU_SET_S(index_of(pu), size, set.get());
  return ::sched_setaffinity(0, size, set.get()) == 0;
}

/// What the two threads share.
struct Table {
  std::atomic<int> turn{0};
  std::atomic<int> seated{0};
  std::atomic<bool> is_refused{false};
  std::atomic<bool> is_over{false};
  Clock::time_point given;  // by the thread that had the turn before; `turn` orders it
  Clock::time_point over_at;
  HandoverTest found;  // by the thread that has the turn
};

/// Waits until both threads are there. False: one of them could not be put on the core.
bool sit_down(Table& table, PuId pu) {
  if (!stay_on(pu)) table.is_refused = true;
  ++table.seated;
  while (table.seated < 2) ::sched_yield();
  return !table.is_refused;
}

void play(Table& table, int me, PuId pu, std::chrono::milliseconds limit, const std::function<void()>& give_away) {
  if (!sit_down(table, pu)) return;
  const auto end = Clock::now() + limit;
  while (!table.is_over) {
    if (table.turn == me) {
      const auto now = Clock::now();
      if (table.given != Clock::time_point{}) table.found.add(now - table.given);
      table.given = Clock::now();
      table.turn = 1 - me;
    }
    if (const auto now = Clock::now(); now > end && !table.is_over.exchange(true)) table.over_at = now;
    give_away();
  }
}

}  // namespace

std::optional<HandoverTest> test_handover(PuId pu, std::chrono::milliseconds limit,
                                          const std::function<void()>& give_away) {
  Table table;
  std::vector<std::thread> players;
  players.reserve(2);
  std::exception_ptr failure;
  try {
    for (const int me : {0, 1}) players.emplace_back([&, me] { play(table, me, pu, limit, give_away); });
  } catch (const std::system_error&) {  // a limit of processes
    failure = std::current_exception();
    table.is_refused = true;
    table.seated = 2;
  }
  for (std::thread& player : players) player.join();
  if (failure) std::rethrow_exception(failure);
  if (table.is_refused) return std::nullopt;
  if (table.given != Clock::time_point{} && table.over_at > table.given) table.found.add(table.over_at - table.given);
  return table.found;
}

void HandoverTest::add(nanoseconds delay) {
  ++handovers;
  sum += delay;
  if (delay > kSlowHandover) in_slow += delay;
}

replay_vm_back_end better_back_end(const std::optional<HandoverTest>& yielding) {
  const bool is_good = yielding && yielding->handovers > 0 && yielding->in_slow * kSlowShare <= yielding->sum;
  return is_good ? REPLAY_VM_YIELD : REPLAY_VM_TOKEN;
}

replay_vm_back_end find_back_end(PuId pu) {
  return better_back_end(test_handover(pu, kLongest, [] { ::sched_yield(); }));
}

}  // namespace replay::launcher
