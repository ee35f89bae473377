// A listening socket in an event loop. When no descriptor is left for a new connection, it pauses for kBreath: the
// socket stays readable, and the loop would do nothing else.
#pragma once

#include <chrono>
#include <functional>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay {

class Listener {
 public:
  /// Gets each stream, non-blocking and close-on-exec.
  using Accept = std::function<void(UniqueFd stream)>;

  /// `socket` listens and is non-blocking. Nothing happens before the loop runs.
  Listener(event_base* loop, UniqueFd socket, Accept accept);

  [[nodiscard]] int socket() const { return socket_.get(); }

  static constexpr std::chrono::milliseconds kBreath{100};
  /// Connections accepted in one turn of the loop; then the connected ones are served.
  static constexpr int kMostAtOnce = 16;

 private:
  void accept_some();
  void on_none_left();

  UniqueFd socket_;
  Accept accept_;
  LoopEvent knock_;
  LoopEvent breather_;
};

}  // namespace replay
