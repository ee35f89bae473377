#include "scheduler/base/loop/loop_event.hpp"

#include "scheduler/base/error.hpp"

namespace replay {

EventBase precise_loop() {
  const std::unique_ptr<event_config, decltype([](event_config* c) { event_config_free(c); })> how{event_config_new()};
  INVARIANT(how != nullptr && event_config_set_flag(how.get(), EVENT_BASE_FLAG_PRECISE_TIMER) == 0,
            "libevent takes no setting");
  return EventBase{event_base_new_with_config(how.get())};
}

LoopEvent::LoopEvent(event_base* loop, int fd, short what, std::function<void()> then) : then_(std::move(then)) {
  const auto call = [](evutil_socket_t, short, void* self) {
    const std::function<void()> mine = static_cast<LoopEvent*>(self)->then_;  // the call may destroy this event
    mine();
  };
  event_.reset(event_new(loop, fd, what, call, this));
  INVARIANT(event_ != nullptr, "libevent gives no event for descriptor {}", fd);
}

void LoopEvent::arm() { INVARIANT(event_add(event_.get(), nullptr) == 0, "cannot arm an event"); }

void LoopEvent::arm_after(std::chrono::microseconds delay) {
  const timeval wait = to_timeval(delay);
  INVARIANT(event_add(event_.get(), &wait) == 0, "cannot arm a timer");
}

void LoopEvent::disarm() { event_del(event_.get()); }

}  // namespace replay
