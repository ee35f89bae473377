#include "launcher/agent/cores/back_end_test.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <memory>
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
constexpr std::size_t kEnough = 2000;  // 4 ms where it is fast

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
  Clock::time_point given;          // by the thread that had the turn before; `turn` orders it
  std::vector<nanoseconds> delays;  // likewise
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
      if (table.given != Clock::time_point{}) table.delays.push_back(now - table.given);
      if (table.delays.size() >= kEnough) table.is_over = true;
      table.given = Clock::now();
      table.turn = 1 - me;
    }
    if (Clock::now() > end) table.is_over = true;
    give_away();
  }
}

}  // namespace

std::optional<HandoverTest> test_handover(PuId pu, std::chrono::milliseconds limit,
                                          const std::function<void()>& give_away) {
  Table table;
  std::thread first{[&] { play(table, 0, pu, limit, give_away); }};
  std::thread second{[&] { play(table, 1, pu, limit, give_away); }};
  first.join();
  second.join();
  if (table.is_refused) return std::nullopt;
  HandoverTest found{table.delays.size(), nanoseconds{0}};
  if (table.delays.empty()) return found;
  const auto middle = table.delays.begin() + static_cast<std::ptrdiff_t>(table.delays.size() / 2);
  std::ranges::nth_element(table.delays, middle);
  found.median = *middle;
  return found;
}

replay_vm_back_end better_back_end(const std::optional<HandoverTest>& yielding) {
  const bool is_good = yielding && yielding->handovers > 0 && yielding->median <= kSlowHandover;
  return is_good ? REPLAY_VM_YIELD : REPLAY_VM_TOKEN;
}

replay_vm_back_end find_back_end(PuId pu) {
  return better_back_end(test_handover(pu, kLongest, [] { ::sched_yield(); }));
}

}  // namespace replay::launcher
