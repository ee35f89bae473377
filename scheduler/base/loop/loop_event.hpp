// A libevent event with one owner: once the owner destroys it, it cannot fire.
#pragma once

#include <event2/event.h>

#include <chrono>
#include <functional>
#include <memory>

namespace replay {

struct EventBaseDeleter {
  void operator()(event_base* base) const { event_base_free(base); }
};
using EventBase = std::unique_ptr<event_base, EventBaseDeleter>;

[[nodiscard]] inline timeval to_timeval(std::chrono::microseconds time) {
  return {.tv_sec = time.count() / 1'000'000, .tv_usec = time.count() % 1'000'000};
}

/// A loop whose timers are late by microseconds; those of event_base_new() may be late by a tick of the kernel.
[[nodiscard]] EventBase precise_loop();

class LoopEvent {
 public:
  /// Nothing is armed yet. `what` as for event_new: EV_READ, EV_SIGNAL, EV_PERSIST; with fd -1 and 0, a timer.
  LoopEvent(event_base* loop, int fd, short what, std::function<void()> then);
  LoopEvent(LoopEvent&&) = delete;

  void arm();
  void arm_after(std::chrono::microseconds delay);
  void disarm();

 private:
  struct Deleter {
    void operator()(event* e) const { event_free(e); }
  };
  std::function<void()> then_;
  std::unique_ptr<event, Deleter> event_;
};

}  // namespace replay
