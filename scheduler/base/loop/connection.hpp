// A connected stream in an event loop, read and written through buffers and without waiting. It has one deadline, and tells its
// owner what happens; what the bytes mean, and what a peer may cost, the owner decides.
#pragma once

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include <memory>
#include <string>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay {

class Connection {
 public:
  enum class End {
    kSendsNoMore,  ///< the peer has closed its direction, and perhaps both
    kTakesNoMore,  ///< writing has failed; what the peer has sent before may still come
    kFailed,       ///< reading has failed, or the peer has taken nothing for as long as drop_if_stalled() says
    kLate          ///< the deadline has passed
  };
  /// Called by the loop; each call may destroy the connection.
  struct Owner {
    virtual void on_bytes() = 0;  ///< unread() has grown
    virtual void on_written() {}  ///< the kernel has all that was sent
    virtual void on_end(End) = 0;

   protected:
    ~Owner() = default;
  };

  /// `stream` is non-blocking; it and `owner` outlive this. Nothing is read before read().
  Connection(event_base* loop, int stream, Owner& owner)
      : buffers_(bufferevent_socket_new(loop, stream, 0)),
        deadline_(loop, -1, 0, [&owner] { owner.on_end(End::kLate); }) {
    INVARIANT(buffers_ != nullptr, "libevent takes no connection");
    bufferevent_setcb(
        buffers_.get(), [](bufferevent*, void* self) { static_cast<Owner*>(self)->on_bytes(); },
        [](bufferevent*, void* self) { static_cast<Owner*>(self)->on_written(); },
        [](bufferevent*, short what, void* self) {
          const bool is_of_a_write = (what & BEV_EVENT_WRITING) != 0 && (what & BEV_EVENT_ERROR) != 0;
          static_cast<Owner*>(self)->on_end((what & BEV_EVENT_EOF) != 0 ? End::kSendsNoMore
                                            : is_of_a_write             ? End::kTakesNoMore
                                                                        : End::kFailed);
        },
        &owner);
    bufferevent_set_max_single_write(buffers_.get(), 1 << 20);  // 16 KB otherwise
  }
  Connection(Connection&&) = delete;

  void read() { bufferevent_enable(buffers_.get(), EV_READ); }
  void pause_reading() { bufferevent_disable(buffers_.get(), EV_READ); }
  /// What has come and was not dropped, until the next call. It grows by at most 16 KB between two calls of on_bytes().
  [[nodiscard]] std::string_view unread() const {
    return {reinterpret_cast<const char*>(evbuffer_pullup(input(), -1)), evbuffer_get_length(input())};
  }
  void drop(std::size_t bytes) { evbuffer_drain(input(), bytes); }

  void send(std::string_view bytes) { evbuffer_add(output(), bytes.data(), bytes.size()); }
  /// Without a copy.
  void send(std::shared_ptr<const std::string> bytes) {
    const auto done = [](const void*, std::size_t, void* held) { delete static_cast<decltype(bytes)*>(held); };
    evbuffer_add_reference(output(), bytes->data(), bytes->size(), done, new decltype(bytes){bytes});
  }
  /// Bytes that the kernel has not taken yet.
  [[nodiscard]] std::size_t waiting() const { return evbuffer_get_length(output()); }
  void drop_if_stalled(std::chrono::milliseconds limit) {
    const timeval stall = to_timeval(limit);
    bufferevent_set_timeouts(buffers_.get(), nullptr, &stall);
  }
  /// Writes what the stream takes at once. REQUIRES: stop(), or the end of this, follows.
  void write_last_bytes() {
    evbuffer_unfreeze(output(), 1);  // libevent's own writes, which keep it frozen, are over
    if (waiting() > 0) evbuffer_write(output(), bufferevent_getfd(buffers_.get()));
  }

  /// In place of the last deadline.
  void set_deadline(std::chrono::milliseconds from_now) { deadline_.arm_after(from_now); }
  void clear_deadline() { deadline_.disarm(); }
  /// From here on nothing is called, read or written.
  void stop() {
    deadline_.disarm();
    bufferevent_disable(buffers_.get(), EV_READ | EV_WRITE);
  }

 private:
  [[nodiscard]] evbuffer* input() const { return bufferevent_get_input(buffers_.get()); }
  [[nodiscard]] evbuffer* output() const { return bufferevent_get_output(buffers_.get()); }

  struct Deleter {
    void operator()(bufferevent* buffers) const { bufferevent_free(buffers); }
  };
  std::unique_ptr<bufferevent, Deleter> buffers_;
  LoopEvent deadline_;
};

}  // namespace replay
