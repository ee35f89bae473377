// A descriptor that is to be read until a deadline.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "scheduler/base/loop/loop_event.hpp"

namespace replay {

class ReadDeadline {
 public:
  /// `readable` is called whenever `fd` can be read, and `late` once, `limit` from now. Both may destroy this, which
  /// ends the calls.
  ReadDeadline(event_base* loop, int fd, std::chrono::milliseconds limit, std::function<void()> readable,
               std::function<void()> late)
      : readable_(loop, fd, EV_READ | EV_PERSIST, std::move(readable)), late_(loop, -1, 0, std::move(late)) {
    readable_.arm();
    late_.arm_after(limit);
  }

 private:
  LoopEvent readable_;
  LoopEvent late_;
};

}  // namespace replay
