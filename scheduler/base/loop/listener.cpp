#include "scheduler/base/loop/listener.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace replay {

Listener::Listener(event_base* loop, UniqueFd socket, Accept accept)
    : socket_(std::move(socket)),
      accept_(std::move(accept)),
      knock_(loop, socket_.get(), EV_READ | EV_PERSIST, [this] { accept_some(); }),
      breather_(loop, -1, 0, [this] { knock_.arm(); }) {
  knock_.arm();
}

void Listener::accept_some() {
  for (int accepted = 0; accepted < kMostAtOnce; ++accepted) {
    UniqueFd stream{::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!stream.is_open()) return on_none_left();
    accept_(std::move(stream));
  }
}

void Listener::on_none_left() {
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;  // none left, or one that has gone again
  knock_.disarm();
  breather_.arm_after(kBreath);
}

}  // namespace replay
