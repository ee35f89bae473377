// How many processes the jobs needed that an agent has started of late. Jobs that start together can lack processes
// together; when the first of them has ended, there may be room for it alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace replay::launcher {

class RecentStarts {
 public:
  using Clock = std::chrono::steady_clock;

  /// A job starts that has so many ranks here.
  void add(std::size_t ranks, Clock::time_point now = Clock::now()) {
    while (!starts_.empty() && now - starts_.front().at > kMemory) starts_.pop_front();
    starts_.push_back({now, ranks});
  }

  /// The fewest processes and threads that jobs need which were started since `since`, and not more than an hour ago:
  /// mpiexec, its proxy, and each rank with the thread of UCX.
  [[nodiscard]] std::size_t processes_since(Clock::time_point since) const {
    std::size_t sum = 0;
    for (const Start& start : starts_)
      if (start.at >= since) sum += 2 + 2 * start.ranks;
    return sum;
  }

 private:
  static constexpr std::chrono::hours kMemory{1};
  struct Start {
    Clock::time_point at;
    std::size_t ranks;
  };
  std::deque<Start> starts_;
};

}  // namespace replay::launcher
