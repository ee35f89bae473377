// Two ways to run the simulations of a study, which must make no difference.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <thread>

#include "scheduler/study/simulation.hpp"

namespace replay::study {

inline Surroundings in_order() {
  return {.for_each = [](std::size_t count, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = 0; i < count; ++i) work(i);
  }};
}

/// Runs the second half on a second thread, backwards.
inline Surroundings two_threads() {
  return {.for_each = [](std::size_t count, const std::function<void(std::size_t)>& work) {
    std::exception_ptr thrown;
    {
      std::jthread other([&] {
        try {
          for (std::size_t i = count; i > count / 2; --i) work(i - 1);
        } catch (...) {
          thrown = std::current_exception();
        }
      });
      for (std::size_t i = 0; i < count / 2; ++i) work(i);
    }
    if (thrown) std::rethrow_exception(thrown);
  }};
}

}  // namespace replay::study
