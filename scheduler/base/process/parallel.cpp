#include "scheduler/base/process/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace replay {

void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  const std::size_t most =
      threads > 0 ? static_cast<std::size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0}, end{count};  // after a failure no higher index is begun
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < end; i = next++) {
      try {
        work(i);
      } catch (...) {
        failures[i] = std::current_exception();
        for (std::size_t seen = end; i < seen && !end.compare_exchange_weak(seen, i);) continue;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(most, count); ++i) others.emplace_back(take_turns);
    take_turns();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace replay
