// Runs independent pieces of work on several cores: policies of a run.
#pragma once

#include <cstddef>
#include <functional>

namespace replay {

/// Calls `work(0)` ... `work(count - 1)`, each once, on at most `threads` threads (0: as many as there are cores); lower
/// indices begin first. Waits for all; then throws the exception of the lowest index that threw.
void for_each_in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace replay
